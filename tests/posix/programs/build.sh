cat > main.c <<'C'
#include <stdio.h>
int add(int, int);
int main(void) { FILE* f = fopen("result", "w"); fprintf(f, "%d\n", add(40, 2)); return fclose(f); }
C
echo 'int add(int a, int b) { return a + b; }' > add.c
printf 'prog: main.o add.o\n\tgcc -o $@ $^\n%%.o: %%.c\n\tgcc -c -o $@ $<\nclean:\n\trm -f *.o prog\n' > Makefile
make > log1 2>&1
./prog
make > log2 2>&1
sleep 0.02; echo 'int add(int a, int b) { return a + b + 1; }' > add.c
make > log3 2>&1
./prog
ar rcs libadd.a add.o && ranlib libadd.a && nm libadd.a | grep -c ' T ' > symbols
make clean > /dev/null; rm -f libadd.a
