#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds aprender and shows what it is for: fits a model with the command, then predicts with the same file from C,
# Python and JavaScript. Each program hashes its own predictions; a difference ends the demo with status 1.
set -eu

cd "$(dirname "$0")"
debian/install-build-dependencies --without-tests

build=_build-demo
[ -f $build/build.ninja ] || meson setup $build -Dapp=disabled -Dtests=false >/dev/null
meson compile -C $build >$build/demo.log 2>&1 || { tail -n 30 $build/demo.log >&2; exit 1; }

run () {
  meson devenv -C $build -w "$PWD" "$@"
}

# Debian's, which has the package gi, even where another one stands first on the path.
python=/usr/bin/python3
[ -x $python ] || python=python3

model=$build/longley.safetensors
data=docs/examples/longley.csv

echo "--- the command fits NIST's Longley data, which are nearly collinear"
run aprender fit $data --target y -o $model 2>&1

echo "--- what the file holds"
run aprender inspect $model

echo "--- the same file, predicted with from three languages"
c=$(run $build/docs/examples/longley $model $data)
python_hash=$(run $python docs/examples/longley.py $model $data)
javascript=$(run gjs -m docs/examples/longley.js $model $data)
echo "C           $c"
echo "Python      $python_hash"
echo "JavaScript  $javascript"

case "$c" in
  "sha256  "*) ;;
  *) echo "There is no hash." >&2; exit 1 ;;
esac
if [ "$c" != "$python_hash" ] || [ "$c" != "$javascript" ]; then
  echo "The predictions differ." >&2
  exit 1
fi
echo "The predictions are the same, bit for bit."
