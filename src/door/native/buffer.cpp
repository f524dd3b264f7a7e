// forebay.h: attaching and leaving.
#include <forebay/forebay.h>

#include <memory>

#include "base/log.hpp"
#include "config/load.hpp"
#include "door/native/arguments.hpp"
#include "door/native/boundary.hpp"
#include "door/native/handles.hpp"

using namespace forebay;
using namespace forebay::native;

namespace {

#define FOREBAY_TEXT_OF(x) #x
#define FOREBAY_TEXT(x) FOREBAY_TEXT_OF(x)

Result<Settings> load_settings(const char* config, const char* name, const char* const* settings) {
  LoadOptions options;
  options.overrides_from = "forebay_attach";
  options.overrides = strings(settings);
  if (config != nullptr) options.file = config;
  if (name != nullptr) options.overrides.push_back(std::string("buffer.name=") + name);
  FOREBAY_ASSIGN(auto loaded, load(options));
  if (loaded.origins.contains("log.level")) set_log_level(loaded.log.level);
  if (!loaded.log.file.empty()) FOREBAY_TRY(set_log_file(loaded.log.file));
  return loaded;
}

}  // namespace

const char* forebay_version(void) {
  return FOREBAY_TEXT(FOREBAY_VERSION_MAJOR) "." FOREBAY_TEXT(FOREBAY_VERSION_MINOR) "." FOREBAY_TEXT(
      FOREBAY_VERSION_PATCH);
}

const char* forebay_error_message(void) { return last_error(); }

int forebay_attach(const char* config, const char* name, const char* const* settings,
                   forebay_buffer** buffer) {
  return cross([&]() -> Status {
    FOREBAY_TRY(given(buffer, "the place for the buffer"));
    *buffer = nullptr;
    FOREBAY_ASSIGN(const auto loaded, load_settings(config, name, settings));
    FOREBAY_ASSIGN(auto engine, Buffer::attach(loaded));
    auto handle = std::make_unique<forebay_buffer>(std::make_shared<Session>(std::move(engine)));
    remember(*handle->session);
    *buffer = handle.release();
    return {};
  });
}

int forebay_detach(forebay_buffer* buffer) {
  return cross([&]() -> Status {
    FOREBAY_TRY(given(buffer, "the buffer"));
    FOREBAY_TRY(buffer->session->engine());
    if (!forget(*buffer->session)) return fail(ENOTCONN, "the process is exiting and has left the buffer");
    const std::unique_ptr<forebay_buffer> gone(buffer);
    return gone->session->detach();
  });
}

int forebay_drain_all(forebay_buffer* buffer, int64_t timeout_ms) {
  return cross([&]() -> Status {
    FOREBAY_TRY(given(buffer, "the buffer"));
    FOREBAY_ASSIGN(auto* const engine, buffer->session->engine());
    return engine->drain(timeout_ms < 0 ? std::nullopt : std::optional(patience(timeout_ms, {})));
  });
}
