#!/usr/bin/env python3
"""Runs clang-tidy on the sources of src/, in parallel, remembering what passed.

usage: tidy.py BUILD_DIR CACHE_DIR JOBS

Tests are left to the compiler and clang-format: GoogleTest's macros cost most of the time and find little.
A file that passed is not checked again while it, the project headers it reaches, its compile command,
.clang-tidy and clang-tidy itself are the same. A file that is compiled several times (per flavour of HDF5, with crash
points) is checked as it is compiled first.

Most of the time goes into the headers of the standard library, so files of one folder are checked a dozen at a time, as
one source that includes them. Where that finds anything (two of them may use the same name) they are checked in ever
smaller parts: what a single file is blamed for, it has by itself.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(rb'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH = 12
# Options of g++ that clang does not know are no finding.
TIDY = ["clang-tidy", "--quiet", "--extra-arg=-Wno-unknown-warning-option"]


@functools.cache
def text_and_includes(path):
    text = path.read_bytes()
    names = [name.decode() for name in INCLUDE.findall(text)]
    found = (folder / name for name in names for folder in (ROOT / "src", ROOT / "include"))
    return text, [included for included in found if included.is_file()]


def reached(path):
    """The file and the project headers it includes, directly or not."""
    seen, todo = set(), [path]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(text_and_includes(current)[1])
    return sorted(seen)


def key(path, command, common):
    digest = hashlib.sha256(common)
    digest.update(command.replace(str(ROOT), "").encode())
    for part in reached(path):
        digest.update(str(part.relative_to(ROOT)).encode() + b"\0" + text_and_includes(part)[0])
    return digest.hexdigest()


def together(database, paths, command):
    """A source that includes all of them, compiled like the first, in a compilation database of its own."""
    name = hashlib.sha256("".join(map(str, paths)).encode()).hexdigest()[:16]
    folder = database / name
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "together.cpp"
    source.write_text("".join(f'#include "{path}"\n' for path in paths))
    entry = {**command, "file": str(source), "command": command["command"].replace(str(paths[0]), str(source))}
    (folder / "compile_commands.json").write_text(json.dumps([entry]))
    return folder, source


def check(database, paths, commands):
    """Yields (path, passed, what clang-tidy said) of each."""
    folder, source = together(database, paths, commands[paths[0]])
    result = subprocess.run([*TIDY, "-p", str(folder), str(source)], capture_output=True, text=True, check=False)
    if result.returncode == 0:
        yield from ((path, True, "") for path in paths)
    elif len(paths) == 1:
        yield paths[0], False, result.stdout + result.stderr
    else:
        part = (len(paths) + 3) // 4
        for at in range(0, len(paths), part):
            yield from check(database, paths[at:at + part], commands)


def batches(paths, commands):
    """Files of one folder that are compiled alike, at most BATCH at a time."""
    alike = {}
    for path in paths:
        words = commands[path]["command"].split()
        flags = [word for word in words if word.startswith(("-I", "-D", "-isystem", "-std"))]
        alike.setdefault((path.parent, *flags), []).append(path)
    for group in alike.values():
        yield from (group[at:at + BATCH] for at in range(0, len(group), BATCH))


def main():
    build, cache, jobs = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3])
    cache.mkdir(parents=True, exist_ok=True)
    common = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    common += " ".join(TIDY).encode() + (ROOT / ".clang-tidy").read_bytes()
    commands = {}
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(ROOT / "src") and path.suffix == ".cpp" and not path.name.endswith("_test.cpp"):
            commands.setdefault(path, entry)
    database = pathlib.Path(build, "tidy").resolve()
    todo = {}
    for path, entry in commands.items():
        stamp = cache / key(path, entry["command"], common)
        if stamp.exists():
            os.utime(stamp)
        else:
            todo[path] = stamp
    failed = done = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(lambda paths: list(check(database, paths, commands)), paths)
                   for paths in batches(todo, commands)]
        for future in concurrent.futures.as_completed(running):
            for path, passed, output in future.result():
                done += 1
                print(f"[{done}/{len(todo)}] {path.relative_to(ROOT)}{'' if passed else ' FAILED'}", flush=True)
                if passed:
                    todo[path].touch()
                else:
                    failed += 1
                    print(output, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
