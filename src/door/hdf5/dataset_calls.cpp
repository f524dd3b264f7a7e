#include <hdf5.h>

#include <H5VLnative.h>

#include <type_traits>
#include <vector>

#include "base/format.hpp"
#include "door/hdf5/calls.hpp"
#include "door/hdf5/control_calls.hpp"
#include "door/hdf5/dataset_object.hpp"
#include "door/hdf5/error_stack.hpp"
#include "door/hdf5/forward.hpp"
#include "door/hdf5/guarded.hpp"
#include "door/hdf5/home_request.hpp"
#include "door/hdf5/native_dataset.hpp"
#include "door/hdf5/operation_numbers.hpp"
#include "door/hdf5/parallel_call.hpp"
#include "door/hdf5/prefetch.hpp"
#include "door/hdf5/reuse.hpp"

namespace forebay::hdf5 {
namespace {
namespace datasets {

void* create(void* place, const H5VL_loc_params_t* where, const char* name, hid_t lcpl, hid_t type,
             hid_t space, hid_t dcpl, hid_t dapl, hid_t dxpl, void** request) {
  const auto file = object(place).file;
  const auto& parallel = file->parallel();
  void* under = nullptr;
  {
    const HeldDrain held(parallel && fills_chunks(dcpl) ? parallel.get() : nullptr);
    under = H5VLdataset_create(object(place).under, where, file->connector(), name, lcpl, type, space, dcpl,
                               dapl, dxpl, request);
  }
  adopt(request, file);
  if (parallel && name == nullptr) parallel->unlinked();  // until it gets a link
  return under == nullptr ? nullptr : static_cast<Object*>(new DatasetObject(under, file));
}

void* open(void* place, const H5VL_loc_params_t* where, const char* name, hid_t dapl, hid_t dxpl,
           void** request) {
  const auto file = object(place).file;
  void* const under =
      H5VLdataset_open(object(place).under, where, file->connector(), name, dapl, dxpl, request);
  adopt(request, file);
  if (under == nullptr) return nullptr;
  auto* const opened = new DatasetObject(under, file);
  prefetch_at_open(*opened);
  return static_cast<Object*>(opened);
}

void note_refusal(DatasetObject& one, Reason why) {
  if (std::exchange(one.noted, true)) return;
  one.file->note_passed(format_text("HDF5 on MPI-IO: {}", words(why)));
}

// What several datasets are handed in one call.
template <class Data>
struct OneCall {
  std::vector<void*> under{};
  std::vector<hid_t> memory_types{}, memory_spaces{}, file_spaces{};
  std::vector<Data*> data{};

