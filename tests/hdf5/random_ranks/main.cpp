// Ranks that create, write, read, resize, unlink, copy and flush datasets at random, with raw data through
// the engine, against a model: every rank knows what every dataset must hold. Started by mpiexec.
//
// usage: tests.hdf5_parallel_FLAVOUR FOLDER SEED OPERATIONS BUFFERS
//
// BUFFERS above one gives ranks different buffers, as if they were on different nodes; 0 leaves all to HDF5,
// to see whether it would pass. Calls are made as the connector makes them, between the library's own.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/format.hpp"
#include "session.hpp"

using namespace forebay;
using namespace forebay::hdf5;

namespace {

class Program {
 public:
  Program(const std::string& folder, unsigned seed, int buffers)
      : session_(folder, seed, buffers), dice_(session_.dice()) {}

  void run(unsigned operations) {
    session_.open(true, true);
    session_.set_whole(true);
    overwrite_natively(false);
    overwrite_natively(true);
    write_where_a_chunk_was_cut();
    session_.set_whole(false);
    for (unsigned i = 0; i < operations; ++i) step();
    session_.close();
    session_.compare_natively();
  }

 private:
  // One rank's call goes to HDF5: what others see is not what lay in the buffer before.
  void overwrite_natively(bool collective) {
    const auto name = session_.create_dataset(false, false, 40);
    session_.write(name, false, Session::Odd::kNever);
    session_.write(name, collective, Session::Odd::kRankZero);
    session_.read(name, false, Session::Odd::kNever);
  }

  // What HDF5 kept of the chunk must not come back with a flush or close.
  void write_where_a_chunk_was_cut() {
    if (session_.buffers() == 0) return;
    const auto name = session_.create_dataset(true, false, 100);
    session_.write(name, false, Session::Odd::kNever);
    session_.resize(name, 37);
    session_.set_in_turns(true);
    session_.write(name, false, Session::Odd::kNever);
    session_.set_in_turns(false);
    session_.flush();
    session_.close();
    session_.open(false, true);
    session_.read(name, false, Session::Odd::kNever);
  }

  void create_dataset() {
    const bool chunked = dice_.chance(60);
    (void)session_.create_dataset(chunked, chunked && dice_.chance(20), dice_.pick(8, 120));
  }

  void write() {
    const auto name = session_.any();
    session_.write(name, session_.datasets().at(name).filtered || dice_.chance(50), Session::Odd::kPerhaps);
  }

  void read() {
    const auto name = session_.any();
    session_.read(name, session_.datasets().at(name).filtered || dice_.chance(50), Session::Odd::kPerhaps);
  }

  void resize() {
    const auto name = session_.any();
    const auto& dataset = session_.datasets().at(name);
    if (dataset.chunked && !dataset.filtered) session_.resize(name, dice_.pick(0, 160));
  }

  void step() {
    const auto what = dice_.pick(1, 100);
    if (!session_.writable()) {
      if (what <= 80 && !session_.datasets().empty()) return read();
      session_.close();
      return session_.open(false, true);
    }
    if (session_.datasets().size() < 3 || what <= 8) return create_dataset();
    if (what <= 45) return write();
    if (what <= 75) return read();
    if (what <= 83) return resize();
    if (what <= 88) return session_.unlink(session_.any());
    if (what <= 91) return session_.copy(session_.any());
    if (what <= 95) return session_.flush();
    if (what <= 97) return session_.close_dataset(session_.any());
    session_.close();
    session_.open(false, dice_.chance(60));
  }

  Session session_;
  Dice& dice_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  const auto seeds_from = static_cast<unsigned>(std::atoi(argv[2]));
  const auto seeds = 10u;
  for (unsigned seed = seeds_from; seed < seeds_from + seeds; ++seed) {
    trail = format_text("seed {}: ", seed);
    const auto folder = format_text("{}/parallel-{}-{}-{}", argv[1], seeds_from, rank_count, argv[4]);
    if (rank_here == 0) {
      std::filesystem::remove_all(folder);
      std::filesystem::create_directories(folder);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(100);
    Program(folder, seed, std::atoi(argv[4])).run(static_cast<unsigned>(std::atoi(argv[3])));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_here == 0) std::filesystem::remove_all(folder);
  }
  if (rank_here == 0) std::printf("seeds %u to %u: all as the model\n", seeds_from, seeds_from + seeds - 1);
  MPI_Finalize();
}
