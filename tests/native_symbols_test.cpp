// libforebay.so shows the functions of forebay.h and nothing of what it is made of, so that it lives in one
// process with any other library.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "support/places.hpp"

namespace {

std::set<std::string> exported() {
  const std::string command = "nm -D --defined-only " + forebay::testing::built("src/libforebay.so");
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::set<std::string> names;
  char line[4096];
  while (pipe && std::fgets(line, sizeof line, pipe.get()) != nullptr) {
    std::istringstream words(line);
    std::string address, kind, name;
    words >> address >> kind >> name;
    if (kind != "A") names.insert(name.substr(0, name.find('@')));  // A: the name of the symbol version
  }
  return names;
}

std::set<std::string> declared() {
  std::ifstream in(forebay::testing::in_checkout("include/forebay/forebay.h"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::regex function(R"(FOREBAY_API [a-z0-9_ *]*?\**(forebay_[a-z_]+)\()");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), function), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

TEST(NativeSymbols, ExactlyTheHeadersFunctionsAreExported) {
  EXPECT_GE(declared().size(), 20u);
  EXPECT_EQ(exported(), declared());
}

}  // namespace
