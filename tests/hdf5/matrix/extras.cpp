#include <algorithm>
#include <array>
#include <numeric>

#include "hdf5/matrix/scenario.hpp"

namespace forebay::testing::matrix {
namespace {

// HDF5 2 wants to know how much room there is.
herr_t read_chunk(hid_t data, const hsize_t* at, std::uint32_t& mask, std::vector<std::int32_t>& chunk) {
#if H5_VERSION_GE(2, 0, 0)
  std::size_t room = chunk.size() * sizeof(std::int32_t);
  return H5Dread_chunk2(data, H5P_DEFAULT, at, &mask, chunk.data(), &room);
#else
  return H5Dread_chunk(data, H5P_DEFAULT, at, &mask, chunk.data());
#endif
}

class Extras {
 public:
  explicit Extras(Session& session) : session_(session), log_(session.log) {}
  void run();

 private:
  void attributes();
  void links();
  void odd_spaces();
  void chunks_by_hand();
  void several_at_once();
  void event_set();
  void large(const char* name, bool chunked);
  void transform();
  void flush_objects();
  void twice_opened();
  void mounted();
  void whole_file();

  [[nodiscard]] bool alone() const { return session_.options.driver != "mpio"; }
  [[nodiscard]] Id dataset(const char* name, hid_t type, std::vector<hsize_t> dims,
                           std::vector<hsize_t> chunk = {});
  // Writes rows of a dataset of integers that belong to this rank, and reads it all.
  void write_rows(hid_t into, std::vector<hsize_t> dims, std::uint64_t number, const char* what);
  void read_all(hid_t from, std::size_t count, const char* what);
  void meet() { session_.ranks.barrier(); }

  Session& session_;
  Log& log_;
};

Id Extras::dataset(const char* name, hid_t type, std::vector<hsize_t> dims, std::vector<hsize_t> chunk) {
  const Id dcpl(H5Pcopy(session_.dataset_creation));
  std::vector<hsize_t> most = dims;
  if (!chunk.empty()) {
    H5Pset_chunk(dcpl, static_cast<int>(chunk.size()), chunk.data());
    most[0] = H5S_UNLIMITED;
  }
  const Id space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), most.data()));
  Id made(H5Dcreate2(session_.file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT));
  log_.line("{}: {}", name, made.good());
  meet();
  return made;
}

void Extras::write_rows(hid_t into, std::vector<hsize_t> dims, std::uint64_t number, const char* what) {
  const auto peers = static_cast<hsize_t>(session_.ranks.peers());
  const auto peer = static_cast<hsize_t>(session_.ranks.peer());
  std::vector<hsize_t> start(dims.size());
  std::vector<hsize_t> count = dims;
  start[0] = dims[0] * peer / peers;
  count[0] = dims[0] * (peer + 1) / peers - start[0];
  const auto points = std::accumulate(count.begin(), count.end(), hsize_t{1}, std::multiplies<>());
  const Id chosen(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
  H5Sselect_hyperslab(chosen, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  const Id memory(H5Screate_simple(1, &points, nullptr));
  std::vector<std::int32_t> data(points);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<std::int32_t>(mix(number + peer, i) >> 33);
  log_.line("{}: {}", what, H5Dwrite(into, H5T_NATIVE_INT32, memory, chosen, session_.transfer, data.data()));
  // The caller's memory is its own again.
  std::ranges::fill(data, -1);
}

void Extras::read_all(hid_t from, std::size_t count, const char* what) {
  meet();
  std::vector<std::int32_t> data(count, 0x5a5a5a5a);
  const auto code = H5Dread(from, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, session_.transfer, data.data());
  Digest digest;
  digest.add(data.data(), data.size() * sizeof(data[0]));
  log_.line("{}: {} {:016x}", what, code, digest.value());
  meet();
}

void Extras::attributes() {
  const auto kinds = all_kinds();
  const Id group = session_.make_group(session_.file, "attributes");
  const Id data = dataset("attributed", H5T_STD_I32LE, {4});
  for (const hid_t object : {hid_t{group}, hid_t{data}}) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const auto& kind = kinds[i];
      // Where ranks share a file, all of them write one attribute: the same bytes, so no heaps of their own.
      if (!alone() && needs_reclaim(kind.written)) continue;
      const hsize_t dims[] = {2, 1 + i % 3};
      const Id space(H5Screate_simple(2, dims, nullptr));
      const Id attribute(
          H5Acreate2(object, kind.name.c_str(), kind.in_file, space, H5P_DEFAULT, H5P_DEFAULT));
      Elements elements(session_.file, kind.written, H5S_ALL, space);
      elements.fill_all(i);
      const auto code = H5Awrite(attribute, kind.written, elements.data());
      Elements back(session_.file, kind.read, H5S_ALL, space);
      const auto read = H5Aread(attribute, kind.read, back.data());
      log_.line("attribute {}: {} {} {} {:016x} {}", kind.name, attribute.good(), code, read, back.reduced(),
                H5Aget_storage_size(attribute));
    }
    log_.line("rename: {}, delete: {}, exists: {} {}", H5Arename(object, "i32", "number"),
              H5Adelete(object, "u8"), H5Aexists(object, "number"), H5Aexists(object, "u8"));
    H5O_info2_t info{};
    const auto asked = H5Oget_info3(object, &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS);
    log_.line("info: {} {} {}", asked, static_cast<int>(info.type), info.num_attrs);
  }
}

