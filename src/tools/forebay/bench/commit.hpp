// What was built. The source of these is made by the build, anew whenever the commit is another one.
#pragma once

namespace forebay {

extern const char* const kBuiltVersion;
extern const char* const
    kBuiltCommit;  // "d29c6d6", with "-dirty" behind it for changes that are in no commit

}  // namespace forebay
