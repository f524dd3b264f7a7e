# numpy, pickle, multiprocessing, memory maps, shelves: what programs in Python do with files.
import hashlib, json, mmap, multiprocessing, os, pickle, shutil, sys, tempfile
import numpy as np


def work(i):
    with open(f"worker.{i}", "w") as f:
        f.write(str(i) * 1000)
    with open("appended", "a") as f:
        f.write(f"{i:03d}\n")
    return os.path.getsize(f"worker.{i}")


# A child that is spawned reads this file from the top: nothing may be done there.
if __name__ == "__main__":
    a = np.arange(200_000, dtype=np.float64).reshape(400, 500)
    np.save("a.npy", a)
    assert (np.load("a.npy") == a).all()
    np.savez("z.npz", x=a, y=a[::2])
    assert (np.load("z.npz")["y"] == a[::2]).all()
    m = np.lib.format.open_memmap("m.npy", mode="w+", dtype=np.int32, shape=(1000, 10))
    m[:] = 7
    m.flush()
    del m
    assert (np.load("m.npy", mmap_mode="r") == 7).all()
    a.tofile("raw")
    assert (np.fromfile("raw") == a.ravel()).all()
    with open("p.pickle", "wb") as f:
        pickle.dump({"a": list(range(1000)), "b": "text" * 100}, f)
    with open("p.pickle", "rb") as f:
        assert pickle.load(f)["a"][-1] == 999
    with open("text", "w+") as f:
        for i in range(5000):
            f.write(f"line {i}\n")
        f.seek(0)
        assert len(f.readlines()) == 5000
        f.truncate(100)
    assert os.path.getsize("text") == 100
    with open("mapped", "wb+") as f:
        f.write(b"x" * 10000)
        f.flush()
        with mmap.mmap(f.fileno(), 0) as view:
            view[5:10] = b"hello"
        f.seek(0)
        assert f.read(12) == b"xxxxxhelloxx"
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(3) as pool:
            assert pool.map(work, range(12)) == [1000 * len(str(i)) for i in range(12)]
    lines = sorted(open("appended").read().split())
    assert lines == sorted([f"{i:03d}" for i in range(12)] * 2), lines
    os.remove("appended")
    shutil.copy2("a.npy", "b.npy")
    os.replace("b.npy", "c.npy")
    fd, name = tempfile.mkstemp(dir=".")
    os.write(fd, b"temporary")
    os.lseek(fd, 0, os.SEEK_SET)
    assert os.read(fd, 20) == b"temporary"
    os.close(fd)
    os.unlink(name)
    os.system("cp a.npy d.npy")
    import subprocess
    with open("sub", "wb") as f:
        f.write(b"before\n")
        f.flush()
        subprocess.run(["echo", "from a child"], stdout=f, check=True)
        f.write(b"after\n")
    assert open("sub").read() == "before\nfrom a child\nafter\n"
    json.dump({n: hashlib.sha256(open(n, "rb").read()).hexdigest() for n in sorted(os.listdir("."))
               if n not in ("sums", "z.npz")}, open("sums", "w"))
    os.remove("z.npz")
