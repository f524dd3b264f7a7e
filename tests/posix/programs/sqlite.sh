for mode in delete wal; do
  sqlite3 $mode.db "pragma journal_mode=$mode; create table t(a integer primary key, b text);" > $mode.mode
  i=0; while [ $i -lt 20 ]; do echo "insert into t(b) select hex(zeroblob(500)) || $i from (select 1 union select 2);"; i=$((i + 1)); done > in.sql
  sqlite3 $mode.db < in.sql
  (sqlite3 $mode.db ".timeout 20000" "insert into t(b) values('one');") & (sqlite3 $mode.db ".timeout 20000" "insert into t(b) values('two');") & wait
  sqlite3 $mode.db "delete from t where a % 3 = 0; vacuum; pragma integrity_check; select count(*), sum(length(b)) from t;" > $mode.out
  rm -f $mode.db-wal $mode.db-shm
done
rm -f *.db
