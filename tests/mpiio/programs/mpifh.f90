program mpifh
  implicit none
  include 'mpif.h'
  integer :: file, tile, request, status(MPI_STATUS_SIZE)
  integer :: ierr, rank, ranks, i, count, out(100), in(100)
  integer(kind=MPI_OFFSET_KIND) :: offset, displacement
  character(len=1000) :: path
  integer :: hints
include 'body.inc'
