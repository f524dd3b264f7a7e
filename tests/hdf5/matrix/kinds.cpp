#include <array>
#include <cstddef>

#include "hdf5/matrix/axes.hpp"

namespace forebay::testing::matrix {
namespace {

struct Record {
  std::int32_t a;
  double b;
  std::int16_t c[3];
  char d[5];
};

Id copy(hid_t type) { return Id(H5Tcopy(type)); }

Id array_of(hid_t base, std::initializer_list<hsize_t> dims) {
  return Id(H5Tarray_create2(base, static_cast<unsigned>(dims.size()), std::data(dims)));
}

Id fixed_string(std::size_t size, H5T_str_t padding) {
  Id type = copy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_strpad(type, padding);
  return type;
}

Id text() {
  Id type = copy(H5T_C_S1);
  H5Tset_size(type, H5T_VARIABLE);
  return type;
}

Id record(bool in_file) {
  Id type(H5Tcreate(H5T_COMPOUND, sizeof(Record)));
  const Id three = array_of(in_file ? H5T_STD_I16BE : H5T_NATIVE_INT16, {3});
  const Id five = fixed_string(5, H5T_STR_NULLTERM);
  H5Tinsert(type, "a", offsetof(Record, a), in_file ? H5T_STD_I32LE : H5T_NATIVE_INT32);
  H5Tinsert(type, "b", offsetof(Record, b), in_file ? H5T_IEEE_F64BE : H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "c", offsetof(Record, c), three);
  H5Tinsert(type, "d", offsetof(Record, d), five);
  if (in_file) H5Tpack(type);
  return type;
}

// Some members only, in another order and partly of another type.
Id part_of_record() {
  Id type(H5Tcreate(H5T_COMPOUND, 12));
  const Id three = array_of(H5T_NATIVE_INT16, {3});
  H5Tinsert(type, "c", 0, three);
  H5Tinsert(type, "b", 8, H5T_NATIVE_FLOAT);
  return type;
}

Id mixed_record() {
  Id type(H5Tcreate(H5T_COMPOUND, 40));
  const Id words = text();
  const Id list(H5Tvlen_create(H5T_NATIVE_INT16));
  H5Tinsert(type, "text", 0, words);
  H5Tinsert(type, "list", 8, list);
  H5Tinsert(type, "number", 24, H5T_NATIVE_INT32);
  H5Tinsert(type, "target", 32, H5T_STD_REF_OBJ);
  return type;
}

Id nested_record() {
  const Id inner = record(false);
  const Id two = array_of(inner, {2});
  Id type(H5Tcreate(H5T_COMPOUND, H5Tget_size(two) + 8));
  H5Tinsert(type, "number", 0, H5T_NATIVE_INT64);
  H5Tinsert(type, "inner", 8, two);
  return type;
}

Id colours(hid_t base) {
  Id type(H5Tenum_create(base));
  constexpr std::array<std::pair<const char*, std::int8_t>, 4> kMembers{
      {{"red", 3}, {"green", -7}, {"blue", 0}, {"grey", 101}}};
  for (const auto& [name, value] : kMembers) {
    std::int64_t wide = value;
    H5Tconvert(H5T_NATIVE_INT64, base, 1, &wide, nullptr, H5P_DEFAULT);
    H5Tenum_insert(type, name, &wide);
  }
  return type;
}

Id opaque() {
  Id type(H5Tcreate(H5T_OPAQUE, 13));
  H5Tset_tag(type, "thirteen bytes");
  return type;
}

// 21 bits somewhere in 4 bytes.
Id odd_integer() {
  Id type = copy(H5T_STD_I32LE);
  H5Tset_precision(type, 21);
  H5Tset_offset(type, 5);
  return type;
}

void add(std::vector<Kind>& kinds, const char* name, Id in_file, Id written, Id read, Id rewritten) {
  kinds.push_back({name, std::move(in_file), std::move(written), std::move(read), std::move(rewritten)});
}

void add(std::vector<Kind>& kinds, const char* name, hid_t in_file, hid_t in_memory) {
  add(kinds, name, copy(in_file), copy(in_memory), copy(in_memory), copy(in_memory));
}

}  // namespace

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  add(kinds, "i32", H5T_STD_I32LE, H5T_NATIVE_INT32);
  add(kinds, "u8", H5T_STD_U8LE, H5T_NATIVE_UINT8);
  add(kinds, "i64_big_endian", H5T_STD_I64BE, H5T_NATIVE_INT64);
  add(kinds, "i16_from_i32", H5T_STD_I16LE, H5T_NATIVE_INT32);
  add(kinds, "f64", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE);
  add(kinds, "f32_from_f64", H5T_IEEE_F32BE, H5T_NATIVE_DOUBLE);
  add(kinds, "f64_from_i32", copy(H5T_IEEE_F64LE), copy(H5T_NATIVE_INT32), copy(H5T_NATIVE_FLOAT),
      copy(H5T_NATIVE_INT16));
  add(kinds, "i21", odd_integer(), copy(H5T_NATIVE_INT32), copy(H5T_NATIVE_INT64), copy(H5T_NATIVE_INT32));
  add(kinds, "bits", H5T_STD_B16BE, H5T_NATIVE_B16);
  add(kinds, "record", record(true), record(false), record(false), record(false));
  add(kinds, "record_part", record(true), record(false), part_of_record(), part_of_record());
  add(kinds, "nested_record", nested_record(), nested_record(), nested_record(), nested_record());
  add(kinds, "mixed_record", mixed_record(), mixed_record(), mixed_record(), mixed_record());
  add(kinds, "string7", fixed_string(7, H5T_STR_NULLPAD), fixed_string(9, H5T_STR_NULLTERM),
      fixed_string(11, H5T_STR_NULLTERM), fixed_string(7, H5T_STR_NULLPAD));
  add(kinds, "text", text(), text(), text(), text());
  add(kinds, "list", Id(H5Tvlen_create(H5T_STD_I32BE)), Id(H5Tvlen_create(H5T_NATIVE_INT32)),
      Id(H5Tvlen_create(H5T_NATIVE_INT64)), Id(H5Tvlen_create(H5T_NATIVE_INT32)));
  add(kinds, "array4", array_of(H5T_STD_I32LE, {4}), array_of(H5T_NATIVE_INT32, {4}),
      array_of(H5T_NATIVE_INT32, {4}), array_of(H5T_NATIVE_INT32, {4}));
  add(kinds, "array2x3", array_of(H5T_IEEE_F32BE, {2, 3}), array_of(H5T_NATIVE_DOUBLE, {2, 3}),
      array_of(H5T_NATIVE_FLOAT, {2, 3}), array_of(H5T_NATIVE_DOUBLE, {2, 3}));
  add(kinds, "enum", colours(H5T_STD_I8LE), colours(H5T_NATIVE_INT8), colours(H5T_NATIVE_INT32),
      colours(H5T_NATIVE_INT8));
  add(kinds, "object_reference", H5T_STD_REF_OBJ, H5T_STD_REF_OBJ);
  add(kinds, "region_reference", H5T_STD_REF_DSETREG, H5T_STD_REF_DSETREG);
  add(kinds, "reference", H5T_STD_REF, H5T_STD_REF);
  add(kinds, "opaque", opaque(), opaque(), opaque(), opaque());
  return kinds;
}

}  // namespace forebay::testing::matrix
