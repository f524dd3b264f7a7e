// Persistent memory, by libpmem.
//
// It is loaded when something lies on such memory, not with the program: it brings ten libraries along, which
// would cost every process of a tree 5 million instructions and a millisecond at its start. Thread-safe.
#pragma once

#include <cstddef>

namespace forebay {

// Is a mapping persistent memory itself? False also where libpmem is not installed.
[[nodiscard]] bool is_pmem(const void* data, std::size_t size);

// Of a mapping that is: when this has returned, its bytes survive the loss of power.
void persist_pmem(const void* data, std::size_t size);

// The same of any other mapping of a file. False: errno says why.
[[nodiscard]] bool persist_mapped(const void* data, std::size_t size);

}  // namespace forebay
