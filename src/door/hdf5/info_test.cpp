#include "door/hdf5/info.hpp"

#include <memory>

#include "door/hdf5/test_home.hpp"

namespace forebay::hdf5 {
namespace {

std::unique_ptr<ConnectorInfo> parse(std::string_view text) {
  auto parsed = ConnectorInfo::parse(text);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return std::unique_ptr<ConnectorInfo>(parsed ? *parsed : nullptr);
}

TEST(ConnectorInfo, EveryPartMayBeLeftOut) {
  H5open();
  EXPECT_EQ(parse("")->under_vol(), H5VL_NATIVE);
  EXPECT_EQ(parse("config=/a/b.yaml")->config(), "/a/b.yaml");
  EXPECT_EQ(parse("under_vol=native;config=/a/b.yaml")->under_vol(), H5VL_NATIVE);
  EXPECT_EQ(parse("under_info={};under_vol=0;")->under_vol(), H5VL_NATIVE);
}

TEST(ConnectorInfo, IsStackedOnOthersAndSaysHow) {
  H5open();
  const auto info = parse("config=/c;under_vol=1;under_info={under_vol=0;under_info={}}");
  const auto again = parse(info->text());
  EXPECT_EQ(info->text(), "under_vol=1;under_info={under_vol=0;under_info={}};config=/c");
  EXPECT_EQ(again->text(), info->text());
  EXPECT_EQ(info->compare(*again), 0);
  EXPECT_NE(info->compare(*parse("config=/c")), 0);
}

TEST(ConnectorInfo, HasSettingsForItsFiles) {
  H5open();
  const auto info = parse("set={on_close=detach; drain.trigger=close};config=/c");
  EXPECT_EQ(info->settings(), (std::vector<std::string>{"on_close=detach", "drain.trigger=close"}));
  EXPECT_EQ(info->text(), "under_vol=0;under_info={};config=/c;set={on_close=detach;drain.trigger=close}");
  EXPECT_EQ(info->compare(*parse(info->text())), 0);
  EXPECT_NE(info->compare(*parse("config=/c")), 0);
  EXPECT_EQ(parse("set={}")->settings().size(), 0U);
}

TEST(ConnectorInfo, GoesOnWithoutTheAsyncVol) {
  H5open();
  EXPECT_EQ(parse("config=c.cfg;under_vol=512;under_info={under_vol=0;under_info={}}")->under_vol(),
            H5VL_NATIVE);
  EXPECT_EQ(parse("config=c.cfg;under_vol=512")->config(), "c.cfg");
  EXPECT_EQ(parse("under_vol=async;under_info={under_vol=1;under_info={under_vol=0;under_info={}}}")->text(),
            "under_vol=1;under_info={under_vol=0;under_info={}}");
}

TEST(ConnectorInfo, WhatIsWrongIsNamed) {
  H5open();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  for (const auto* const text :
       {"under_vol", "colour=red", "under_info={", "under_vol=nobody", "set={colour=red}", "set={mode=asinc}",
        "set={buffer.name=x}", "set={mode}"}) {
    const auto parsed = ConnectorInfo::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_TRUE(parsed.error().message.starts_with("connector string: ")) << parsed.error().message;
  }
}

TEST(ConnectorInfo, FilesWorkOnAStackOfConnectors) {
  const TestHome home;
  const auto info =
      parse("under_vol=1;under_info={under_vol=0;under_info={}};config=" + home.path("config.yaml"));
  const hid_t connector = H5VLregister_connector(&connector_class(), H5P_DEFAULT);
  const hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_vol(fapl, connector, info.get());
  const hid_t file = H5Fcreate(home.path("s.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  ASSERT_GE(file, 0);
  const hid_t dataset = make_dataset(file, "x", 100);
  ASSERT_GE(write_all(dataset, std::vector<int>(100, 7)), 0);
  H5Dclose(dataset);
  ASSERT_GE(H5Fclose(file), 0);
  H5Pclose(fapl);
  H5VLclose(connector);
  EXPECT_EQ(read_natively(home.path("s.h5"), "x", 100), std::vector<int>(100, 7));
}

}  // namespace
}  // namespace forebay::hdf5
