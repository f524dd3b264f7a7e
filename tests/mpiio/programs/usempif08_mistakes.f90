module heard
  integer :: calls = 0
contains
  subroutine hear(which, code)
    use mpi_f08
    type(MPI_File) :: which
    integer :: code
    calls = calls + 1
  end subroutine
end module

program usempif08_mistakes
  use mpi_f08
  use heard
  implicit none
  type(MPI_File) :: file, none, kept
  type(MPI_Datatype) :: kind, nothing
  type(MPI_Info) :: info
  type(MPI_Request) :: request
  type(MPI_Errhandler) :: handler
  type(MPI_Status) :: status
  integer :: ierr, ignored, found, count, values(1000)
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=1000) :: flavour, path
include 'mistakes.inc'
