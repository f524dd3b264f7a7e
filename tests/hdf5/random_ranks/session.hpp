// One file that all ranks have open, its datasets and what they must hold. Calls are made as the connector
// makes them, between the library's own, and checked against the model.
#pragma once

#include <hdf5.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "door/hdf5/parallel_call.hpp"
#include "door/hdf5/parallel_dataset.hpp"
#include "door/hdf5/parallel_file.hpp"
#include "process.hpp"

namespace forebay::hdf5 {

inline constexpr hsize_t kColumns = 37;
inline constexpr std::int32_t kFill = -7;

struct Dataset {
  std::vector<std::int32_t> content;  // the model
  bool chunked = false;
  bool filtered = false;
  // HDF5 goes on to read what its chunk cache has of it, not the file, until it is closed.
  bool shrunk = false;
  Hid id;  // while it is open
  std::unique_ptr<ParallelDataset> engine;
  [[nodiscard]] hsize_t rows() const { return content.size() / kColumns; }
};

class Session {
 public:
  Session(const std::string& folder, unsigned seed, int buffers);

  // All of them are called by all ranks.
  void open(bool create, bool writable);
  void close();
  void flush();
  std::string create_dataset(bool chunked, bool filtered, hsize_t rows);
  void close_dataset(const std::string& name);
  // A rank may ask for what the engine refuses.
  enum class Odd { kNever, kPerhaps, kRankZero };
  void write(const std::string& name, bool collective, Odd odd);
  void read(const std::string& name, bool collective, Odd odd);
  void resize(const std::string& name, hsize_t rows);
  void unlink(const std::string& name);
  void copy(const std::string& name);
  void compare_natively();

  [[nodiscard]] Dice& dice() { return dice_; }
  [[nodiscard]] int buffers() const { return buffers_; }
  [[nodiscard]] bool writable() const { return writable_; }
  [[nodiscard]] const std::map<std::string, Dataset>& datasets() const { return datasets_; }
  [[nodiscard]] std::string any();
  // Every rank's part is as large as it can be.
  void set_whole(bool whole) { whole_ = whole; }
  // What one rank has carried home is there when the next one begins.
  void set_in_turns(bool in_turns) { in_turns_ = in_turns; }

 private:
  // A part of the rows for each rank, not all of them, and some columns.
  struct Part {
    hsize_t start[2];
    hsize_t count[2];
  };
  static std::string tier_folder(const std::string& folder);
  static void close_dataset(Dataset& dataset);
  void attach_engine(Dataset& dataset);
  Dataset& opened(const std::string& name);
  std::vector<Part> parts(const Dataset& dataset);
  static Hid select(const Dataset& dataset, const Part& part);
  static Hid memory_of(const Part& part);
  hid_t transfer_list(bool collective, const Dataset& dataset, Odd odd);
  // If not, the native call is to be made.
  bool is_served(ParallelCall& call, Dataset& dataset, const TransferCall& request, const void* memory,
                 Transfer::Direction direction) const;
  // Before another rank looks or writes where one has written.
  void meet();

  const std::string path_;
  const int buffers_;
  Dice dice_;
  std::unique_ptr<Buffer> buffer_;
  Hid access_;
  Hid creation_;
  Hid collective_;
  Hid dataset_access_;
  Hid odd_;  // with what the engine refuses
  Hid odd_collective_;
  Hid native_{H5VLget_connector_id_by_value(H5_VOL_NATIVE)};
  bool collective_metadata_ = false;
  bool writable_ = true;
  bool pending_ = false;
  bool in_turns_ = false;
  bool whole_ = false;
  Hid file_id_;
  std::shared_ptr<ParallelFile> file_;
  std::map<std::string, Dataset> datasets_;
  int names_ = 0;
};

}  // namespace forebay::hdf5
