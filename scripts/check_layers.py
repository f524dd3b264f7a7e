#!/usr/bin/env python3
"""Fails when an include points up the layers, or a layer knows what it must not.

usage: check_layers.py CHECKOUT

  - src/<layer> includes only itself and the layers listed for it in BELOW; its tests may include TEST_SUPPORT too
  - a door may include any layer but no other door; a tool may include anything but another tool
  - HDF5 and MPI headers are for doors, tools, tests and benchmarks
  - getenv is called in one file of src/, and that file is in src/config
  - a header begins with `#pragma once`, and its own .cpp includes it before anything else: compiling that file
    shows that the header needs no other (the build compiles those without a .cpp alone)
"""
import pathlib
import re
import sys

PURE = {"extent", "policy", "config"}
BELOW = {
    "base": set(),
    "extent": {"base"},
    "policy": {"base"},
    "config": {"base"},
    "os": {"base"},
    "tier": {"base", "os"} | PURE,
    "engine": {"base", "os", "tier"} | PURE,
    "session": {"base", "os", "tier", "engine"} | PURE,
}
# Of tests/, what unit tests share with the others.
TEST_SUPPORT = {"support/scale.hpp", "support/seed.hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
FOREIGN = re.compile(r"^(hdf5|H5|mpi|mpio?)[A-Za-z0-9_]*\.(h|hpp)$")
GETENV = re.compile(r"\b(secure_)?getenv\s*\(")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
SUFFIXES = {".cpp", ".hpp", ".h", ".c"}


def place(path):
    """('layer', 'os'), ('door', 'native'), ('tools', 'slowfs') for a path below src/, or None."""
    parts = path.split("/")
    if parts[0] in ("door", "tools"):
        return (parts[0], parts[1]) if len(parts) > 2 else None
    return ("layer", parts[0]) if len(parts) > 1 else None


def why_forbidden(source, target):
    """Why code at `source` must not include code at `target` (both places), or None."""
    if source == target:
        return None
    kind, name = source
    target_kind, target_name = target
    if kind == "layer":
        if target_kind != "layer":
            return f"{name} lies below every door and tool"
        if target_name not in BELOW[name]:
            return f"{name} may include only {', '.join(sorted(BELOW[name])) or 'itself'}"
    elif kind == "door" and target_kind != "layer":
        return "doors do not know each other" if target_kind == "door" else "doors lie below tools"
    elif kind == "tools" and target_kind == "tools":
        return "tools do not know each other"
    return None


def check_file(name, text):
    """The faults of one file below src/; `name` is relative to it."""
    source = place(name)
    if source is None:
        return []
    if source[0] == "layer" and source[1] not in BELOW:
        return [f"src/{name}: {source[1]} is no layer (known: {', '.join(BELOW)})"]
    faults = []
    for match in INCLUDE.finditer(text):
        quote, included = match.groups()
        if name.endswith("_test.cpp") and included in TEST_SUPPORT:
            continue
        where = f"src/{name}:{text.count(chr(10), 0, match.start(1)) + 1}"
        target = place(included)
        if source[0] == "layer" and FOREIGN.match(included.split("/")[-1]):
            faults.append(f"{where}: {included}: HDF5 and MPI headers stay in doors")
        elif quote == '"' and target is None:
            faults.append(f"{where}: {included}: includes are rooted at src/ (\"base/error.hpp\")")
        elif quote == '"':
            if target[0] == "layer" and target[1] not in BELOW:
                faults.append(f"{where}: {included}: {target[1]} is no layer")
            elif reason := why_forbidden(source, target):
                faults.append(f"{where}: {included}: {reason}")
    return faults


def check_header(name, files):
    """The faults of one header below src/; `files` maps every name below src/ to its text, comments removed."""
    faults = [] if "#pragma once" in files[name] else [f"src/{name}: #pragma once is missing"]
    own = name.removesuffix(".hpp") + ".cpp"
    first = INCLUDE.search(files.get(own, f'#include "{name}"'))
    if first is None or first.group(2) != name:
        faults.append(f"src/{own}: its first include must be {name}")
    return faults


def check_getenv(files):
    """`files` maps a name below src/ to its text, comments removed."""
    sites = sorted(name for name, text in files.items() if GETENV.search(text))
    faults = [f"src/{name}: getenv belongs in src/config" for name in sites if not name.startswith("config/")]
    if len(sites) > 1:
        faults.append(f"getenv in {len(sites)} files, one is allowed: {', '.join(sites)}")
    return faults


def check_tree(root):
    src = pathlib.Path(root) / "src"
    texts = {
        path.relative_to(src).as_posix(): path.read_text()
        for path in sorted(src.rglob("*"))
        if path.suffix in SUFFIXES
    }
    faults = [fault for name, text in texts.items() for fault in check_file(name, text)]
    code = {name: COMMENT.sub("", text) for name, text in texts.items()}
    faults += [fault for name in code if name.endswith(".hpp") for fault in check_header(name, code)]
    return faults + check_getenv({name: text for name, text in code.items() if not name.endswith("_test.cpp")})


def main():
    faults = check_tree(sys.argv[1])
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