  void add(void* dataset, hid_t memory_type, hid_t memory_space, hid_t file_space, Data* memory) {
    under.push_back(dataset);
    memory_types.push_back(memory_type);
    memory_spaces.push_back(memory_space);
    file_spaces.push_back(file_space);
    data.push_back(memory);
  }
};

// Will HDF5 refuse the call for one of its datasets? Then it must find nothing moved.
bool refused(size_t count, void* handles[], hid_t memory_spaces[], hid_t file_spaces[]) {
  for (size_t i = 0; i < count; ++i) {
    // H5S_ALL and its like are no dataspaces.
    const bool both = memory_spaces[i] > H5S_PLIST && file_spaces[i] > H5S_PLIST;
    if (handles[i] != nullptr && both &&
        (H5Sselect_valid(file_spaces[i]) <= 0 ||
         H5Sget_select_npoints(memory_spaces[i]) != H5Sget_select_npoints(file_spaces[i]))) {
      return true;
    }
  }
  return false;
}

Status carry_out(ParallelCall& call, size_t index, const void* data) { return call.write(index, data); }
Status carry_out(ParallelCall& call, size_t index, void* data) { return call.read(index, data); }

// Of a file that the engine serves: what it can is moved through it, one dataset after the other, and the
// rest by one native call, which all ranks make if it is collective.
template <auto Native, class Data>
herr_t move(ParallelFile& served, size_t count, void* handles[], hid_t memory_types[], hid_t memory_spaces[],
            hid_t file_spaces[], hid_t dxpl, Data* data[], void** request) {
  constexpr bool kWrites = std::is_const_v<Data>;
  constexpr auto kDirection = kWrites ? Transfer::Direction::kWrite : Transfer::Direction::kRead;
  ParallelCall call(served, dxpl);
  const bool together = call.collective();
  for (size_t i = 0; i < count; ++i) {
    call.add(*dataset(handles[i]).parallel(), {memory_types[i], memory_spaces[i], file_spaces[i], dxpl},
             data[i], kDirection);
  }
  if (count > 1 && refused(count, handles, memory_spaces, file_spaces)) call.refuse_all();
  Status failure = call.agree();
  const bool agreed = failure.has_value();
  OneCall<Data> rest;
  // HDF5 tells of a collective call what it finds in it: there, what was served stands with nothing selected.
  const bool stand_ins = together && call.partly_served() && !is_default_list(dxpl);
  std::vector<Hid> nothing;
  for (size_t i = 0; agreed && i < count; ++i) {
    auto& one = dataset(handles[i]);
    if (stand_ins && call.serves(i)) {
      const auto& none = nothing.emplace_back(ask(one.under, one.vol(), H5VL_DATASET_GET_SPACE));
      H5Sselect_none(none.get());
      rest.add(one.under, memory_types[i], none.get(), none.get(), data[i]);
    }
    if (!call.serves(i)) {
      note_refusal(one, call.why_not(i));
      rest.add(one.under, memory_types[i], memory_spaces[i], file_spaces[i], data[i]);
    } else if (const auto moved = carry_out(call, i, data[i]); !moved) {
      if (failure) failure = std::unexpected(moved.error());
      // Other ranks may not have failed, and go on with the rest together with this one.
      if (!together) break;
    }
  }
  if (failure && !rest.under.empty()) failure = call.before_native();
  herr_t result = 0;
  if (!rest.under.empty() && (failure || together)) {
    const auto& file = object(handles[0]).file;
    const HeldDrain held(kWrites && together ? &served : nullptr);
    result = Native(rest.under.size(), rest.under.data(), file->connector(), rest.memory_types.data(),
                    rest.memory_spaces.data(), rest.file_spaces.data(), dxpl, rest.data.data(), request);
    adopt(request, file);
    if constexpr (kWrites) call.written_natively();
  }
  if (failure) {
    if (result >= 0) call.tell(kDirection);
    return result;
  }
  push_error(failure.error(), H5E_DATASET, kWrites ? H5E_WRITEERROR : H5E_READERROR);
  return -1;
}

// As HDF5 does it by itself.
template <auto Native, class Data>
herr_t pass(size_t count, void* handles[], hid_t memory_types[], hid_t memory_spaces[], hid_t file_spaces[],
            hid_t dxpl, Data* data[], void** request) {
  const auto file = object(handles[0]).file;
  std::vector<void*> several;
  for (size_t i = 0; count > 1 && i < count; ++i) several.push_back(object(handles[i]).under);
  const auto result = Native(count, count > 1 ? several.data() : &object(handles[0]).under, file->connector(),
                             memory_types, memory_spaces, file_spaces, dxpl, data, request);
  adopt(request, file);
  return result;
}

// The file that the engine serves and all of them lie in. HDF5 refuses a call for several files.
ParallelFile* served_by(size_t count, void* handles[]) {
  auto* const first = dataset(handles[0]).parallel();
  for (size_t i = 1; first != nullptr && i < count; ++i) {
    auto* const other = dataset(handles[i]).parallel();
    if (other == nullptr || &other->file() != &first->file()) return nullptr;
  }
  return first != nullptr ? &first->file() : nullptr;
}

template <auto Native, class Data>
herr_t transfer(size_t count, void* handles[], hid_t memory_types[], hid_t memory_spaces[],
                hid_t file_spaces[], hid_t dxpl, Data* data[], void** request) {
  if (count == 0) return 0;
  const auto call = [&](const auto& how) {
    return how(count, handles, memory_types, memory_spaces, file_spaces, dxpl, data, request);
  };
  if (auto* const served = served_by(count, handles))
    return call([&](auto... arguments) { return move<Native, Data>(*served, arguments...); });
  const auto through = object(handles[0]).file->parallel();
  if (!through) return call(pass<Native, Data>);
  // Reached through a file that the engine serves, in one which it does not. That may be a served one again:
  // HDF5 opens a second time what an external link leads to, and sees what is at home.
  const auto home = through->drain();
  const auto result = home || is_collective(dxpl) ? call(pass<Native, Data>) : -1;
  if constexpr (std::is_const_v<Data>) through->forget();
  if (home) return result;
  push_error(home.error(), H5E_DATASET, H5E_CANTFLUSH);
  return -1;
}

herr_t write(size_t count, void* handles[], hid_t memory_types[], hid_t memory_spaces[], hid_t file_spaces[],
             hid_t dxpl, const void* data[], void** request) {
  for (size_t i = 0; i < count; ++i) expect_reuse_by_writing(dataset(handles[i]));
  const auto result = transfer<H5VLdataset_write, const void>(count, handles, memory_types, memory_spaces,
                                                              file_spaces, dxpl, data, request);
  if (result >= 0 && request != nullptr && count != 0) {
    // On the MPI-IO driver HDF5 holds nothing back, and flushing a dataset would be collective.
    const bool held_back = object(handles[0]).file->way() != Way::kParallel;
    Watched written;
    for (size_t i = 0; held_back && i < count; ++i) written.push_back(object(handles[i]).watch());
    offer_home_request(object(handles[0]), std::move(written), request);
  }
  return result;
}

// Before HDF5 goes to the raw data by itself.
bool drained(DatasetObject& one) {
  const auto status = one.parallel()->file().drain();
  if (!status) push_error(status.error(), H5E_DATASET, H5E_CANTFLUSH);
  return status.has_value();
}

herr_t specific(void* handle, H5VL_dataset_specific_args_t* args, hid_t dxpl, void** request) {
  auto& one = dataset(handle);
  const auto plain = forward<H5VLdataset_specific>;
  if (args->op_type == H5VL_DATASET_SET_EXTENT) expect_reuse();
  if (one.parallel() == nullptr) return plain(handle, args, dxpl, request);
  switch (args->op_type) {
    case H5VL_DATASET_SET_EXTENT: {
      const auto ready = one.parallel()->before_resize({args->args.set_extent.size, H5S_MAX_RANK});
      if (!ready) {
        push_error(ready.error(), H5E_DATASET, H5E_CANTFLUSH);
        return -1;
      }
      const auto result = plain(handle, args, dxpl, request);
      one.parallel()->resized();
      return result;
    }
    case H5VL_DATASET_FLUSH:
      return drained(one) ? plain(handle, args, dxpl, request) : -1;
    case H5VL_DATASET_REFRESH:
      one.parallel()->file().forget();
      return plain(handle, args, dxpl, request);
  }
  return plain(handle, args, dxpl, request);
}

// Who asks where data lie may read them there by himself, as PyTables does: HDF5 writes what it has of chunks
// before it answers, so natively they are at home by then.
bool tells_places(int operation) {
  return operation == H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_IDX ||
         operation == H5VL_NATIVE_DATASET_GET_CHUNK_INFO_BY_COORD ||
         operation == H5VL_NATIVE_DATASET_CHUNK_ITER || operation == H5VL_NATIVE_DATASET_GET_OFFSET;
}

bool told_nothing(const H5VL_optional_args_t& args) {
  if (args.op_type != H5VL_NATIVE_DATASET_GET_OFFSET) return false;
  return *static_cast<const H5VL_native_dataset_optional_args_t*>(args.args)->get_offset.offset ==
         HADDR_UNDEF;
}

// In the file it really lies in, and where that cannot be told, in all that it may be.
Status carry_home(DatasetObject& one) {
  if (one.file->way() == Way::kDriver) {
    auto* const driver = driver_file_of(one.under, *one.file);
    return driver != nullptr ? driver->bring_home() : Status{};
  }
  if (one.parallel() != nullptr) return one.parallel()->file().drain();
  return one.file->parallel() ? one.file->parallel()->drain() : Status{};
}

herr_t tell_places(void* handle, H5VL_optional_args_t* args, hid_t dxpl, void** request) {
  const auto result = forward<H5VLdataset_optional>(handle, args, dxpl, request);
  if (result < 0 || told_nothing(*args)) return result;
  const auto home = carry_home(dataset(handle));
  if (home) return result;
  push_error(home.error(), H5E_DATASET, H5E_CANTFLUSH);
  return -1;
}

herr_t optional_on_dataset(void* handle, H5VL_optional_args_t* args, hid_t dxpl, void** request) {
  if (const auto ours = dataset_operation(args->op_type))
    return control(*ours, handle, args->args, dxpl, request);
  if (tells_places(args->op_type)) return tell_places(handle, args, dxpl, request);
  auto& one = dataset(handle);
  const auto plain = forward<H5VLdataset_optional>;
  const bool reads = args->op_type == H5VL_NATIVE_DATASET_CHUNK_READ;
  const bool writes = args->op_type == H5VL_NATIVE_DATASET_CHUNK_WRITE;
  if (writes) expect_reuse();
  if (!(reads || writes) || one.parallel() == nullptr) return plain(handle, args, dxpl, request);
  if (!drained(one)) return -1;
  const auto result = plain(handle, args, dxpl, request);
  if (writes) one.parallel()->file().forget();
  return result;
}

// Another handle may keep the dataset open, and what HDF5 holds of it.
herr_t close_dataset(void* handle, hid_t dxpl, void** request) {
  const auto& one = object(handle);
  if (auto* const watch = one.watched()) watch->when_closed = press(one);
  return forward_close<H5VLdataset_close>(handle, dxpl, request);
}

}  // namespace datasets
}  // namespace

H5VL_dataset_class_t dataset_calls() {
  return {.create = guarded<datasets::create>,
          .open = guarded<datasets::open>,
          .read = guarded<datasets::transfer<H5VLdataset_read, void>>,
          .write = guarded<datasets::write>,
          .get = forward<H5VLdataset_get>,
          .specific = guarded<datasets::specific>,
          .optional = guarded<datasets::optional_on_dataset>,
          .close = guarded<datasets::close_dataset>};
}

}  // namespace forebay::hdf5
