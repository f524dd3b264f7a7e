program usempif08
  use mpi_f08
  implicit none
  type(MPI_File) :: file
  type(MPI_Datatype) :: tile
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  integer :: ierr, rank, ranks, i, count, out(100)
  integer, asynchronous :: in(100)
  integer(kind=MPI_OFFSET_KIND) :: offset, displacement
  character(len=1000) :: path
  type(MPI_Info) :: hints
include 'body.inc'
