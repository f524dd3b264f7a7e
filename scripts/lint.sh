#!/usr/bin/env bash
# usage: lint.sh BUILD_DIR TIDY_CACHE JOBS, from the top of the checkout. Checks, never rewrites.
set -uo pipefail
build=$1 tidy_cache=$2 jobs=$3
failed=0

mapfile -t sources < <(find src include bench tests examples \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c' \) 2>/dev/null | sort)

echo "lint: format of ${#sources[@]} files"
clang-format --dry-run --Werror "${sources[@]}" || {
  echo "lint: format differs; './dev exec clang-format -i FILE...' puts it right" >&2
  failed=1
}

echo "lint: layers"
python3 scripts/check_layers.py . || failed=1

echo "lint: links"
python3 scripts/check_links.py . || failed=1

echo "lint: evidence"
python3 scripts/evidence.py --check || failed=1

echo "lint: clang-tidy"
python3 scripts/tidy.py "$build" "$tidy_cache" "$jobs" || failed=1

((failed == 0)) && echo "lint: passed" || echo "lint: FAILED" >&2
exit $failed
