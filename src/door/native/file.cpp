// forebay.h: files.
#include <fcntl.h>
#include <forebay/forebay.h>

#include <memory>
#include <span>

#include "config/load.hpp"
#include "door/native/arguments.hpp"
#include "door/native/boundary.hpp"
#include "door/native/handles.hpp"

using namespace forebay;
using namespace forebay::native;

namespace {

Status check_memory(const void* data, size_t size) {
  if (data == nullptr && size != 0) return fail(EFAULT, "the data is NULL");
  if (size > static_cast<size_t>(INT64_MAX)) return fail(EINVAL, "no memory is that large");
  return {};
}

bool synchronous(int flags) { return (flags & (O_SYNC | O_DSYNC)) != 0; }

Status check_flags(int flags) {
  if ((flags & O_APPEND) != 0)
    return fail(EINVAL, "O_APPEND: offsets are explicit here; forebay_append appends");
  // O_TMPFILE contains O_DIRECTORY.
  if ((flags & (O_DIRECTORY | O_PATH)) != 0)
    return fail(EINVAL, "O_DIRECTORY, O_PATH, O_TMPFILE: only regular files");
  return {};
}

Result<std::shared_ptr<File>> open_engine_file(Buffer& engine, const std::string& path, int flags,
                                               mode_t mode, const std::vector<std::string>& overrides) {
  const auto& settings = engine.core().settings;
  const auto adjusted = [&](FileSettings file) {
    return override_file_settings(std::move(file), settings, path, overrides, "forebay_open");
  };
  // What is wrong for any file is refused before one is made.
  FOREBAY_TRY(adjusted(settings.for_path(path)));
  Status status;
  FOREBAY_ASSIGN(auto opened, engine.open(path, flags, mode, [&](FileSettings& file) {
    if (auto mine = adjusted(file)) {
      file = std::move(*mine);
    } else {
      status = std::unexpected(mine.error());
    }
    if (synchronous(flags)) file.on_flush = OnFlush::Home;
  }));
  FOREBAY_TRY(status);
  return opened;
}

// An engine that has ended, or that is another process's, is left as it is.
void abandon(forebay_file& file) {
  if (file.engine) (void)new std::shared_ptr<File>(std::move(file.engine));
}

}  // namespace

int forebay_open(forebay_buffer* buffer, const char* path, int flags, mode_t mode,
                 const char* const* settings, forebay_file** file) {
  return cross([&]() -> Status {
    FOREBAY_TRY(given(buffer, "the buffer"));
    FOREBAY_TRY(given(path, "the path"));
    FOREBAY_TRY(given(file, "the place for the file"));
    *file = nullptr;
    FOREBAY_TRY(check_flags(flags));
    FOREBAY_ASSIGN(auto* const engine, buffer->session->engine());
    auto handle = std::make_unique<forebay_file>(buffer->session, nullptr, synchronous(flags));
    FOREBAY_ASSIGN(handle->engine, open_engine_file(*engine, path, flags, mode, strings(settings)));
    handle->session->add(handle.get());
    *file = handle.release();
    return {};
  });
}

int forebay_close(forebay_file* file) {
  return cross([&]() -> Status {
    FOREBAY_TRY(given(file, "the file"));
    const std::unique_ptr<forebay_file> gone(file);
    if (const auto engine = file->session->engine(); !engine) {
      abandon(*file);
      return std::unexpected(engine.error());
    }
    file->session->remove(file);
    return file->engine->close();
  });
}

int64_t forebay_write(forebay_file* file, const void* data, size_t size, uint64_t offset) {
  return cross([&]() -> Result<std::uint64_t> {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    FOREBAY_TRY(check_memory(data, size));
    const auto taken = engine->write(offset, {static_cast<const std::byte*>(data), size});
    if (taken && file->synchronous) FOREBAY_TRY(engine->sync());
    return taken;
  });
}

int64_t forebay_append(forebay_file* file, const void* data, size_t size) {
  return cross([&]() -> Result<std::uint64_t> {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    FOREBAY_TRY(check_memory(data, size));
    const auto where = engine->append({static_cast<const std::byte*>(data), size});
    if (where && file->synchronous) FOREBAY_TRY(engine->sync());
    return where;
  });
}

int64_t forebay_read(forebay_file* file, void* data, size_t size, uint64_t offset) {
  return cross([&]() -> Result<std::uint64_t> {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    FOREBAY_TRY(check_memory(data, size));
    return engine->read(offset, {static_cast<std::byte*>(data), size});
  });
}

int64_t forebay_size(forebay_file* file) {
  return cross([&]() -> Result<std::uint64_t> {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    return engine->size();
  });
}

int forebay_truncate(forebay_file* file, uint64_t size) {
  return cross([&]() -> Status {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    return engine->truncate(size);
  });
}

int forebay_sync(forebay_file* file) {
  return cross([&]() -> Status {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    return engine->sync();
  });
}

int forebay_drain(forebay_file* file) {
  return cross([&]() -> Status {
    FOREBAY_ASSIGN(auto* const engine, engine_of(file));
    return engine->drain();
  });
}
