"""h5py as people use it. `write` makes h5py.h5 in the working directory, `read` says all that is in it."""
import hashlib
import shutil
import sys

import h5py
import numpy as np


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def write():
    rng = np.random.default_rng(7)
    with h5py.File("h5py.h5", "w") as f:
        f.attrs["title"] = "a file"
        f.attrs["numbers"] = np.arange(5)
        f["plain"] = rng.random((100, 80))
        f.create_dataset("packed", data=rng.integers(0, 50, (300, 70)), chunks=(64, 16), compression="gzip",
                         shuffle=True, fletcher32=True)
        f.create_dataset("light", data=np.repeat(np.arange(500), 20), chunks=(1000,), compression="lzf")
        growing = f.create_dataset("growing", (0, 8), maxshape=(None, 8), chunks=(16, 8), dtype="f4")
        for step in range(20):
            growing.resize(growing.shape[0] + 7, axis=0)
            growing[-7:] = step
            print("growing", growing.shape, digest(growing[:]))
        growing.resize(50, axis=0)
        f.create_dataset("words", data=["tea", "", "a longer word", "tea"], dtype=h5py.string_dtype())
        ragged = f.create_dataset("ragged", (6,), dtype=h5py.vlen_dtype("i4"))
        for i in range(6):
            ragged[i] = np.arange(i)
        f.create_dataset("records", data=np.array([(1, 2.5, b"x"), (2, 3.5, b"yy")],
                                                  dtype=[("a", "i4"), ("b", "f8"), ("c", "S3")]))
        group = f.create_group("deep/er/est")
        group["link"] = h5py.SoftLink("/plain")
        group["away"] = h5py.ExternalLink("other.h5", "/x")
        refs = f.create_dataset("refs", (2,), dtype=h5py.ref_dtype)
        refs[0] = f["plain"].ref
        refs[1] = group.ref
        f["plain"].attrs["unit"] = "m"
        f["plain"][10:20, ::3] = -1
        f["plain"][[1, 5, 9], 4] = 77
    with h5py.File("h5py.h5", "a") as f:
        f["plain"][0] += 1
        del f["light"]
        f["again"] = np.arange(3000)
        f.copy("packed", "packed2")
        f.move("words", "deep/words")
        f.flush()
        print("flushed", f["again"][17])
    with h5py.File("other.h5", "w") as f:
        f["x"] = np.arange(12).reshape(3, 4)
    layout = h5py.VirtualLayout(shape=(2, 4), dtype="i8")
    layout[0] = h5py.VirtualSource("other.h5", "x", shape=(3, 4))[0]
    layout[1] = h5py.VirtualSource("other.h5", "x", shape=(3, 4))[2]
    with h5py.File("virtual.h5", "w", libver="latest") as f:
        f.create_virtual_dataset("v", layout, fillvalue=-5)
    with h5py.File("memory.h5", "w", driver="core", backing_store=True) as f:
        f["x"] = np.ones(10)
    with open("fileobj.h5", "wb+") as raw, h5py.File(raw, "w") as f:
        f["x"] = np.ones(10)
    swmr()
    opened_again()
    chunks_without_hdf5()


def opened_again():
    """Somebody replaces what is in a file that is open, and it is opened once more."""
    for name, value in (("before.h5", 1), ("after.h5", 2)):
        with h5py.File(name, "w") as f:
            f["x"] = np.full(3000, value)
    with h5py.File("before.h5", "r") as first:
        print("before", digest(first["x"][:]))
        shutil.copy("after.h5", "before.h5")
        with h5py.File("before.h5", "r") as second:
            print("opened again", digest(second["x"][:]), digest(first["x"][:]))


def chunks_without_hdf5():
    """What PyTables does: it asks HDF5 where a chunk lies, and reads it there by itself."""
    with h5py.File("chunks.h5", "w") as f:
        data = f.create_dataset("x", (4000,), chunks=(1000,), dtype="i4", compression="gzip")
        for round in range(3):
            for i in range(4):
                data.id.write_direct_chunk((i * 1000,), bytes([round * 4 + i]) * (50 + round))
            for i in range(4):
                where = data.id.get_chunk_info(i)
                with open("chunks.h5", "rb") as home:
                    home.seek(where.byte_offset)
                    print("chunk", round, i, digest(np.frombuffer(home.read(where.size), "u1")))
            if round == 0:
                f.flush()
        data[:] = 7


def swmr():
    with h5py.File("swmr.h5", "w", libver="latest") as writer:
        data = writer.create_dataset("x", (0,), maxshape=(None,), chunks=(10,), dtype="i4")
        writer.swmr_mode = True
        with h5py.File("swmr.h5", "r", libver="latest", swmr=True) as reader:
            for step in range(5):
                data.resize((step + 1) * 10, axis=0)
                data[-10:] = step
                data.flush()
                reader["x"].refresh()
                print("swmr", reader["x"].shape, digest(reader["x"][:]))


def read():
    for name in ("h5py.h5", "other.h5", "virtual.h5", "memory.h5", "fileobj.h5", "swmr.h5"):
        with h5py.File(name, "r") as f:
            print(name, dict(sorted((k, str(v)) for k, v in f.attrs.items())))
            f.visititems(say)
            if name == "h5py.h5":
                print(f[f["refs"][0]].name, f[f["refs"][1]].name, f["deep/er/est/away"].shape)
                print(digest(f["plain"][5:90:7, 3:9]), digest(f["packed"][::5]), f["packed"][17, 3])


def say(name, thing):
    if not isinstance(thing, h5py.Dataset):
        print(name, "group", sorted(thing))
        return
    data = thing[()]
    kept = repr(data.tolist()) if data.dtype.kind == "O" and thing.dtype != h5py.ref_dtype else ""
    shown = digest(data) if data.dtype.kind != "O" else kept
    print(name, thing.shape, thing.dtype, thing.chunks, thing.compression, dict(thing.attrs), shown)


{"write": write, "read": read}[sys.argv[1]]()
