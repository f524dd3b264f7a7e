# cp, mv, dd, cat, tar, gzip, sort, split, rsync, truncate, tee, sed, find
export LC_ALL=C TZ=UTC
i=0; while [ $i -lt 20000 ]; do echo "line $((i * 7919 % 20011)) of a file"; i=$((i + 1)); done > lines
dd if=lines of=blocks bs=777 conv=notrunc status=none
dd if=/dev/zero of=blocks bs=100 seek=5000 count=3 conv=notrunc status=none
cat lines blocks > both
cp lines copy; cp -p lines kept; cp --sparse=always blocks sparse; cp --reflink=auto both linked
mv copy moved; ln moved hard; echo more >> hard; rm moved
sort lines -o sorted; sort -u lines | split -l 4000 - part.; cat part.* | tail -n 3 > last
mkdir tree; cp lines tree/a; cp both tree/b; ln -s a tree/link; touch -d '2002-02-02 02:02:02.222222222' tree/a
tar cf tree.tar --sort=name --owner=0 --group=0 --mtime='2001-01-01' tree
mkdir out; tar xf tree.tar -C out
gzip -n -k lines; gzip -dc lines.gz > unzipped
mkdir synced; rsync -a tree/ synced/; echo extra >> tree/b; rsync -a --inplace tree/ synced/; rsync -ac tree/ synced/
truncate -s 12345 kept; truncate -s +5 kept
echo tee | tee -a hard > teed; sed -i 's/line/LINE/' part.aa
find . -type f -size +10k | sort > found
stat -c '%n %s' * > sizes 2>/dev/null
stat -c '%y' tree/a synced/a > times
wc -c lines both sparse > counts
cksum lines both blocks sparse linked hard sorted part.* tree/b out/tree/b synced/b unzipped > sums
exec 3<>rw; echo one >&3; echo two >&3; exec 3<&-; exec 4>>rw; echo three >&4; cat rw > rw2; exec 4>&-
(echo a; echo b; cat lines) > group
