#include "door/hdf5/parallel_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.hpp"

namespace forebay::hdf5 {
namespace {

constexpr std::uint64_t kEverything = ~std::uint64_t{0} >> 1;

// Why a file with these settings is HDF5's alone.
Status check_served(const std::string& path, const FileSettings& settings, bool writable) {
  if (settings.mode == Mode::Scratch || settings.mode == Mode::Bypass)
    return fail(ENOTSUP, path + " is not buffered: mode scratch or bypass, on the MPI-IO driver");
  if (writable && settings.admission_write == Admission::Never)
    return fail(ENOTSUP, path + " is not buffered: admission.write is never");
  return {};
}

// All that are open. HDF5's lock guards them; never freed.
std::vector<ParallelFile*>& open_files() {
  static auto* files = new std::vector<ParallelFile*>;
  return *files;
}

// Has a file been mounted in another since the program began? Names may lead from one to the other then.
bool any_mounts = false;

Result<std::shared_ptr<File>> open_beside(Buffer* buffer, const std::string& path, bool writable,
                                          const Adjustment& wished) {
  if (buffer == nullptr) return fail(ENOTCONN, "this process is not attached to a buffer");
  const auto adjust = [&](FileSettings& settings) {
    if (wished) wished(settings);
    if (!writable) return;
    // B3: only what H5Dwrite put there may lie in the buckets, whoever else reads the file.
    settings.written_past = true;
    settings.admission_read = Admission::Never;
    settings.readahead_max = 0;
    settings.pin = false;
    settings.prefetch_at_open = PrefetchAtOpen::None;
  };
  FOREBAY_ASSIGN(auto file, buffer->open(path, writable ? O_RDWR : O_RDONLY, 0666, adjust));
  FOREBAY_TRY(check_served(path, file->settings(), writable));
  return file;
}

}  // namespace

Status ParallelFile::settle(Buffer* buffer, const std::string& path, const Ranks& ranks) {
  Status mine;
  if (buffer != nullptr && ::access(path.c_str(), F_OK) == 0) {
    const auto bring_nothing = [](FileSettings& settings) {
      settings.pin = false;
      settings.prefetch_at_open = PrefetchAtOpen::None;
    };
    auto file = buffer->open(path, O_RDWR, 0666, bring_nothing);
    if (!file) file = buffer->open(path, O_RDONLY, 0666, bring_nothing);
    // A file that cannot be opened has nothing of ours, and HDF5 will say what is wrong with it.
    if (file) mine = (*file)->drain();
  }
  if (ranks.all(mine.has_value())) return {};
  if (!mine) return mine;
  return fail(EIO, format_text("another rank could not carry home what it has of {}", path));
}

Result<std::shared_ptr<ParallelFile>> ParallelFile::open(Buffer* buffer, const std::string& path,
                                                         bool writable, bool collective_metadata,
                                                         std::unique_ptr<Ranks> ranks,
                                                         const Adjustment& wished) {
  auto file = open_beside(buffer, path, writable, wished);
  if (!ranks->all(file.has_value())) {
    if (!file) return std::unexpected(std::move(file).error());
    return fail(ENOTSUP, format_text("{} is not buffered: another rank could not open it", path));
  }
  const auto check = buffer->core().control.header().check;
  std::shared_ptr<ParallelFile> opened(
      new ParallelFile(std::move(*file), writable, collective_metadata, std::move(ranks)));
  opened->several_buffers_ = !opened->ranks_->same(check);
  return opened;
}

ParallelFile::ParallelFile(std::shared_ptr<File> file, bool writable, bool collective_metadata,
                           std::unique_ptr<Ranks> ranks)
    : file_(std::move(file)),
      writable_(writable),
      collective_metadata_(collective_metadata),
      ranks_(std::move(ranks)) {
  open_files().push_back(this);
}

ParallelFile::~ParallelFile() { std::erase(open_files(), this); }

template <class Take>
void ParallelFile::for_each_neighbour(const Take& take) {
  for (auto* const file : open_files()) {
    if (ranks_->same_as(*file->ranks_)) take(*file);
  }
}

Status ParallelFile::agree(Status mine) const {
  const bool all = ranks_->all(mine.has_value());
  if (!mine || all) return mine;
  return fail(EIO, format_text("another rank could not carry its part of {} home", file_->path()));
}

void ParallelFile::gather() const { ranks_->barrier(); }

Status ParallelFile::flush() {
  // One rank may flush by itself what it only reads.
  if (!writable_) return any_mounts ? drain() : Status{};
  gather();
  auto home = file_->sync();
  if (any_mounts) {
    for_each_neighbour([&](const ParallelFile& file) {
      if (&file == this || !file.writable_) return;
      if (auto mine = file.file_->sync(); !mine && home) home = std::move(mine);
    });
  }
  FOREBAY_TRY(agree(std::move(home)));
  if (file_->settings().on_flush == OnFlush::Home) staged_.clear();
  if (several_buffers_) (void)file_->evict(0, kEverything);
  return {};
}

Status ParallelFile::close() {
  if (!writable_) return {};
  gather();
  return agree(file_->waits_at_close() ? file_->drain() : Status{});
}

Status ParallelFile::settle(Mind mind) {
  // One rank may read such a file by itself.
  if (!writable_) return drain(mind);
  gather();
  FOREBAY_TRY(agree(drain(mind)));
  for_each_neighbour([](ParallelFile& file) {
    if (!file.file_->unsaved()) file.staged_.clear();
  });
  forget();
  return {};
}

Status ParallelFile::settle_names() { return settle(any_mounts ? Mind::kNeighbours : Mind::kOwn); }

void ParallelFile::mounted() { any_mounts = true; }

void ParallelFile::unlinked() {
  for_each_neighbour([](ParallelFile& file) { ++file.unlinkings_; });
}

Status ParallelFile::drain(Mind mind) {
  Status status;
  for_each_neighbour([&](const ParallelFile& file) {
    if (!file.writable_) return;
    auto home = file.file_->drain();
    if (!home && status && (mind == Mind::kNeighbours || &file == this)) status = std::move(home);
  });
  return status;
}

void ParallelFile::forget() {
  (void)file_->evict(0, kEverything);
  for_each_neighbour([](const ParallelFile& file) {
    if (file.writable_) (void)file.file_->evict(0, kEverything);
  });
}

HeldDrain::HeldDrain(ParallelFile* file, Ends ends) : file_(file), ends_(ends) {
  if (file_ == nullptr) return;
  file_->for_each_neighbour([&](const ParallelFile& each) {
    each.file_->hold_drain();
    held_.push_back(each.file_);
  });
  if (ends_ == Ends::kTogether) file_->ranks_->barrier();
}

HeldDrain::~HeldDrain() {
  if (file_ == nullptr) return;
  if (ends_ == Ends::kTogether) file_->ranks_->barrier();
  for (const auto& each : held_) each->let_drain_go();
}

Status ParallelFile::write(std::uint64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    FOREBAY_ASSIGN(const auto taken, file_->write(offset, data));
    offset += taken;
    data = data.subspan(taken);
  }
  return {};
}

Status ParallelFile::read(std::uint64_t offset, std::span<std::byte> out) {
  FOREBAY_ASSIGN(const auto got, file_->read(offset, out));
  if (got == out.size()) return {};
  // B5: HDF5 makes the file longer behind the engine's back.
  out = out.subspan(got);
  FOREBAY_ASSIGN(const auto more, file_->home().read(out.data(), out.size(), offset + got));
  std::memset(out.data() + more, 0, out.size() - more);
  return {};
}

}  // namespace forebay::hdf5
