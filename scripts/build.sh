#!/usr/bin/env bash
# Builds build/release/cplearn (or another preset) and prints its path last. Idempotent.
#   scripts/build.sh [PRESET] [TARGET...]       PRESET: release (default), debug, clang, sanitize
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-release}
shift || true
# A preset changed since the last time is taken up too; cmake says little when nothing changed.
said=$(cmake --preset "$preset" 2>&1) || { echo "$said" >&2; exit 1; }
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(cplearn_cli)
# One line that moves on a terminal; elsewhere nothing unless the compiler has something to say.
export NINJA_STATUS='building: %f of %t, %es '
if [ -t 2 ]; then
  ninja -C "build/$preset" "${targets[@]}" >&2
else
  ninja -C "build/$preset" --quiet "${targets[@]}" >&2
fi
echo "$PWD/build/$preset/cplearn"
