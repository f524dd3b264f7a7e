for engine in psync sync vsync libaio mmap posixaio; do
  fio --name=t --filename=fio.$engine --ioengine=$engine --size=2m --bs=4k --rw=randrw --verify=crc32c --verify_fatal=1 \
    --do_verify=1 --iodepth=4 --fallocate=none --randseed=7 --output=fio.$engine.log --thread || { cat fio.$engine.log; exit 1; }
done
rm -f fio.* local-*
echo verified > done