void Extras::links() {
  const Id top = session_.make_group(session_.file, "links");
  for (int i = 0; i < 40; ++i) {
    const auto name = std::format("group{}", mix(static_cast<std::uint64_t>(i)) % 1000);
    const Id group = session_.make_group(top, name);
    if (!group.good()) log_.line("{} is there already", name);
  }
  const Id dense(H5Pcreate(H5P_GROUP_CREATE));
  H5Pset_obj_track_times(dense, false);
  H5Pset_link_creation_order(dense, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_link_phase_change(dense, 3, 2);
  const Id ordered(H5Gcreate2(top, "ordered", H5P_DEFAULT, dense, H5P_DEFAULT));
  for (const char* name : {"z", "a", "m", "q", "b"}) {
    const Id group = session_.make_group(ordered, name);
  }
  log_.line("soft {}, hard {}, external {}, dangling {}",
            H5Lcreate_soft("/links/ordered", top, "soft", H5P_DEFAULT, H5P_DEFAULT),
            H5Lcreate_hard(top, "ordered", session_.file, "/hard", H5P_DEFAULT, H5P_DEFAULT),
            H5Lcreate_external("source.h5", "/i32", top, "external", H5P_DEFAULT, H5P_DEFAULT),
            H5Lcreate_soft("/nowhere", top, "dangling", H5P_DEFAULT, H5P_DEFAULT));
  log_.line("move {}, copy {}, delete {}", H5Lmove(ordered, "z", top, "moved", H5P_DEFAULT, H5P_DEFAULT),
            H5Lcopy(top, "soft", top, "soft2", H5P_DEFAULT, H5P_DEFAULT),
            H5Ldelete(ordered, "q", H5P_DEFAULT));
  for (const auto order : {H5_INDEX_NAME, H5_INDEX_CRT_ORDER}) {
    std::string names;
    const auto visit = [](hid_t, const char* name, const H5L_info2_t* info, void* all) -> herr_t {
      *static_cast<std::string*>(all) += std::format(" {}:{}", name, static_cast<int>(info->type));
      return 0;
    };
    const auto code =
        H5Literate2(order == H5_INDEX_NAME ? top : ordered, order, H5_ITER_INC, nullptr, visit, &names);
    log_.line("iterate: {}{}", code, names);
  }
  char name[128] = {};
  const Id through(H5Oopen(session_.file, "/links/soft/m", H5P_DEFAULT));
  const auto length = H5Iget_name(through, name, sizeof(name));
  log_.line("through a soft link: {} {} {}", through.good(), length, name);
  log_.line("exists: {} {} {}", H5Lexists(top, "external", H5P_DEFAULT), H5Lexists(top, "no", H5P_DEFAULT),
            H5Oexists_by_name(top, "dangling", H5P_DEFAULT));
  const Id elsewhere(H5Dopen2(top, "external", H5P_DEFAULT));
  log_.line("through an external link: {}", elsewhere.good());
  if (elsewhere.good()) read_all(elsewhere, 6 * 14, "external link");
  H5G_info_t info{};
  log_.line("group: {} {} {}", H5Gget_info(top, &info), info.nlinks, H5Ldelete(top, "dangling", H5P_DEFAULT));
}

void Extras::odd_spaces() {
  const Id scalar(H5Screate(H5S_SCALAR));
  const Id null(H5Screate(H5S_NULL));
  const Id one(H5Dcreate2(session_.file, "scalar", H5T_STD_I32BE, scalar, H5P_DEFAULT,
                          session_.dataset_creation, H5P_DEFAULT));
  const Id none(H5Dcreate2(session_.file, "null", H5T_STD_I32BE, null, H5P_DEFAULT, session_.dataset_creation,
                           H5P_DEFAULT));
  std::int32_t value = 77;
  log_.line("scalar: {}", H5Dwrite(one, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, session_.transfer, &value));
  log_.line("null: {}", H5Dwrite(none, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, session_.transfer, &value));
  read_all(one, 1, "scalar");
  read_all(none, 1, "null");
  const Id empty = dataset("empty", H5T_STD_I32LE, {0, 5}, {2, 5});
  read_all(empty, 1, "empty");
}

void Extras::chunks_by_hand() {
  if (!alone()) return;
  const Id data = dataset("by_hand", H5T_STD_I32LE, {8, 8}, {4, 4});
  std::vector<std::int32_t> chunk(16);
  for (hsize_t row = 0; row < 8; row += 4) {
    for (hsize_t column = 0; column < 8; column += 4) {
      const hsize_t at[] = {row, column};
      std::iota(chunk.begin(), chunk.end(), static_cast<std::int32_t>(row * 100 + column));
      log_.line("write chunk: {}", H5Dwrite_chunk(data, H5P_DEFAULT, 0, at, chunk.size() * 4, chunk.data()));
    }
  }
  read_all(data, 64, "chunks by hand");
  write_rows(data, {8, 8}, 3, "rows over them");
  const hsize_t at[] = {4, 0};
  std::uint32_t mask = 0;
  const auto code = read_chunk(data, at, mask, chunk);
  Digest digest;
  digest.add(chunk.data(), chunk.size() * 4);
  hsize_t bytes = 0;
  haddr_t address = 0;
  const auto asked = H5Dget_chunk_info_by_coord(data, at, &mask, &address, &bytes);
  log_.line("read chunk: {} {} {:016x} {} {} {}", code, mask, digest.value(), asked, address, bytes);
}

void Extras::several_at_once() {
  // HDF5 fails, and sometimes hangs, when ranks convert in such a call.
  const hid_t big = alone() ? H5T_STD_I32BE : H5T_STD_I32LE;
  const hid_t small = alone() ? H5T_STD_I16LE : H5T_STD_I32LE;
  std::array<Id, 4> made{dataset("multi0", H5T_STD_I32LE, {12, 5}), dataset("multi1", big, {12, 5}),
                         dataset("multi2", H5T_STD_I32LE, {12, 5}, {5, 2}),
                         dataset("multi3", small, {12, 5})};
  const auto peers = static_cast<hsize_t>(session_.ranks.peers());
  const auto peer = static_cast<hsize_t>(session_.ranks.peer());
  std::array<hid_t, 4> ids{};
  std::array<hid_t, 4> types{};
  std::array<hid_t, 4> memories{};
  std::array<hid_t, 4> spaces{};
  std::array<Id, 4> kept_memories;
  std::array<Id, 4> kept;
  std::array<std::vector<std::int32_t>, 4> data;
  std::array<const void*, 4> sources{};
  std::array<void*, 4> sinks{};
  const std::array<hsize_t, 2> dims{12, 5};
  for (std::size_t i = 0; i < 4; ++i) {
    kept[i] = select(static_cast<Shape>(i), dims.data(), 12 * peer / peers, 12 * (peer + 1) / peers, i);
    const auto points = static_cast<hsize_t>(H5Sget_select_npoints(kept[i]));
    kept_memories[i] = memory_for(points, 0);
    data[i].resize(points);
    for (std::size_t k = 0; k < points; ++k) data[i][k] = static_cast<std::int32_t>(mix(i + peer, k) >> 50);
    ids[i] = made[i];
    types[i] = H5T_NATIVE_INT32;
    memories[i] = kept_memories[i];
    spaces[i] = kept[i];
    sources[i] = sinks[i] = data[i].data();
  }
  log_.line("write several: {}", H5Dwrite_multi(4, ids.data(), types.data(), memories.data(), spaces.data(),
                                                session_.transfer, sources.data()));
  meet();
  for (auto& one : data) std::ranges::fill(one, 0);
  const auto code = H5Dread_multi(4, ids.data(), types.data(), memories.data(), spaces.data(),
                                  session_.transfer, sinks.data());
  Digest digest;
  for (const auto& one : data) digest.add(one.data(), one.size() * 4);
  log_.line("read several: {} {:016x}", code, digest.value());
  for (const auto& one : made) read_all(one, 60, "several at once");
}

void Extras::event_set() {
  const Id events(H5EScreate());
  const hsize_t size = 1000;
  const Id space(H5Screate_simple(1, &size, nullptr));
  const Id data(H5Dcreate_async(session_.file, "events", H5T_STD_I32LE, space, H5P_DEFAULT,
                                session_.dataset_creation, H5P_DEFAULT, events));
  std::vector<std::int32_t> values(size);
  std::iota(values.begin(), values.end(), 5);
  std::vector<std::int32_t> back(size);
  std::size_t left = 0;
  hbool_t failed = false;
  const auto made = H5ESwait(events, H5ES_WAIT_FOREVER, &left, &failed);
  log_.line("made by events: {} left {} failed {}", made, left, failed);
  meet();
  // Ranks that share a file write the same.
  const auto written =
      H5Dwrite_async(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, session_.transfer, values.data(), events);
  const auto waited = H5ESwait(events, H5ES_WAIT_FOREVER, &left, &failed);
  log_.line("write by events: {} {} left {} failed {}", written, waited, left, failed);
  meet();
  const auto read =
      H5Dread_async(data, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, session_.transfer, back.data(), events);
  const auto done = H5ESwait(events, H5ES_WAIT_FOREVER, &left, &failed);
  log_.line("read by events: {} {} left {} failed {} same {}", read, done, left, failed, back == values);
  const auto flushed = H5Fflush_async(session_.file, H5F_SCOPE_LOCAL, events);
  log_.line("flush by events: {} {}", flushed, H5ESwait(events, H5ES_WAIT_FOREVER, &left, &failed));
}

void Extras::large(const char* name, bool chunked) {
  const std::vector<hsize_t> dims{96, 8192};
  const Id data =
      chunked ? dataset(name, H5T_STD_I32LE, dims, {24, 4096}) : dataset(name, H5T_STD_I32LE, dims);
  write_rows(data, dims, 1, "large");
  read_all(data, 96 * 8192, "large");
  write_rows(data, dims, 2, "large again");
  // Columns: many small pieces, far from each other.
  const auto peers = static_cast<hsize_t>(session_.ranks.peers());
  const auto peer = static_cast<hsize_t>(session_.ranks.peer());
  const Id space(H5Dget_space(data));
  const hsize_t start[] = {96 * peer / peers, 3};
  const hsize_t stride[] = {1, 64};
  const hsize_t count[] = {96 * (peer + 1) / peers - start[0], 100};
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count, nullptr);
  const hsize_t points = count[0] * count[1];
  const Id memory(H5Screate_simple(1, &points, nullptr));
  const std::vector<std::int32_t> values(points, 12345);
  log_.line("columns: {}", H5Dwrite(data, H5T_NATIVE_INT32, memory, space, session_.transfer, values.data()));
  read_all(data, 96 * 8192, "columns");
  if (!chunked) return;
  const hsize_t more[] = {130, 8192};
  log_.line("extend: {}", H5Dset_extent(data, more));
  read_all(data, 130 * 8192, "extended");
  const hsize_t less[] = {50, 8192};
  log_.line("shrink: {}", H5Dset_extent(data, less));
  read_all(data, 50 * 8192, "shrunk");
}

