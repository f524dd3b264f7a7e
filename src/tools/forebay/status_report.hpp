// A buffer's status for people and for programs.
#pragma once

#include <cstddef>
#include <string>

#include "base/json.hpp"
#include "engine/status.hpp"

namespace forebay {

// Tables of tiers, processes, at most `files` files (0: all), and one line of totals. Ends with a newline.
std::string status_text(const BufferStatus& status, std::size_t files);

// One JSON object.
void write_status(JsonWriter& json, const BufferStatus& status);

// "ior[1234]", "ior[1234] (dead)", "nobody".
std::string owners_of(const BufferStatus& status, const FileStatus& file);

// "/scratch/a.h5", or words for a file whose record is damaged.
std::string name_of(const FileStatus& file);

// "usable", "damaged", ...
// Will something not go home, or has something been lost, unless somebody does something about it? The text
// names it.
bool needs_attention(const BufferStatus& status);
// Unsaved bytes that no living process carries home, while there is none to take them over.
std::uint64_t orphaned_bytes(const BufferStatus& status);

std::string_view finding_word(ControlFinding finding);

}  // namespace forebay
