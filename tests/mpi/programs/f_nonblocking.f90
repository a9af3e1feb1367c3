! Two MPI_Iallreduce through mpi_f08; checks the sums and prints OK.
program nonblocking
  use mpi_f08
  implicit none
  integer :: rank, ranks, value, total, i
  logical :: right
  type(MPI_Request) :: request
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = .true.
  do i = 1, 2
    value = rank + i
    call MPI_Iallreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (total /= ranks * (ranks - 1) / 2 + ranks * i) right = .false.
  end do
  ! One blocking call of ours, so that there is a report under MPICH as well.
  call MPI_Allreduce(value, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. right) print '(a)', 'OK'
  call MPI_Finalize()
end program nonblocking
