#include "hdf5/matrix/scenario.hpp"

#include <array>
#include <optional>

namespace forebay::testing::matrix {
namespace {

constexpr std::array<hsize_t, 2> kDims{12, 14};
constexpr std::array<hsize_t, 2> kExtended{17, 19};
constexpr std::array<hsize_t, 2> kShrunk{7, 10};

// HDF5 1.14 crashes on variable-length elements in virtual datasets and does not convert what is written to
// them; with references it writes bytes of no meaning into external files. None of it comes out the same
// twice.
bool is_virtual(const Layout& layout) { return std::string_view(layout.name) == "virtual"; }
bool beyond_hdf5(const Layout& layout, const Kind& kind) {
  return (is_virtual(layout) || std::string_view(layout.name) == "external") && needs_reclaim(kind.in_file);
}

struct Case {
  std::string name;
  const Kind* kind;
  const Layout* layout;
  Shape shape;
  std::uint64_t number;
  std::array<hsize_t, 2> dims;
  Id dataset;

  [[nodiscard]] hid_t written(unsigned version) const {
    if (is_virtual(*layout)) return kind->in_file;
    return version == 0 ? kind->written : kind->rewritten;
  }
  [[nodiscard]] hid_t read() const { return is_virtual(*layout) ? kind->in_file : kind->read; }
};

class Scenario {
 public:
  // Of datatypes with pointers or of those without: HDF5 puts bytes of no meaning into the file with the
  // former.
  Scenario(Session& session, bool pointers)
      : session_(session),
        log_(session.log),
        pointers_(pointers),
        name_(pointers ? "heap.h5" : "matrix.h5"),
        kinds_(all_kinds()),
        layouts_(all_layouts()) {}
  void run();
  // Opens what another session's run() made, to read only.
  void run_reading();

 private:
  void choose();
  void make_targets();
  void create(Case& one);
  void write(Case& one, unsigned version);
  void read(Case& one, const char* when, std::optional<unsigned> version = {});
  void read_all(const char* when, std::optional<unsigned> version = {});
  void look(Case& one);
  void extend_and_shrink();
  void replace();
  void copy();
  void reopen();
  // Ranks see each other's writes after this.
  void settle(bool flush);

