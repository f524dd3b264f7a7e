"""h5py on several ranks. `write` makes parallel.h5, `read` says what is in it (rank 0 speaks)."""
import hashlib
import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size


def say(*words):
    for line in comm.gather(" ".join(map(str, words))) or []:
        print(line, flush=True)


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def write():
    with h5py.File("parallel.h5", "w", driver="mpio", comm=comm) as f:
        plain = f.create_dataset("plain", (ranks * 10, 40), dtype="f8")
        chunked = f.create_dataset("chunked", (ranks * 10, 40), dtype="i4", chunks=(7, 9), maxshape=(None, 40))
        packed = f.create_dataset("packed", (ranks * 10, 40), dtype="i4", chunks=(5, 20), compression="gzip")
        mine = slice(rank * 10, rank * 10 + 10)
        plain[mine] = np.random.default_rng(rank).random((10, 40))
        with chunked.collective:
            chunked[mine] = rank * 1000 + np.arange(400).reshape(10, 40)
        with packed.collective:
            packed[mine] = rank
        for turn in range(rank * 3):  # ranks do different amounts of work
            plain[rank * 10 + turn % 10, ::3] = turn
        comm.Barrier()
        say(digest(plain[:]), digest(chunked[:]))
        f.flush()
        comm.Barrier()
        chunked.resize(ranks * 10 + 5, axis=0)
        if rank == ranks - 1:
            chunked[-5:] = -1
        f.attrs["ranks"] = 7
        f.create_group("a/b")
        comm.Barrier()
        say(digest(chunked[:]), digest(packed[:]))


def read():
    with h5py.File("parallel.h5", "r", driver="mpio", comm=comm) as f:
        for name in ("plain", "chunked", "packed"):
            say(name, f[name].shape, digest(f[name][:]), digest(f[name][rank::ranks]))
            with f[name].collective:
                say(name, digest(f[name][rank * 5 : rank * 5 + 5]))
        say(sorted(f), dict(f.attrs))


{"write": write, "read": read}[sys.argv[1]]()
