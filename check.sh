#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds aprender and runs every test: with gcc, with clang, under the sanitizers, and under valgrind.
set -u

cd "$(dirname "$0")"
debian/install-build-dependencies || exit 1

failed=0
builds=

# Sets a folder up, builds it and runs its tests; the rest of the arguments are options of meson setup.
check () {
  build=_build-$1
  compiler=$2
  shift 2
  builds="$builds $build"
  rm -rf "$build"
  echo "--- $build"
  if CC=$compiler meson setup "$build" --werror -Dauto_features=enabled "$@" >"$build.log" 2>&1 &&
     meson compile -C "$build" >>"$build.log" 2>&1; then
    meson test -C "$build" --no-rebuild --print-errorlogs || failed=1
  else
    tail -n 40 "$build.log" >&2
    failed=1
  fi
}

check gcc gcc
# With clang, libFuzzer looks for new inputs too.
check clang clang -Dfuzzing=enabled
check sanitized gcc -Db_sanitize=address,undefined -Db_lundef=false

echo "--- _build-gcc under valgrind"
meson test -C _build-gcc --no-rebuild --print-errorlogs --setup valgrind || failed=1

tests/summarise $builds || failed=1
exit $failed
