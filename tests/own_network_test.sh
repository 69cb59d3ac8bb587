#!/usr/bin/env bash
# Installs everything, builds the example against find_package(cplearn), runs it and the installed program.
#   own_network_test.sh SOURCE BUILD
set -euo pipefail
source=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Kept between runs: a torch program takes 20 s to compile.
prefix="$build/example/prefix"
mkdir -p "$prefix"
cmake --install "$build" --prefix "$prefix" >"$work/log"
cmake -S "$source/examples/own_network" -G Ninja -B "$build/example" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$build/example" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$build/example/own_network" | tee "$work/out"
grep -q "codes in use" "$work/out"
# The installed program finds its engine: by its name, through a link, and after the prefix was moved.
needs_engine() { "$1" theory --width 8 --batch 16 --quiet; }
needs_engine "$prefix/bin/cplearn"
ln -s "$prefix/bin/cplearn" "$work/linked"
needs_engine "$work/linked"
moved="$prefix-moved"
rm -rf "$moved"
mv "$prefix" "$moved"
trap 'mv "$moved" "$prefix"; rm -rf "$work"' EXIT
needs_engine "$moved/bin/cplearn"