void Extras::transform() {
  const Id data = dataset("transformed", H5T_IEEE_F64LE, {20});
  const Id dxpl(H5Pcopy(session_.transfer));
  H5Pset_data_transform(dxpl, "(x + 3) * 2");
  H5Pset_buffer(dxpl, 128, nullptr, nullptr);
  std::vector<double> values(20);
  std::iota(values.begin(), values.end(), -4.0);
  const auto written = H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, dxpl, values.data());
  meet();
  const auto read = H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, session_.transfer, values.data());
  log_.line("transform: {} {} {} {}", written, read, values.front(), values.back());
}

void Extras::flush_objects() {
  const Id data = dataset("flushed", H5T_STD_I32LE, {6, 6}, {3, 3});
  write_rows(data, {6, 6}, 9, "before a flush");
  meet();
  log_.line("flush dataset: {}", H5Dflush(data));
  log_.line("refresh dataset: {}", alone() ? H5Drefresh(data) : 0);
  read_all(data, 36, "flushed");
  log_.line("flush group: {}", H5Oflush(session_.file));
}

void Extras::twice_opened() {
  const Id again(H5Freopen(session_.file));
  const Id data(H5Dopen2(again, "multi0", H5P_DEFAULT));
  write_rows(data, {12, 5}, 21, "through the second file");
  const Id first(H5Dopen2(session_.file, "multi0", H5P_DEFAULT));
  read_all(first, 60, "through the first file");
  const Id copied(H5Fopen(session_.path("extras.h5").c_str(), H5F_ACC_RDWR, session_.access));
  log_.line("opened while open: {}", copied.good());
  if (!copied.good()) return;
  const Id third(H5Dopen2(copied, "multi0", H5P_DEFAULT));
  read_all(third, 60, "through the third file");
  write_rows(third, {12, 5}, 22, "through the third file");
  read_all(first, 60, "through the first file");
}

