module heard
  integer :: calls = 0
contains
  subroutine hear(which, code)
    integer :: which, code
    calls = calls + 1
  end subroutine
end module

program usempi_mistakes
  use mpi
  use heard
  implicit none
  integer :: file, none, kept, kind, nothing, info, request, handler, status(MPI_STATUS_SIZE)
  integer :: ierr, ignored, found, count, values(1000)
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=1000) :: flavour, path
include 'mistakes.inc'
