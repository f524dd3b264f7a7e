# HDF5 without a connector: its POSIX driver, through the POSIX door alone.
import h5py, numpy as np
a = np.arange(50_000, dtype="i4").reshape(500, 100)
with h5py.File("a.h5", "w", track_order=False) as f:
    f.create_dataset("plain", data=a)
    f.create_dataset("packed", data=a, chunks=(50, 50), compression="gzip")
    f.attrs["words"] = "text"
with h5py.File("a.h5", "r+") as f:
    f["plain"][10:20] = -1
    f.create_group("g").create_dataset("late", data=np.ones(1000))
with h5py.File("a.h5", "r") as f:
    b = f["packed"][...]
    assert (b == a).all() and (f["plain"][10:20] == -1).all() and f["g/late"][...].sum() == 1000
