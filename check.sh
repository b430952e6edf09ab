#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds aprender and runs its tests.
#
#   check.sh [STAGE...] [--clean]
#
# Without a stage, runs those above the line. A stage keeps its build folder, _build-STAGE, and continues with it the
# next time; --clean begins with a new one.
#
#   gcc         every test, with gcc
#   clang       the same with clang, without the suites once, interop and script, which no compiler changes; libFuzzer
#               looks for new inputs
#   sanitized   every test but the suites once and memory, under the address and undefined-behaviour sanitizers
#   threads     the suites unit, threads and serve, under ThreadSanitizer
#   valgrind    the tests in C of the gcc build, but of properties of numbers, under valgrind
#   lint        what clang-format and clang-tidy say, the order of includes, the length of lines and files, spelling
#   ---------
#   s390x       the suites unit, property and tool on s390x, which is big-endian: cross-compiled, and run by qemu
#   arm64       the same on arm64
#
# The last line counts the tests: "N passed, N failed, N skipped".
set -u

cd -P "$(dirname "$0")"

# Sets a build folder up, unless it is there, and builds it; the rest of the arguments are options of meson setup.
build () {
  build=_build-$1
  compiler=$2
  shift 2
  builds="$builds $build"
  [ -f "$build/build.ninja" ] ||
    CC=$compiler meson setup "$build" --werror -Dauto_features=enabled "$@" >"$build.log" 2>&1 &&
    meson compile -C "$build" >>"$build.log" 2>&1 ||
    broken
}

# Says why there is no build, at once and again at the end, where what the other stages print does not bury it.
broken () {
  tail -n 40 "$build.log" >&2
  unbuilt="$unbuilt $build"
  return 1
}

# Runs tests of the folder that was built last; the arguments are those of meson test.
run () {
  meson test -C "$build" --no-rebuild --print-errorlogs "$@"
}

stage_gcc () {
  build gcc gcc && run
}

stage_clang () {
  build clang clang -Dfuzzing=enabled && run --no-suite once --no-suite interop --no-suite script
}

# What is freed is kept for a while, and would count as used. The address sanitizer also finds null pointers and accesses
# beyond an object, so the two checks for them are left out: with them, and optimised more, the build takes twice as long.
stage_sanitized () {
  build sanitized gcc -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 \
    -Dc_args=-fno-sanitize=null,object-size && run --no-suite memory --no-suite once
}

# The bindings' interpreters are not built with a sanitizer, and have no part in this. Nor have the tests of how much
# memory is used, as the sanitizer uses more of its own the more is read; a suite that is asked for overrides what a
# setup excludes.
stage_threads () {
  build threads gcc -Db_sanitize=thread -Db_lundef=false -Doptimization=1 -Dintrospection=disabled -Dvapi=disabled -Dpygobject=disabled \
    -Dgjs=disabled -Dapp=disabled && run --setup threads --suite unit --suite threads --suite serve --no-suite memory
}

stage_valgrind () {
  build gcc gcc && run --setup valgrind
}

# Nothing is built for it but the descriptions of the build.
stage_lint () {
  build=_build-lint
  builds="$builds $build"
  { [ -f "$build/build.ninja" ] || CC=clang meson setup "$build" >"$build.log" 2>&1; } &&
    ninja -C "$build" reconfigure >"$build.log" 2>&1 || broken && run --suite lint
}

# The tests start programs too, which the kernel runs with qemu: that finds its libraries by the variable. It takes
# memory of its own, so the tests of how much is used have no part in this.
emulate () {
  debian/install-cross "$1" "_build-cross/$1" &&
    build "$1" gcc --cross-file "_build-cross/$1/cross.ini" --buildtype=release -Dintrospection=disabled -Dvapi=disabled \
      -Dpygobject=disabled -Dgjs=disabled -Dapp=disabled &&
    QEMU_LD_PREFIX=$PWD/_build-cross/$1/root run --setup emulated --suite unit --suite property --suite tool --no-suite memory
}

stage_s390x () {
  emulate s390x
}

stage_arm64 () {
  emulate arm64
}

stages=
clean=
for argument; do
  case $argument in
    gcc|clang|sanitized|threads|valgrind|lint|s390x|arm64) stages="$stages $argument" ;;
    --clean) clean=yes ;;
    --help|-h) sed -n '/^# Builds/,/^set/{/^set/d; s/^# \{0,1\}//; p}' "$0"; exit 0 ;;
    *) echo "check.sh: there is no stage $argument; --help names them" >&2; exit 2 ;;
  esac
done
: "${stages:=gcc clang sanitized threads valgrind lint}"

debian/install-build-dependencies || exit 1

[ -z "$clean" ] || for stage in $stages; do rm -rf "_build-$stage"; done
# The build folders of a checkout that was copied or moved are of the place it was in.
for described in _build-*/meson-info/meson-info.json; do
  [ ! -f "$described" ] || grep -qF "\"$PWD/${described%%/*}\"" "$described" || rm -rf "${described%%/*}"
done
# Only what runs now is counted.
rm -f _build-*/meson-logs/testlog*

failed=0
builds=
unbuilt=
times=
for stage in $stages; do
  echo "--- $stage"
  start=$(date +%s)
  "stage_$stage" || failed=1
  times="$times$stage $(($(date +%s) - start)) s, "
done

for build in $(printf '%s\n' $unbuilt | sort -u); do
  printf '\n%s was not built:\n' "$build"
  tail -n 15 "$build.log"
done
echo "took: ${times%, }"
tests/summarise $(printf '%s\n' $builds | sort -u) || failed=1
exit $failed
