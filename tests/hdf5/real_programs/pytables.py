"""PyTables. `write` makes tables.h5 in the working directory, `read` says what is in it."""
import hashlib
import sys

import numpy as np
import tables


class Particle(tables.IsDescription):
    name = tables.StringCol(8)
    index = tables.Int64Col()
    energy = tables.Float32Col(shape=(2,))


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def write():
    with tables.open_file("tables.h5", "w", track_times=False) as f:
        table = f.create_table("/", "particles", Particle, filters=tables.Filters(complevel=3, complib="zlib"),
                               track_times=False)
        row = table.row
        for i in range(3000):
            row["name"] = f"p{i % 17}".encode()
            row["index"] = i
            row["energy"] = (i * 0.5, -i)
            row.append()
        table.flush()
        table.cols.index.create_index()
        array = f.create_earray("/", "growing", tables.Float64Atom(), (0, 6), track_times=False)
        for step in range(10):
            array.append(np.full((5, 6), step))
        f.create_carray("/", "chunks", obj=np.arange(2000).reshape(40, 50), track_times=False)
        ragged = f.create_vlarray("/", "ragged", tables.Int32Atom(), track_times=False)
        for i in range(10):
            ragged.append(list(range(i)))
        table.attrs.note = {"pickled": [1, 2, 3]}
        table.modify_column(100, 200, column=np.full(100, -3), colname="index")
        table.remove_rows(0, 10)
        f.flush()
        print(len(table), digest(table.read(0, 500)))


def read():
    with tables.open_file("tables.h5") as f:
        table = f.root.particles
        print(len(table), digest(table.read()), table.attrs.note)
        print([r["index"] for r in table.where("(index > 500) & (name == b'p3')")][:20])
        print(digest(f.root.growing[:]), digest(f.root.chunks[3:9, ::4]), [list(r) for r in f.root.ragged])


{"write": write, "read": read}[sys.argv[1]]()
