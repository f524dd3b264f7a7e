// slowfs: a directory, mounted again as if it were a parallel file system. docs/slowfs.md says how to use it.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "tools/slowfs/filesystem.hpp"

namespace forebay::slowfs {
namespace {

constexpr unsigned kLargestRequest = 1U << 20;
// Requests that hang keep their thread: there must be more threads than a test can make hang.
constexpr unsigned kMostThreads = 4096;

struct Arguments {
  std::string source;
  std::string mount_point;
  bool foreground = false;
  Settings settings;
};

// Throws CLI::Error, as CLI11 does.
Arguments parse(CLI::App& app, int argc, char** argv) {
  Arguments arguments;
  std::map<std::string, std::string> values;
  app.add_option("source", arguments.source, "directory that holds the files")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("mountpoint", arguments.mount_point, "empty directory where they appear")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_flag("-f,--foreground", arguments.foreground, "stay in the foreground; SIGTERM unmounts");
  for (const SettingHelp& help : settings_help()) {
    std::string option = "--" + std::string(help.key);
    std::ranges::replace(option, '_', '-');
    app.add_option(option, values[std::string(help.key)], std::string(help.meaning))
        ->option_text(std::string(help.value));
  }
  app.parse(argc, argv);
  for (const auto& [key, value] : values) {
    if (value.empty()) continue;
    const Status status = apply(arguments.settings, key, value, Settings::Clock::now());
    if (!status) throw CLI::ValidationError(status.error().message);
  }
  return arguments;
}

void on_init(void* /*filesystem*/, fuse_conn_info* connection) {
  connection->max_write = kLargestRequest;
  connection->max_readahead = kLargestRequest;
  connection->max_background = kMostThreads / 4;
  connection->congestion_threshold = connection->max_background;
  connection->want |= connection->capable & (FUSE_CAP_DIRECT_IO_ALLOW_MMAP | FUSE_CAP_PARALLEL_DIROPS);
  // Copying through one buffer is simpler, and the file system is meant to be slow.
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ);
}

int serve(fuse_session* session, const Arguments& arguments) {
  if (fuse_set_signal_handlers(session) != 0) return 1;
  if (fuse_session_mount(session, arguments.mount_point.c_str()) != 0) {
    fuse_remove_signal_handlers(session);
    return 1;
  }
  fuse_daemonize(arguments.foreground ? 1 : 0);
  fuse_loop_config* loop = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(loop, kMostThreads);
  fuse_loop_cfg_set_clone_fd(loop, 1);
  const int result = fuse_session_loop_mt(session, loop);
  fuse_loop_cfg_destroy(loop);
  fuse_session_unmount(session);
  fuse_remove_signal_handlers(session);
  return result < 0 ? 1 : 0;  // a positive result is the signal that ended it
}

int run(const Arguments& arguments) {
  umask(0);                       // the kernel has applied the caller's
  prctl(PR_SET_TIMERSLACK, 1UL);  // inherited by the threads: answers are due to the microsecond
  // The kernel may remember any number of files, each held open here where the source has no handles.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  Fd source_fd(open(arguments.source.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!source_fd) {
    std::fprintf(stderr, "slowfs: cannot open %s: %s\n", arguments.source.c_str(), std::strerror(errno));
    return 1;
  }
  const std::unique_ptr<char, decltype(&std::free)> source(realpath(arguments.source.c_str(), nullptr),
                                                           &std::free);
  Filesystem filesystem(source ? source.get() : arguments.source, std::move(source_fd), arguments.settings);

  fuse_lowlevel_ops operations{};
  operations.init = on_init;
  add_name_operations(operations);
  add_attribute_operations(operations);
  add_file_operations(operations);
  add_directory_operations(operations);

  char program[] = "slowfs";
  char option[] = "-o";
  char names[] = "fsname=slowfs,subtype=slowfs";
  char* fuse_arguments[] = {program, option, names, nullptr};
  fuse_args fuse_options = FUSE_ARGS_INIT(3, fuse_arguments);
  fuse_session* session = fuse_session_new(&fuse_options, &operations, sizeof(operations), &filesystem);
  fuse_opt_free_args(&fuse_options);
  if (session == nullptr) return 1;
  filesystem.session = session;
  const int result = serve(session, arguments);
  fuse_session_destroy(session);
  return result;
}

}  // namespace
}  // namespace forebay::slowfs

int main(int argc, char** argv) {
  CLI::App app(
      "Mounts SOURCE at MOUNTPOINT with the bandwidth, latency and faults of a parallel file system.\n"
      "Settings can be changed while mounted by writing key=value lines to MOUNTPOINT/.slowfs/control;\n"
      "MOUNTPOINT/.slowfs/stats counts requests and bytes.",
      "slowfs");
  try {
    return forebay::slowfs::run(forebay::slowfs::parse(app, argc, argv));
  } catch (const CLI::Error& error) {
    return app.exit(error);
  }
}
