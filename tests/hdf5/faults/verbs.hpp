// What h5_faults can do. Each answers an exit status.
#pragma once

#include <string>

namespace forebay::testing::faults {

int write_file(const std::string& path, bool when_told);
int verify_file(const std::string& path);
int flush_and_wait(const std::string& path);
int flush_and_close(const std::string& path);
int leave(const std::string& path, const std::string& way);
// Flushes now and then, leaving the marker "flushed" after the first time, and changes everything in between
// without an end: deletes, makes, rewrites, extends. `seed` says what, and odd ones are of the latest format.
int churn(const std::string& path, unsigned seed);
// Says "whole" if the file is one of the states that were flushed, or what is wrong.
int verify_churned(const std::string& path);
// Writes a dataset asynchronously to a home that fails meanwhile, and prints what the event set says; `way`
// is what is written, or done: contiguous, chunked, filtered, close. With `cancel` home is slow and fails
// not.
int events(const std::string& path, const std::string& way);
int threads(const std::string& path);

}  // namespace forebay::testing::faults
