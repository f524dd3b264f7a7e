// One file of a random program: it is opened by all ranks, by groups of them or by each alone, and by turns
// accessed and brought into a state in which everybody sees what everybody wrote.
//
// Valid programs only: what ranks do at the same time does not conflict, and what others did is looked at
// after sync, barrier and sync, or after a close.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "dice.hpp"
#include "operations.hpp"
#include "types.hpp"

struct World {
  int rank = 0;
  int size = 1;
  bool gaps = false;   // views with gaps also where a file grows
  bool large = false;  // files of some MB
};

// What a rank may touch in this part of the program: it alone, in its view.
struct Share {
  Type etype;
  MPI_Offset etypes = 0;
  MPI_Offset first = 0;
};

class FileProgram {
 public:
  // Files `path` or, where not all ranks have one together, `path`.<number>. Collective over the world.
  FileProgram(const World& world, std::string path, std::uint64_t seed);

  void begin();
  [[nodiscard]] bool more() const { return parts_ > 0; }
  void next();
  void end();

 private:
  void open(int amode);
  void close();
  // Everybody sees what everybody wrote.
  void boundary();
  // Through a handle of its own.
  void peek();
  void resize();
  void where();
  void set_view(MPI_Offset displacement, const Type& etype, const Type& filetype);
  // One with a gap is a view with gaps by itself.
  Type etype();
  // A region for each rank, in bytes or a plain type.
  Share plain_view();
  // Ranks take turns, tile by tile.
  Share interleaved();
  // Each has a type and a region of its own.
  Share apart();
  void part();
  void independent(const Share& share);
  // At the end of a file MPI libraries disagree, with each other and from call to call, about what a read
  // that is collective or nonblocking tells, and leave what they like in memory with gaps.
  [[nodiscard]] bool may_do(const Operation& one) const;
  [[nodiscard]] const Operation& pick_operation(Dice& dice, bool collective) const;
  void seek(const Share& share);
  // The same class of error as without the door, and nothing else changes.
  void mistake();
  void step(const Operation& operation, const Share& share);
  // Several of them under way at once, each in a part of its own.
  void several(const Share& share);
  void fill(std::vector<char>& buffer);
  void move(const Operation& operation, MPI_Offset offset, const Type& memory, int count);
  // The shared pointer: one rank after the other, or all in order.
  void shared_part();
  void seek_shared(MPI_Offset to);
  void shared_step(MPI_Offset most);

  const World world_;
  std::string path_;
  Dice all_;  // as all ranks of the file throw them
  Dice own_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Offset position_ = 0;
  bool unique_ = false;  // nobody else has the file open
  MPI_Offset region_ = 0;
  std::int64_t parts_ = 0;
  int rank_ = 0;
  int size_ = 1;
  bool readable_ = true;
  bool writable_ = true;
  bool bounded_ = true;  // long enough from the start: nobody reads at the end
  bool atomic_ = false;
};
