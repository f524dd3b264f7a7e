// The workloads of `forebay-bench mpiio`: plain MPI-IO programs that print how long they took.
//
// usage: mpiio_bench WORKLOAD FILE NUMBER...; each is described where it is written
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

int rank_here = 0;
int rank_count = 1;

using Numbers = std::vector<std::int64_t>;

void must(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

MPI_File open(const char* path, int amode) {
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file), "open");
  return file;
}

// The slowest rank's time since `start`.
void report(const char* name, double start) {
  double took = MPI_Wtime() - start;
  double most = 0;
  MPI_Reduce(&took, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank_here == 0) std::printf("%s %.9g\n", name, most);
}

double begin() {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

// A file of numbers[0] bytes in which one of 4096 is 255.
void make(const char* path, const Numbers& numbers) {
  std::vector<char> bytes(static_cast<std::size_t>(numbers[0]));
  std::mt19937 chance(7);
  for (auto& byte : bytes) {
    const auto drawn = chance();
    byte = drawn % 4096 == 0 ? '\xff' : static_cast<char>(drawn >> 8 & 0x7f);
  }
  if (rank_here == 0) {
    std::FILE* const out = std::fopen(path, "w");
    if (out == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size()) std::exit(4);
    std::fclose(out);
  }
  if (rank_here == 0) std::printf("made 0\n");
}

// Chunks of numbers[0] bytes at random places of a file of numbers[1], numbers[2] of them by each rank;
// numbers[3]: written, else read. With open and close.
void chunks(const char* path, const Numbers& numbers) {
  const auto size = numbers[0];
  std::mt19937_64 chance(static_cast<unsigned>(rank_here) + 1);
  std::vector<char> chunk(static_cast<std::size_t>(size), static_cast<char>(rank_here));
  const double start = begin();
  MPI_File file = open(path, MPI_MODE_RDWR);
  for (std::int64_t i = 0; i < numbers[2]; ++i) {
    const auto at = static_cast<MPI_Offset>(chance() % static_cast<std::uint64_t>(numbers[1] / size)) * size;
    must(numbers[3] != 0
             ? MPI_File_write_at(file, at, chunk.data(), static_cast<int>(size), MPI_BYTE, MPI_STATUS_IGNORE)
             : MPI_File_read_at(file, at, chunk.data(), static_cast<int>(size), MPI_BYTE, MPI_STATUS_IGNORE),
         "access");
  }
  must(MPI_File_close(&file), "close");
  report("total", start);
}

// numbers[1] reads of 64 bytes of a file of numbers[0] that was read before: seconds for one.
void hit(const char* path, const Numbers& numbers) {
  MPI_File file = open(path, MPI_MODE_RDWR);
  std::vector<char> all(static_cast<std::size_t>(numbers[0]));
  // What was written is resident, whatever admission thinks of reads.
  must(MPI_File_write_at(file, 0, all.data(), static_cast<int>(numbers[0]), MPI_BYTE, MPI_STATUS_IGNORE),
       "write");
  std::mt19937 chance(1);
  std::vector<double> slices;
  char piece[64];
  for (std::int64_t i = 0; i < numbers[1] / 1000; ++i) {
    const double start = MPI_Wtime();
    for (int k = 0; k < 1000; ++k) {
      const auto at = static_cast<MPI_Offset>(chance() % static_cast<unsigned>(numbers[0] / 64)) * 64;
      MPI_File_read_at(file, at, piece, 64, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    slices.push_back((MPI_Wtime() - start) / 1000);
  }
  std::ranges::sort(slices);
  std::printf("call %.9g\n", slices[slices.size() / 2]);
  MPI_File_close(&file);
}

// A map of numbers[0] rows of numbers[1] pixels, read numbers[2] at a time; around each match (255) pixels
// are looked at one by one, up to 64 to the right. Every rank has its rows.
void map_search(const char* path, const Numbers& numbers) {
  const auto columns = numbers[1];
  const auto block = numbers[2];
  const double start = begin();
  MPI_File file = open(path, MPI_MODE_RDONLY);
  std::vector<unsigned char> pixels(static_cast<std::size_t>(block));
  std::uint64_t near = 0;
  for (std::int64_t row = rank_here; row < numbers[0]; row += rank_count) {
    for (std::int64_t column = 0; column < columns; column += block) {
      MPI_File_read_at(file, row * columns + column, pixels.data(), static_cast<int>(block), MPI_BYTE,
                       MPI_STATUS_IGNORE);
      for (std::int64_t i = 0; i < block; ++i) {
        if (pixels[static_cast<std::size_t>(i)] != 255) continue;
        for (std::int64_t step = 1; step <= 64 && column + i + step < columns; ++step) {
          unsigned char other = 0;
          MPI_File_read_at(file, row * columns + column + i + step, &other, 1, MPI_BYTE, MPI_STATUS_IGNORE);
          near += other;
        }
      }
    }
  }
  must(MPI_File_close(&file), "close");
  report("total", start);
  if (near == 42) std::puts("answer 42");
}

std::uint64_t collatz(std::uint64_t value) {
  std::uint64_t steps = 0;
  for (; value > 1 && steps < 1000; ++steps) value = value % 2 == 0 ? value / 2 : 3 * value + 1;
  return steps;
}

// numbers[1] steps of each rank in a file of numbers[0] bytes: read 1 KiB, compute, write it back, go on
// where the result says.
void random_walk(const char* path, const Numbers& numbers) {
  constexpr std::int64_t kChunk = 1024;
  const auto chunks_each = numbers[0] / kChunk / rank_count;
  std::vector<std::uint64_t> chunk(kChunk / 8);
  const double start = begin();
  MPI_File file = open(path, MPI_MODE_RDWR);
  std::uint64_t place = 1;
  for (std::int64_t i = 0; i < numbers[1]; ++i) {
    const auto at = (rank_here * chunks_each +
                     static_cast<std::int64_t>(place % static_cast<std::uint64_t>(chunks_each))) *
                    kChunk;
    must(MPI_File_read_at(file, at, chunk.data(), kChunk, MPI_BYTE, MPI_STATUS_IGNORE), "read");
    std::uint64_t sum = 0;
    for (auto& word : chunk) sum += (word = collatz(word % 100000 + 2));
    must(MPI_File_write_at(file, at, chunk.data(), kChunk, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    place = place * 6364136223846793005u + sum + 1;
  }
  must(MPI_File_close(&file), "close");
  report("total", start);
}

// An array of numbers[0] dimensions with numbers[1] doubles in each, by blocks that lie interleaved: every
// rank writes its columns, numbers[2] times another step of it.
void collective(const char* path, const Numbers& numbers) {
  const int dims = static_cast<int>(numbers[0]);
  std::vector<int> sizes(static_cast<std::size_t>(dims), static_cast<int>(numbers[1]));
  std::vector<int> parts = sizes;
  std::vector<int> starts(sizes.size(), 0);
  parts.back() /= rank_count;
  starts.back() = parts.back() * rank_here;
  std::int64_t count = 1;
  std::int64_t whole = 1;
  for (int i = 0; i < dims; ++i) {
    count *= parts[static_cast<std::size_t>(i)];
    whole *= sizes[static_cast<std::size_t>(i)];
  }
  MPI_Datatype block = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(dims, sizes.data(), parts.data(), starts.data(), MPI_ORDER_C, MPI_DOUBLE, &block);
  MPI_Type_commit(&block);
  const std::vector<double> values(static_cast<std::size_t>(count), rank_here);
  if (rank_here == 0) MPI_File_delete(path, MPI_INFO_NULL);
  const double start = begin();
  MPI_File file = open(path, MPI_MODE_RDWR | MPI_MODE_CREATE);
  for (std::int64_t step = 0; step < numbers[2]; ++step) {
    must(MPI_File_set_view(file, step * whole * 8, MPI_DOUBLE, block, "native", MPI_INFO_NULL), "set_view");
    must(MPI_File_write_all(file, values.data(), static_cast<int>(count), MPI_DOUBLE, MPI_STATUS_IGNORE),
         "write_all");
  }
  report("written", start);
  must(MPI_File_close(&file), "close");
  report("total", start);
}

// A file of numbers[0] bytes, of which the ranks look at pieces of numbers[1] by turns, each at its own: all
// of them are read in calls of numbers[2] bytes, then once more.
void strided(const char* path, const Numbers& numbers) {
  MPI_Datatype piece = MPI_DATATYPE_NULL;
  MPI_Datatype turns = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(numbers[1]), MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, numbers[1] * rank_count, &turns);
  MPI_Type_commit(&turns);
  std::vector<char> bytes(static_cast<std::size_t>(numbers[2]));
  MPI_File file = open(path, MPI_MODE_RDONLY);
  must(MPI_File_set_view(file, rank_here * numbers[1], MPI_BYTE, turns, "native", MPI_INFO_NULL), "set_view");
  for (const char* const turn : {"first", "again"}) {
    const double start = begin();
    for (std::int64_t at = 0; at + numbers[2] <= numbers[0] / rank_count; at += numbers[2]) {
      must(
          MPI_File_read_at(file, at, bytes.data(), static_cast<int>(numbers[2]), MPI_BYTE, MPI_STATUS_IGNORE),
          "read");
    }
    report(turn, start);
  }
  must(MPI_File_close(&file), "close");
}

// numbers[0] doubles of each rank, with gaps of numbers[1] bytes that nobody fills, in one call; numbers[2]:
// all ranks together; numbers[3]: it is told that nobody else writes the file.
void gapped(const char* path, const Numbers& numbers) {
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 8 + numbers[1], &apart);
  MPI_Type_commit(&apart);
  const std::vector<double> values(static_cast<std::size_t>(numbers[0]), rank_here);
  const double start = begin();
  MPI_File file = open(path, MPI_MODE_RDWR | (numbers[3] != 0 ? MPI_MODE_UNIQUE_OPEN : 0));
  const auto first = rank_here * numbers[0] * (8 + numbers[1]);
  must(MPI_File_set_view(file, first, MPI_DOUBLE, apart, "native", MPI_INFO_NULL), "set_view");
  const auto count = static_cast<int>(numbers[0]);
  must(numbers[2] != 0 ? MPI_File_write_all(file, values.data(), count, MPI_DOUBLE, MPI_STATUS_IGNORE)
                       : MPI_File_write(file, values.data(), count, MPI_DOUBLE, MPI_STATUS_IGNORE),
       "write");
  MPI_Type_free(&apart);
  must(MPI_File_close(&file), "close");
  report("total", start);
}

struct Workload {
  const char* name;
  void (*run)(const char* path, const Numbers& numbers);
};
constexpr Workload kWorkloads[] = {{"make", make},
                                   {"chunks", chunks},
                                   {"hit", hit},
                                   {"map_search", map_search},
                                   {"random_walk", random_walk},
                                   {"collective", collective},
                                   {"strided", strided},
                                   {"gapped", gapped}};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_here);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  Numbers numbers;
  for (int i = 3; i < argc; ++i) numbers.push_back(std::atoll(argv[i]));
  for (const auto& one : kWorkloads) {
    if (argc > 2 && std::strcmp(argv[1], one.name) == 0) one.run(argv[2], numbers);
  }
  MPI_Finalize();
  return 0;
}
