// What h5_faults can do. Each answers an exit status.
#pragma once

#include <string>

namespace forebay::testing::faults {

int write_file(const std::string& path, bool when_told);
int verify_file(const std::string& path);
int flush_and_wait(const std::string& path);
int flush_and_close(const std::string& path);
int leave(const std::string& path, const std::string& way);
int threads(const std::string& path);

}  // namespace forebay::testing::faults
