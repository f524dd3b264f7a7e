// h5_faults VERB FILE [WAY]: programs that end badly, or meet what is bad. See verbs.hpp.
#include "hdf5/faults/verbs.hpp"

int main(int argc, char** argv) {
  using namespace forebay::testing::faults;
  const std::string verb = argc > 2 ? argv[1] : "";
  const std::string path = argc > 2 ? argv[2] : "";
  const std::string way = argc > 3 ? argv[3] : "";
  if (verb == "write") return write_file(path, false);
  if (verb == "write_when_told") return write_file(path, true);
  if (verb == "verify") return verify_file(path);
  if (verb == "flush_and_wait") return flush_and_wait(path);
  if (verb == "flush_and_close") return flush_and_close(path);
  if (verb == "leave") return leave(path, way);
  if (verb == "churn") return churn(path, static_cast<unsigned>(std::stoul(way)));
  if (verb == "verify_churned") return verify_churned(path);
  if (verb == "events") return events(path, way);
  if (verb == "threads") return threads(path);
  return 2;
}