  Session& session_;
  Log& log_;
  const bool pointers_;
  const std::string name_;
  std::vector<Kind> kinds_;
  std::vector<Layout> layouts_;
  std::vector<Case> cases_;
};

// Every layout meets every type; the selection turns with them and with the seed, so that runs with other
// seeds and drivers meet the rest.
void Scenario::choose() {
  const auto thin = session_.options.thin;
  const auto seed = session_.options.seed;
  std::size_t index = 0;
  for (std::size_t l = 0; l < layouts_.size(); ++l) {
    for (std::size_t k = 0; k < kinds_.size(); ++k, ++index) {
      if ((index + seed) % thin != 0 || needs_reclaim(kinds_[k].in_file) != pointers_) continue;
      if (beyond_hdf5(layouts_[l], kinds_[k])) continue;
      const auto shape = static_cast<Shape>((l + index / thin + seed) % kShapes);
      cases_.push_back({std::format("{}-{}-{}", layouts_[l].name, kinds_[k].name,
                                    kShapeNames[static_cast<unsigned>(shape)]),
                        &kinds_[k], &layouts_[l], shape, mix(seed, index), kDims, Id()});
    }
  }
}

void Scenario::make_targets() {
  const Id group = session_.make_group(session_.file, "/targets");
  const Id inner = session_.make_group(session_.file, kTargets[0]);
  const hsize_t eight = 8;
  const Id space(H5Screate_simple(1, &eight, nullptr));
  const Id data(H5Dcreate2(session_.file, kTargets[1], H5T_STD_I32LE, space, H5P_DEFAULT,
                           session_.dataset_creation, H5P_DEFAULT));
  const Id type(H5Tcopy(H5T_STD_I16BE));
  const Id tcpl(H5Pcreate(H5P_DATATYPE_CREATE));
  H5Pset_obj_track_times(tcpl, false);
  log_.line("targets: {} {} {} {}", group.good(), inner.good(), data.good(),
            H5Tcommit2(session_.file, kTargets[2], type, H5P_DEFAULT, tcpl, H5P_DEFAULT));
}

void Scenario::create(Case& one) {
  const Id dcpl(H5Pcopy(session_.dataset_creation));
  // Without this, what is never written would be what somebody else left there.
  H5Pset_fill_time(dcpl, H5D_FILL_TIME_ALLOC);
  const bool set = one.layout->set(session_.file, dcpl, *one.kind, one.name, one.dims.data());
  if (one.number % 2 == 0 && H5Tget_class(one.kind->in_file) == H5T_INTEGER) {
    const std::int32_t value = static_cast<std::int32_t>(one.number >> 50);
    H5Pset_fill_value(dcpl, H5T_NATIVE_INT32, &value);
  }
  const std::array<hsize_t, 2> most{one.layout->extendible ? H5S_UNLIMITED : one.dims[0],
                                    one.layout->extendible ? H5S_UNLIMITED : one.dims[1]};
  const Id space(H5Screate_simple(2, one.dims.data(), most.data()));
  one.dataset = Id(
      H5Dcreate2(session_.file, one.name.c_str(), one.kind->in_file, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
  log_.line("{} create: {} {}", one.name, set, one.dataset.good());
  // HDF5 writes fill values after its own last meeting of the ranks: they would race with the first writes.
  settle(false);
}

void Scenario::write(Case& one, unsigned version) {
  if (!one.dataset.good()) return;
  const auto number = mix(one.number, version);
  // A compact dataset is metadata: ranks that share it write the same.
  const bool together = std::string_view(one.layout->name) == "compact";
  const auto peers = static_cast<hsize_t>(together ? 1 : session_.ranks.peers());
  const auto peer = static_cast<hsize_t>(together ? 0 : session_.ranks.peer());
  // HDF5 hangs when ranks write to a virtual dataset that they share.
  if (peers > 1 && is_virtual(*one.layout)) return;
  // It also hangs on some later writes to filtered chunks that were written before.
  if (peers > 1 && one.layout->filtered && version > 1) return;
  // Ranks have different amounts to do, where they may. (The first write to a filtered dataset allocates.)
  if (peers > 1 && !session_.collective() && !one.layout->filtered && mix(number, peer) % 4 == 0) return;
  const Id chosen = select(one.shape, one.dims.data(), one.dims[0] * peer / peers,
                           one.dims[0] * (peer + 1) / peers, number);
  const Id memory = memory_for(static_cast<hsize_t>(H5Sget_select_npoints(chosen)), number);
  const bool all = one.shape == Shape::kAll && peers == 1;
  const hid_t type = one.written(version);
  Elements elements(session_.file, type, all ? H5S_ALL : hid_t{memory}, chosen);
  elements.fill_all(mix(number, peer));
  const auto code = H5Dwrite(one.dataset, type, all ? H5S_ALL : hid_t{memory}, all ? H5S_ALL : hid_t{chosen},
                             session_.transfer, elements.data());
  log_.line("{} write {}: {} of {}", one.name, version, code, H5Sget_select_npoints(chosen));
}

// The whole dataset, or with a version what a write of that version chose in it on all ranks.
void Scenario::read(Case& one, const char* when, std::optional<unsigned> version) {
  if (!one.dataset.good()) return;
  const auto number = mix(one.number, version.value_or(0));
  const Id whole(H5Dget_space(one.dataset));
  const Id chosen = version ? select(one.shape, one.dims.data(), 0, one.dims[0], number) : Id(H5Scopy(whole));
  const Id memory = memory_for(static_cast<hsize_t>(H5Sget_select_npoints(chosen)), number + 1);
  Elements elements(session_.file, one.read(), version ? hid_t{memory} : H5S_ALL, whole);
  const auto code = H5Dread(one.dataset, one.read(), version ? hid_t{memory} : H5S_ALL,
                            version ? hid_t{chosen} : H5S_ALL, session_.transfer, elements.data());
  if (code < 0) elements.give_up();
  log_.line("{} read {}: {} {:016x} of {}", one.name, when, code, code < 0 ? 0 : elements.reduced(),
            H5Sget_select_npoints(chosen));
}

void Scenario::read_all(const char* when, std::optional<unsigned> version) {
  for (auto& one : cases_) read(one, when, version);
}

void Scenario::settle(bool flush) {
  if (flush) log_.line("flush: {}", H5Fflush(session_.file, H5F_SCOPE_LOCAL));
  session_.ranks.barrier();
}

void Scenario::look(Case& one) {
  if (!one.dataset.good() || pointers_) return;
  H5D_space_status_t status{};
  const auto asked = H5Dget_space_status(one.dataset, &status);
  hsize_t chunks = 0;
  const Id space(H5Dget_space(one.dataset));
  const bool chunked = H5Dget_num_chunks(one.dataset, space, &chunks) >= 0;
  log_.line("{} look: status {} {}, stored {}, offset {}, chunks {} {}", one.name, asked,
            static_cast<int>(status), H5Dget_storage_size(one.dataset), H5Dget_offset(one.dataset), chunked,
            chunks);
}

void Scenario::extend_and_shrink() {
  for (auto& one : cases_) {
    if (!one.dataset.good() || one.number % 3 == 0) continue;
    const auto grown = H5Dset_extent(one.dataset, kExtended.data());
    log_.line("{} extend: {}", one.name, grown);
    if (grown < 0) continue;
    one.dims = kExtended;
    settle(false);
    write(one, 2);
    settle(false);
    read(one, "extended");
    settle(false);
    log_.line("{} shrink: {}", one.name, H5Dset_extent(one.dataset, kShrunk.data()));
    one.dims = kShrunk;
    // Between ranks, HDF5 shows old bytes where a chunk was cut until a flush has written what it keeps of
    // it.
    settle(session_.ranks.peers() > 1);
    read(one, "shrunk");
    settle(false);
    log_.line("{} grow: {}", one.name, H5Dset_extent(one.dataset, kDims.data()));
    one.dims = kDims;
    settle(false);
    read(one, "grown");
    settle(false);
    write(one, 3);
    settle(false);
    read(one, "grown and written");
    settle(false);
  }
}

// Deletes a third of the datasets, and puts others into the space they leave.
void Scenario::replace() {
  for (std::size_t i = 0; i < cases_.size(); i += 3) {
    auto& one = cases_[i];
    if (!one.dataset.good()) continue;
    write(one, 4);
    // A late write of another rank would land in what is made next.
    settle(false);
    log_.line("{} close: {}", one.name, one.dataset.close());
    log_.line("{} delete: {}", one.name, H5Ldelete(session_.file, one.name.c_str(), H5P_DEFAULT));
    auto& other = cases_[(i + 1) % cases_.size()];
    one = {"again-" + other.name, other.kind, other.layout, other.shape, mix(one.number), kDims, Id()};
    create(one);
    write(one, 5);
    settle(false);
    read(one, "in freed space");
    settle(false);
  }
}

void Scenario::copy() {
  const auto before = cases_.size();
  for (std::size_t i = 1; i < before; i += 5) {
    auto& one = cases_[i];
    if (!one.dataset.good()) continue;
    write(one, 6);
    settle(false);
    const auto name = "copy-" + one.name;
    const auto code =
        H5Ocopy(session_.file, one.name.c_str(), session_.file, name.c_str(), H5P_DEFAULT, H5P_DEFAULT);
    log_.line("{} copy: {}", one.name, code);
    Case twin{name,
              one.kind,
              one.layout,
              one.shape,
              one.number,
              one.dims,
              Id(H5Dopen2(session_.file, name.c_str(), H5P_DEFAULT))};
    read(twin, "copied");
    settle(false);
    if (one.layout->name != std::string_view("external")) write(twin, 7);
    settle(false);
    read(one, "after its copy was written");
    settle(false);
    cases_.push_back(std::move(twin));
  }
}

void Scenario::reopen() {
  for (const unsigned flags : {H5F_ACC_RDONLY, H5F_ACC_RDWR}) {
    for (auto& one : cases_) {
      if (one.dataset.good()) log_.line("{} close: {}", one.name, one.dataset.close());
    }
    session_.close_file();
    session_.ranks.barrier();
    session_.open_file(name_, flags);
    for (auto& one : cases_) one.dataset = Id(H5Dopen2(session_.file, one.name.c_str(), H5P_DEFAULT));
    read_all("opened again");
    read_all("opened again", 1);
    for (auto& one : cases_) look(one);
    if (flags == H5F_ACC_RDONLY) continue;
    settle(false);
    for (auto& one : cases_) write(one, 8);
    settle(false);
    read_all("written after opening");
    settle(false);
  }
  for (auto& one : cases_) one.dataset.close();
}

void Scenario::run() {
  choose();
  session_.create_file(name_);
  make_targets();
  for (auto& one : cases_) create(one);
  read_all("before any write");
  settle(false);
  for (auto& one : cases_) write(one, 0);
  settle(false);
  read_all("written");
  read_all("written", 0);
  settle(true);
  for (auto& one : cases_) write(one, 1);
  settle(true);
  read_all("overwritten");
  for (auto& one : cases_) look(one);
  settle(false);
  extend_and_shrink();
  replace();
  copy();
  settle(true);
  reopen();
  session_.close_file();
}

void Scenario::run_reading() {
  choose();
  session_.open_file(name_, H5F_ACC_RDONLY);
  for (auto& one : cases_) one.dataset = Id(H5Dopen2(session_.file, one.name.c_str(), H5P_DEFAULT));
  read_all("by all");
  read_all("by all", 1);
  for (auto& one : cases_) one.dataset.close();
  session_.close_file();
}

// Ranks that share a file cannot write elements with pointers (HDF5 says so): one of them writes, all read.
void run_pointers_in_parallel(Session& session) {
  if (session.ranks.peer() == 0) {
    Options options = session.options;
    options.driver = "sec2";
    const Ranks alone = session.ranks.alone();
    Session writer(options, alone, "log.writer");
    Scenario(writer, true).run();
  }
  session.ranks.barrier();
  Scenario(session, true).run_reading();
}

// The parts of virtual datasets that lie in another file: one dataset of each kind.
void make_source(Session& session) {
  session.create_file("source.h5");
  const std::array<hsize_t, 2> half{kDims[0] / 2, kDims[1]};
  const Id space(H5Screate_simple(2, half.data(), nullptr));
  for (const auto& kind : all_kinds()) {
    const Id block(H5Dcreate2(session.file, kind.name.c_str(), kind.in_file, space, H5P_DEFAULT,
                              session.dataset_creation, H5P_DEFAULT));
    if (session.ranks.peer() != 0 || needs_reclaim(kind.written)) continue;
    Elements elements(session.file, kind.written, H5S_ALL, space);
    elements.fill_all(5);
    H5Dwrite(block, kind.written, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements.data());
  }
}

}  // namespace

void run_matrix(Session& session) {
  make_source(session);
  session.close_file();
  Scenario(session, false).run();
  if (session.ranks.peers() > 1) {
    // Where metadata is read collectively, each rank's look into a heap waits for the others.
    if (!session.options.collective_metadata) run_pointers_in_parallel(session);
  } else if (session.options.format != "pagebuffer") {
    // With a page buffer HDF5 itself loses datasets of that file, and not always the same.
    Scenario(session, true).run();
  }
}

}  // namespace forebay::testing::matrix
