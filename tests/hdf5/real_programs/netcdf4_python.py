"""netCDF4-python and xarray. `write` makes files in the working directory, `read` says what is in them."""
import hashlib
import sys

import netCDF4
import numpy as np
import xarray


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def write():
    rng = np.random.default_rng(3)
    with netCDF4.Dataset("python.nc", "w") as f:
        f.createDimension("time", None)
        f.createDimension("x", 50)
        heat = f.createVariable("heat", "f4", ("time", "x"), zlib=True, chunksizes=(4, 25))
        plain = f.createVariable("plain", "i8", ("x",))
        name = f.createVariable("name", str, ("time",))
        f.title = "a file"
        for step in range(12):
            heat[step] = rng.random(50)
            name[step] = f"step {step}"
        plain[:] = np.arange(50)
        group = f.createGroup("inner")
        group.createVariable("y", "i2", ("x",))[10:20] = 9
    with netCDF4.Dataset("python.nc", "a") as f:
        f["heat"][12] = -1
        f["plain"][::7] = 0
        f.sync()
    for engine in ("netcdf4", "h5netcdf"):
        data = xarray.Dataset({"t": (("time", "x"), rng.random((20, 30))), "n": ("x", np.arange(30))},
                              coords={"time": np.arange(20), "x": np.linspace(0, 1, 30)}, attrs={"by": "xarray"})
        data.to_netcdf(f"xarray-{engine}.nc", engine=engine, encoding={"t": {"zlib": True}})
        xarray.Dataset({"more": ("x", np.ones(30))}).to_netcdf(f"xarray-{engine}.nc", mode="a", engine=engine)


def read():
    with netCDF4.Dataset("python.nc") as f:
        print(f.data_model, f.title, sorted(f.variables), sorted(f.groups))
        print(digest(f["heat"][:].data), f["name"][3], digest(f["plain"][:].data), f["inner/y"][12])
        print(digest(f["heat"][2:11:3, 5:40].data))
    for engine in ("netcdf4", "h5netcdf"):
        with xarray.open_dataset(f"xarray-{engine}.nc", engine=engine) as data:
            print(sorted(data.variables), data.attrs, float(data["t"].mean()), digest(data["t"].values))
            print(digest(data["t"].sel(time=slice(3, 9)).values), digest(data["more"].values))


{"write": write, "read": read}[sys.argv[1]]()