void Extras::mounted() {
  if (!alone()) return;
  const Id child(
      H5Fcreate(session_.path("child.h5").c_str(), H5F_ACC_TRUNC, session_.creation, session_.access));
  const Id point = session_.make_group(session_.file, "mount");
  log_.line("mount: {}", H5Fmount(session_.file, "mount", child, H5P_DEFAULT));
  {
    const Id data = dataset("mount/inside", H5T_STD_I32LE, {4});
    write_rows(data, {4}, 1, "inside");
    read_all(data, 4, "inside");
  }
  log_.line("unmount: {}", H5Funmount(session_.file, "mount"));
}

void Extras::whole_file() {
  unsigned intent = 0;
  char name[64] = {};
  const auto asked = H5Fget_intent(session_.file, &intent);
  log_.line("intent: {} {}, accessible: {}", asked, intent,
            H5Fis_accessible(session_.path("extras.h5").c_str(), session_.access));
  log_.line("not accessible: {}", H5Fis_accessible("log.0", session_.access));
  log_.line("name: {} {}", H5Fget_name(session_.file, name, sizeof(name)), name);
  hsize_t bytes = 0;
  const auto known = H5Fget_filesize(session_.file, &bytes);
  log_.line("size: {} {}, free: {}", known, bytes, H5Fget_freespace(session_.file));
  const Id fcpl(H5Fget_create_plist(session_.file));
  const Id fapl(H5Fget_access_plist(session_.file));
  hsize_t userblock = 0;
  H5Pget_userblock(fcpl, &userblock);
  log_.line("lists: {} {} {}", fcpl.good(), fapl.good(), userblock);
  if (!alone()) return;
  H5Fflush(session_.file, H5F_SCOPE_GLOBAL);
  const auto size = H5Fget_file_image(session_.file, nullptr, 0);
  std::vector<std::byte> image(size > 0 ? static_cast<std::size_t>(size) : 0);
  const auto got = size > 0 ? H5Fget_file_image(session_.file, image.data(), image.size()) : -1;
  Digest digest;
  digest.add(image.data(), image.size());
  log_.line("image: {} {} {:016x}", size, got, digest.value());
}

void Extras::run() {
  session_.create_file("extras.h5");
  attributes();
  links();
  odd_spaces();
  chunks_by_hand();
  several_at_once();
  event_set();
  large("large", false);
  large("large_chunks", true);
  transform();
  flush_objects();
  twice_opened();
  mounted();
  whole_file();
  session_.close_file();
  // Attributes and strings of a file that others have open are theirs; a second opening of the same name is
  // not.
  session_.open_file("extras.h5", H5F_ACC_RDWR);
  const Id large_data(H5Dopen2(session_.file, "large", H5P_DEFAULT));
  read_all(large_data, 96 * 8192, "large, opened again");
  log_.line("no such file: {}", Id(H5Fopen("nothing.h5", H5F_ACC_RDONLY, session_.access)).good());
  log_.line("no HDF5 file: {}", Id(H5Fopen("log.0", H5F_ACC_RDONLY, session_.access)).good());
}

}  // namespace

void run_extras(Session& session) {
  Extras(session).run();
  session.close_file();
}

}  // namespace forebay::testing::matrix
