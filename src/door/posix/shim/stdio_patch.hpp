// The C library's streams call its own hidden read and write. So the five functions through which every
// stream reaches its descriptor are replaced in the tables of streams: FILEs stay what they are.
#pragma once

namespace forebay::posix {

// Where the tables do not look as expected nothing is changed, and streams of buffered files go direct.
void patch_stdio();
[[nodiscard]] bool stdio_patched();

// What streams of buffered files hold back. A stream that another thread is using is left to it.
void flush_streams();

}  // namespace forebay::posix
