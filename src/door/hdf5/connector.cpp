#include "door/hdf5/connector.hpp"

#include "door/hdf5/calls.hpp"
#include "door/hdf5/forward.hpp"
#include "door/hdf5/guarded.hpp"
#include "door/hdf5/info.hpp"
#include "door/hdf5/operation_numbers.hpp"
#include "door/hdf5/request.hpp"
#include "door/hdf5/reuse.hpp"

namespace forebay::hdf5 {
namespace {

constexpr unsigned kVersion = 1;

herr_t initialize(hid_t /*vipl*/) { return register_operations(); }
herr_t terminate_connector() { return 0; }

herr_t write_attribute(void* handle, hid_t type, const void* data, hid_t dxpl, void** request) {
  if (!has_fixed_size(type)) expect_reuse();
  return forward<H5VLattr_write>(handle, type, data, dxpl, request);
}

herr_t change_attribute(void* handle, const H5VL_loc_params_t* where, H5VL_attr_specific_args_t* args,
                        hid_t dxpl, void** request) {
  if (args->op_type == H5VL_ATTR_DELETE || args->op_type == H5VL_ATTR_DELETE_BY_IDX) expect_reuse();
  // HDF5 1.14 says nothing where there is none, and H5Aexists_async leaves what was there before.
  if (args->op_type == H5VL_ATTR_EXISTS) *args->args.exists.exists = false;
  return forward<H5VLattr_specific>(handle, where, args, dxpl, request);
}

template <const H5VL_class_t& (*Self)()>
herr_t get_class(void* handle, H5VL_get_conn_lvl_t level, const H5VL_class_t** found) {
  if (level == H5VL_GET_CONN_LVL_CURR) {
    *found = &Self();
    return 0;
  }
  return H5VLintrospect_get_conn_cls(object(handle).under, object(handle).vol(), level, found);
}

herr_t get_capabilities(const void* info, uint64_t* flags) {
  const ConnectorInfo otherwise;
  const auto& which = info != nullptr ? *static_cast<const ConnectorInfo*>(info) : otherwise;
  if (H5VLintrospect_get_cap_flags(which.under_info(), which.under_vol(), flags) < 0) return -1;
  *flags |= H5VL_CAP_FLAG_ASYNC;  // requests are the connector's own
  return 0;
}

template <const H5VL_class_t& (*Self)()>
H5VL_class_t make(const char* name, H5VL_class_value_t value) {
  return {.version = H5VL_VERSION,
          .value = value,
          .name = name,
          .conn_version = kVersion,
          .cap_flags = H5VL_CAP_FLAG_NATIVE_FILES | H5VL_CAP_FLAG_ASYNC,
          .initialize = guarded<initialize>,
          .terminate = guarded<terminate_connector>,
          .info_cls = info_calls(),
          .wrap_cls = wrap_calls(),
          .attr_cls = {.create = forward<H5VLattr_create>,
                       .open = forward<H5VLattr_open>,
                       .read = forward<H5VLattr_read>,
                       .write = guarded<write_attribute>,
                       .get = forward<H5VLattr_get>,
                       .specific = guarded<change_attribute>,
                       .optional = forward<H5VLattr_optional>,
                       .close = guarded<forward_close<H5VLattr_close>>},
          .dataset_cls = dataset_calls(),
          .datatype_cls = {.commit = forward<H5VLdatatype_commit>,
                           .open = forward<H5VLdatatype_open>,
                           .get = forward<H5VLdatatype_get>,
                           .specific = forward<H5VLdatatype_specific>,
                           .optional = forward<H5VLdatatype_optional>,
                           .close = guarded<forward_close<H5VLdatatype_close>>},
          .file_cls = file_calls(),
          .group_cls = group_calls(),
          .link_cls = link_calls(),
          .object_cls = object_calls(),
          .introspect_cls = {.get_conn_cls = guarded<get_class<Self>>,
                             .get_cap_flags = guarded<get_capabilities>,
                             .opt_query = guarded<query_operation>},
          .request_cls = request_class(),
          .blob_cls = {.put = forward<H5VLblob_put>,
                       .get = forward<H5VLblob_get>,
                       .specific = forward<H5VLblob_specific>,
                       .optional = forward<H5VLblob_optional>},
          .token_cls = {.cmp = forward<H5VLtoken_cmp>,
                        .to_str = forward<H5VLtoken_to_str>,
                        .from_str = forward<H5VLtoken_from_str>},
          .optional = forward<H5VLoptional>};
}

}  // namespace

const H5VL_class_t& connector_class() {
  static auto made = make<connector_class>(kConnectorName, kConnectorValue);
  return made;
}

const H5VL_class_t& cache_connector_class() {
  static auto made = make<cache_connector_class>(kCacheName, kCacheValue);
  return made;
}

}  // namespace forebay::hdf5
