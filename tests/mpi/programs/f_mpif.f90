! An ordinary MPI program in Fortran (include 'mpif.h') that checks every result. Prints
! "calls <collective> <count>" for each collective it used, then "OK".
program f_mpif
  implicit none
  include 'mpif.h'
  integer, parameter :: blocks(4) = [0, 1, 5, 1000]
  integer :: rank, ranks, ierror, errors, all_errors, b
  integer :: allreduce_calls, reduce_scatter_calls, reduce_scatter_block_calls
  integer :: allgather_calls, allgatherv_calls
  integer :: half

  errors = 0
  all_errors = 0
  allreduce_calls = 0
  reduce_scatter_calls = 0
  reduce_scatter_block_calls = 0
  allgather_calls = 0
  allgatherv_calls = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  do b = 1, size(blocks)
    call check_all(MPI_COMM_WORLD, blocks(b))
  end do
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierror)
  call check_all(half, 100)
  call MPI_Comm_free(half, ierror)

  call MPI_Reduce(errors, all_errors, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) then
    print '(a,i0)', 'calls allreduce ', allreduce_calls
    print '(a,i0)', 'calls reduce_scatter ', reduce_scatter_calls
    print '(a,i0)', 'calls reduce_scatter_block ', reduce_scatter_block_calls
    print '(a,i0)', 'calls allgather ', allgather_calls
    print '(a,i0)', 'calls allgatherv ', allgatherv_calls
    if (all_errors == 0) then
      print '(a)', 'OK'
    else
      print '(a)', 'WRONG'
    end if
  end if
  call MPI_Finalize(ierror)

contains

  ! Small, so that every sum is exact.
  integer function element(of_rank, i)
    integer, intent(in) :: of_rank, i
    element = mod(of_rank * 7 + i * 3, 11)
  end function

  integer function total(i)
    integer, intent(in) :: i
    integer :: r
    total = 0
    do r = 0, ranks - 1
      total = total + element(r, i)
    end do
  end function

  subroutine check(good, what, n)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    integer, intent(in) :: n
    if (.not. good) then
      errors = errors + 1
      print '(3a,i0,a,i0)', 'wrong: ', what, ', block ', n, ', rank ', rank
    end if
  end subroutine

  subroutine check_all(comm, n)
    integer, intent(in) :: comm
    integer, intent(in) :: n
    double precision, allocatable :: input(:), output(:), expected(:)
    integer, allocatable :: counts(:), starts(:)
    integer :: me, i, r, mine

    call MPI_Comm_rank(comm, me, ierror)
    call MPI_Comm_size(comm, ranks, ierror)
    allocate(input(n * ranks + 1), output(n * ranks + 1), expected(n * ranks + 1))
    allocate(counts(ranks), starts(ranks))
    ! Unequal blocks: (r mod 3) thirds of n, some of them none.
    counts = [((mod(r, 3) * n) / 3, r = 0, ranks - 1)]
    starts(1) = 0
    do r = 2, ranks
      starts(r) = starts(r - 1) + counts(r - 1)
    end do
    mine = counts(me + 1)
    input = [(dble(element(me, i)), i = 1, n * ranks + 1)]
    expected = [(dble(total(i)), i = 1, n * ranks + 1)]

    call MPI_Allreduce(input, output, n * ranks, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
    allreduce_calls = allreduce_calls + 1
    call check(all(output(1:n * ranks) == expected(1:n * ranks)), 'Allreduce', n)

    output = input
    call MPI_Allreduce(MPI_IN_PLACE, output, n * ranks, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
    allreduce_calls = allreduce_calls + 1
    call check(all(output(1:n * ranks) == expected(1:n * ranks)), 'Allreduce in place', n)

    call MPI_Reduce_scatter(input, output, counts, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
    reduce_scatter_calls = reduce_scatter_calls + 1
    call check(all(output(1:mine) == expected(starts(me + 1) + 1:starts(me + 1) + mine)), &
               'Reduce_scatter', n)

    call MPI_Reduce_scatter_block(input, output, n, MPI_DOUBLE_PRECISION, MPI_SUM, comm, ierror)
    reduce_scatter_block_calls = reduce_scatter_block_calls + 1
    call check(all(output(1:n) == expected(me * n + 1:me * n + n)), 'Reduce_scatter_block', n)

    call MPI_Allgather(input, n, MPI_DOUBLE_PRECISION, output, n, MPI_DOUBLE_PRECISION, comm, ierror)
    allgather_calls = allgather_calls + 1
    do r = 0, ranks - 1
      call check(all(output(r * n + 1:r * n + n) == [(dble(element(r, i)), i = 1, n)]), &
                 'Allgather', n)
    end do

    output = -1
    output(me * n + 1:me * n + n) = input(1:n)
    call MPI_Allgather(MPI_IN_PLACE, n, MPI_DOUBLE_PRECISION, output, n, MPI_DOUBLE_PRECISION, &
                       comm, ierror)
    allgather_calls = allgather_calls + 1
    do r = 0, ranks - 1
      call check(all(output(r * n + 1:r * n + n) == [(dble(element(r, i)), i = 1, n)]), &
                 'Allgather in place', n)
    end do

    output = -1
    call MPI_Allgatherv(input, mine, MPI_DOUBLE_PRECISION, output, counts, starts, &
                        MPI_DOUBLE_PRECISION, comm, ierror)
    allgatherv_calls = allgatherv_calls + 1
    do r = 1, ranks
      call check(all(output(starts(r) + 1:starts(r) + counts(r)) == &
                     [(dble(element(r - 1, i)), i = 1, counts(r))]), 'Allgatherv', n)
    end do
    deallocate(input, output, expected, counts, starts)
  end subroutine

end program
