#include "tools/bench/sample_files.hpp"
#include "base/format.hpp"

#include <algorithm>

namespace forebay::kernels {

SampleFiles::SampleFiles(const Context& context, SampleSet set)
    : context_(context),
      job_(context.job),
      files_(context.job, context.world),
      set_(std::move(set)),
      dataset_(job_.text("records-dataset-name")) {}

std::string SampleFiles::path(std::uint64_t file) const {
  return format_text("{}.{}.{}", job_.path(), set_.name, file);
}

Hid SampleFiles::space(std::uint64_t row) const {
  const std::vector<hsize_t> extent{set_.samples_a_file, set_.sample};
  return row == Open::kNone ? box_of(extent, {0, 0}, {0, 0}) : box_of(extent, {row, 0}, {1, set_.sample});
}

bool SampleFiles::fit(std::uint64_t file) const {
  try {
    const auto opened = files_.open(path(file), false);
    return extent_of(open_dataset(opened.get(), dataset_).get()) ==
           std::vector<hsize_t>{set_.samples_a_file, set_.sample};
  } catch (const std::runtime_error&) {
    return false;
  }
}

Hid SampleFiles::create(hid_t file) const {
  const Hid properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make properties");
  const bool compressed = job_.flag("compression");
  if (compressed || job_.flag("chunking")) {
    const hsize_t chunk[] = {
        1, job_.flag("chunking") ? std::min(job_.count("chunk-size"), set_.sample) : set_.sample};
    must(H5Pset_chunk(properties.get(), 2, chunk), "choose chunks");
  }
  if (compressed)
    must(H5Pset_deflate(properties.get(), static_cast<unsigned>(job_.count("compression-level"))),
         "compress");
  const auto space = simple_space({set_.samples_a_file, set_.sample});
  return {H5Dcreate2(file, dataset_.c_str(), H5T_NATIVE_UINT8, space.get(), H5P_DEFAULT, properties.get(),
                     H5P_DEFAULT),
          H5Dclose, "create dataset " + dataset_};
}

void SampleFiles::make(std::uint64_t number, std::uint64_t rank, std::uint64_t ranks) const {
  auto& recorder = context_.recorder;
  // Several ranks may write what is compressed only together.
  const auto transfer = files_.transfer_properties(job_.flag("compression"));
  auto file = recorder.timed(Phase::kCreate, [&] { return files_.create(path(number)); });
  auto dataset = recorder.timed(Phase::kMetadata, [&] { return create(file.get()); });
  std::vector<std::uint8_t> data(set_.sample);
  for (std::uint64_t first = 0; first < set_.samples_a_file; first += ranks) {
    const auto mine = first + rank < set_.samples_a_file ? first + rank : Open::kNone;
    const auto bytes = mine == Open::kNone ? 0 : data.size();
    recorder.untimed([&] {
      if (bytes != 0)
        context_.fill(set_.name + "/" + dataset_, number * set_.samples_a_file + mine, 0, std::span(data));
    });
    recorder.transfer(Phase::kWrite, bytes, [&] {
      write_selected<std::uint8_t>(dataset.get(), space(mine).get(), transfer.get(),
                                   std::span(data).first(bytes));
    });
  }
  recorder.timed(Phase::kMetadata, [&] { dataset.close("close a dataset"); });
  recorder.timed(Phase::kClose, [&] { file.close("close " + path(number)); });
}

void SampleFiles::compare(std::uint64_t sample, std::span<const std::uint8_t> data) const {
  context_.checker.check<std::uint8_t>(set_.name + "/" + dataset_, sample, 0, data);
}

void SampleFiles::check() const {
  const Open open(*this, true);
  for (const auto& dataset : open.datasets_)
    expect_shape(context_.checker, dataset.get(), {set_.samples_a_file, set_.sample}, dataset_);
  std::vector<std::uint8_t> data(set_.sample);
  for (std::uint64_t i = 0; i < set_.samples(); ++i) {
    open.read(i, data);
    compare(i, data);
  }
}

SampleFiles::Open::Open(const SampleFiles& files, bool alone)
    : of_(&files), transfer_(files.files_.transfer_properties(!alone && files.job_.flag("COLLECTIVE_DATA"))) {
  for (std::uint64_t i = 0; i < files.set_.files; ++i) {
    files_.push_back(alone ? files.files_.open_alone(files.path(i))
                           : files.files_.open(files.path(i), false));
    datasets_.push_back(open_dataset(files_.back().get(), files.dataset_));
  }
}

void SampleFiles::Open::read_row(std::uint64_t file, std::uint64_t row, hid_t transfer,
                                 std::span<std::uint8_t> data) const {
  read_selected(datasets_[file].get(), of_->space(row).get(), transfer, data);
}

void SampleFiles::Open::read(std::uint64_t sample, std::span<std::uint8_t> data) const {
  const auto each = of_->set_.samples_a_file;
  read_row(sample / each, sample % each, H5P_DEFAULT, data);
}

void SampleFiles::Open::read_together(std::span<const std::uint64_t> samples, std::uint64_t rank,
                                      std::span<std::uint8_t> data) const {
  const auto each = of_->set_.samples_a_file;
  // Each file once, in the same order on all ranks.
  std::vector<std::uint64_t> files;
  for (const auto sample : samples) {
    if (sample != kNone && !std::ranges::contains(files, sample / each)) files.push_back(sample / each);
  }
  for (const auto file : files) {
    const bool mine = samples[rank] != kNone && samples[rank] / each == file;
    read_row(file, mine ? samples[rank] % each : kNone, transfer_.get(), mine ? data : data.first(0));
  }
}

void SampleFiles::Open::close() {
  for (auto& dataset : datasets_) dataset.close("close a dataset");
  for (auto& file : files_) file.close("close a file");
  datasets_.clear();
  files_.clear();
}

}  // namespace forebay::kernels
