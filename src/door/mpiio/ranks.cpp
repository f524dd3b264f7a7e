#include "door/mpiio/ranks.hpp"

namespace forebay::mpiio {

Ranks::Ranks(MPI_Comm comm) {
  PMPI_Comm_rank(comm, &rank_);
  PMPI_Comm_size(comm, &size_);
  if (size_ > 1) PMPI_Comm_dup(comm, &comm_);
}

Ranks::~Ranks() {
  if (comm_ == MPI_COMM_NULL) return;
  int finalized = 0;
  PMPI_Finalized(&finalized);
  if (finalized == 0) PMPI_Comm_free(&comm_);
}

bool Ranks::everybody() const {
  if (!world_is_there()) return false;
  int world = 0;
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_size(MPI_COMM_WORLD, &world);
  PMPI_Comm_get_parent(&parent);
  return size_ == world && parent == MPI_COMM_NULL;
}

bool world_is_there() {
  int begun = 0;
  int ended = 0;
  PMPI_Initialized(&begun);
  PMPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

void Ranks::barrier() const {
  if (size_ > 1) PMPI_Barrier(comm_);
}

int Ranks::least(int mine) const {
  if (size_ > 1) PMPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MIN, comm_);
  return mine;
}

bool Ranks::all(bool mine) const { return least(mine ? 1 : 0) != 0; }

std::vector<Ranks::Pair> Ranks::gather(const Pair& mine) const {
  std::vector<Pair> all(static_cast<std::size_t>(size_), mine);
  if (size_ > 1) PMPI_Allgather(mine.data(), 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, comm_);
  return all;
}

std::int64_t Ranks::told(std::int64_t value, int root) const {
  if (size_ > 1) PMPI_Bcast(&value, 1, MPI_INT64_T, root, comm_);
  return value;
}

std::int64_t Ranks::before(std::int64_t mine) const {
  std::int64_t sum = 0;
  if (size_ > 1) PMPI_Exscan(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, comm_);
  return rank_ == 0 ? 0 : sum;
}

}  // namespace forebay::mpiio
