# mpi4py with numpy: usage: mpi4py_program.py FILE
import sys

import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_RDWR | MPI.MODE_CREATE)
mine = numpy.arange(1000, dtype="i4") + 10000 * rank
tile = MPI.INT.Create_vector(10, 5, 5 * ranks).Create_resized(0, 200 * ranks).Commit()
file.Set_view(20 * rank, MPI.INT, tile)
file.Write_all(mine)
assert file.Get_position() == 1000
back = numpy.zeros_like(mine)
file.Read_at_all(0, back)
assert (back == mine).all()
request = file.Iwrite_at(1000, mine)
status = MPI.Status()
request.Wait(status)
assert status.Get_count(MPI.INT) == 1000
file.Set_view(0, MPI.BYTE, MPI.BYTE)
file.Sync()
comm.Barrier()
size = file.Get_size()
comm.Barrier()
file.Set_size(size + 7)
file.Write_ordered(bytes([rank]) * (rank + 1))
file.Close()
print(size)
