#include "config/pages.hpp"

#include <algorithm>
#include <string_view>

#include "base/format.hpp"
#include "config/table.hpp"

namespace forebay {
namespace {

constexpr std::string_view kIntroduction = R"(# Settings

<!-- Made from the table in src/config/table.cpp. `FOREBAY_TEST_UPDATE=1 ./dev test config.Pages` writes it anew. -->

With no configuration at all, Forebay works with the defaults below. A setting is given, in order of
precedence:

1. to one command or one file: `--set key=value`, a key of `MPI_Info`, the native API;
2. in an environment variable: `FOREBAY_` and the name in capitals with `_` for `.`, as in
   `FOREBAY_BUFFER_BUCKET_SIZE=1MiB`. An empty variable counts as not set;
3. in the YAML file that `FOREBAY_CONFIG` or `--config` names ([a sample](forebay.yaml)). Sections may be
   nested (`drain:` with `delay: 1s` below it) or written with a dot (`drain.delay: 1s`).
   A `.cfg` file of the Cache VOL will do as well: it is recognised by its keys.

What is wrong is refused, with the place, the key, the value and what is allowed:

    forebay.yaml:3: buffer.bucket_size: "3MiB" is not a power of two from 4KiB to 16MiB
    forebay.yaml:7: drain.trigge: unknown setting; did you mean drain.trigger?
    FOREBAY_MODE: mode: "asinc" is not async, sync, scratch or bypass

**Sizes** are a number and a unit: `4096`, `256KiB` or `256K` (1024), `1.5GB` (1000). **Durations** need a unit
(`ns`, `us`, `ms`, `s`, `m`, `h`, `d`): `200ms`. **Paths** are absolute; `${NAME}` and `${NAME:-otherwise}` stand
for an environment variable: `/local/${SLURM_JOB_ID}`.
)";

constexpr std::string_view kTiers = R"(
## Tiers

`tiers` is a list, fastest first, of at most 8 entries:

```yaml
tiers:
  - {kind: memory, path: /dev/shm, size: 8GiB}
  - {kind: nvme, path: "/local/${USER}", size: 50%, name: disk}
```

In the environment a short form will do, if no path holds a comma or a colon, and the form above in brackets:

    FOREBAY_TIERS=memory:/dev/shm:8GiB,nvme:/local/me:50%
    FOREBAY_TIERS='[{kind: memory, path: /dev/shm, size: 8GiB}]'

)";

constexpr std::string_view kTierDefaults = R"(
A size of `auto` is, for `memory`, a quarter of the memory (of the machine, or of the control group if that has
less), but at most half of what is free at the path; for `pmem` half of what is free; for `nvme` and `shared` a
quarter of what is free, but at most 16GiB.

Without `tiers` there are two of size `auto`: `memory` in `/dev/shm`, and `nvme` in the first of `$TMPDIR`, `/tmp`
and `/var/tmp` that is not itself in memory. One that cannot be had is left out.

Sizes are settled by the process that makes the buffer. Those that attach later take them as they are.
)";

constexpr std::string_view kRules = R"(
## Files

Settings marked with a * can differ from file to file. `files` is a list of rules:

```yaml
mode: async
files:
  - match: "*.tmp"
    mode: scratch
  - match: [/scratch/**/checkpoint-*.h5, "*.ckpt"]
    on_close: detach
    reserve: {size: 2GiB, kind: hard}
  - match: /scratch/**
    drain.trigger: close
```

For each setting of a file **the first rule that matches and gives it wins**; what no rule gives is as set
outside. Above, a checkpoint under `/scratch` has `on_close: detach` of the second rule and `drain.trigger:
close` of the third.

A pattern without `/` is held against the last component of the path, any other against the whole absolute
path. `*` and `?` stop at `/`; `**` crosses it, and `a/**/b` also matches `a/b`; `[a-z]` and `[!a-z]` are one
character of (not of) a set; `\` takes the next character as it is.

## Homes

`homes`, `include` and `exclude` are lists:

```yaml
homes: [/scratch/me, "/work/${PROJECT}"]
exclude: ["*.log", /scratch/me/cache/**]
```

In the environment their items are separated by colons, and empty items count for nothing. A directory whose
name holds a colon cannot be a home; in a pattern, `\:` is a colon.

    FOREBAY_HOMES=/scratch/me:/work/project
    FOREBAY_EXCLUDE='*.log:/scratch/me/cache/**'

A home is everything below it, and patterns are those of `files` above. A file is known by its real path, in
which links are resolved; of a home that is reached through a link both names count. Files in `/proc` and
`/sys` are never buffered.

The preloaded doors look at `FOREBAY_HOMES` alone to see whether there is anything to do, and take it as it
stands, without `${NAME}`: `forebay run` sets it from whatever else gives the homes.
)";

// Inside a table's cell.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') {
      escaped += "\\|";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string_view section_of(const Setting& row) {
  const std::size_t dot = row.name.find('.');
  if (dot != std::string_view::npos) return row.name.substr(0, dot);
  return row.per_file ? "What a file gets" : "Which files";
}

std::string default_of(const Setting& row) {
  const std::string value = row.value(Settings{});
  if (!value.empty()) return format_text("`{}`", value);
  return std::string(row.limits.empty);
}

std::string settings_tables() {
  std::string page;
  std::string_view section = "-";
  for (const Setting& row : settings_table()) {
    if (section_of(row) != section) {
      section = section_of(row);
      page += format_text("\n## {}\n\n| setting | default | allowed | meaning |\n| --- | --- | --- | --- |\n",
                          section);
    }
    page += format_text("| `{}`{} | {} | {} | {} |\n", row.name, row.per_file ? " \\*" : "",
                        cell(default_of(row)), cell(row.allowed(row.limits)), cell(row.help));
  }
  return page;
}

// `text` as comment lines.
std::string comment(std::string_view text) {
  constexpr std::size_t kWidth = 100;
  std::string wrapped;
  std::string line = "#";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (line.size() + 1 + end > kWidth) {
      wrapped += line + "\n";
      line = "#";
    }
    line.append(" ").append(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapped + line + "\n";
}

}  // namespace

std::string settings_markdown() {
  std::string page(kIntroduction);
  page += settings_tables();
  page += kTiers;
  page += "| key | allowed | meaning |\n| --- | --- | --- |\n";
  for (const TierField& field : tier_fields()) {
    page +=
        format_text("| `{}` | {} | {} |\n", field.name, cell(field.allowed(field.limits)), cell(field.help));
  }
  page += kTierDefaults;
  page += kRules;
  return page;
}

std::string settings_sample() {
  std::string sample =
      "# Every setting of Forebay with its default: take away the # in front of what you change.\n"
      "# docs/settings.md says more. FOREBAY_CONFIG names the file to use.\n\n"
      "# Where bytes are kept, fastest first.\n"
      "#tiers: [{kind: memory, path: /dev/shm, size: auto}, {kind: nvme, path: /tmp, size: auto}]\n\n"
      "# Other settings for some files; there are none by default.\n"
      "#files: [{match: \"*.tmp\", mode: scratch}]\n";
  for (const Setting& row : settings_table()) {
    const std::string value = row.value(Settings{});
    sample += "\n" + comment(row.help) + comment("Allowed: " + row.allowed(row.limits));
    sample += format_text("#{}: {}\n", row.name, value.empty() ? "\"\"" : value);
  }
  return sample;
}

}  // namespace forebay
