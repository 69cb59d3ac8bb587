#!/usr/bin/env bash
# clang-tidy on the folders that are free of torch, remembering what passed: a file is looked at again
# only when it, a header or the settings change.
# `scripts/tidy.sh --all` looks at the others too: libtorch's headers cost clang-tidy 40 s a file, so
# that is not part of every test run (they have both compilers' warnings).
set -euo pipefail
cd "$(dirname "$0")/.."
if ! clang-tidy --version | grep -q 'version 14\.'; then
  echo "tidy: left to clang-tidy 14 (Debian 12): other versions know other warnings"
  exit 0
fi
memory=build/tidy/passed
mkdir -p "$memory"
# A command for each source, without precompiled headers, which are gcc's.
cmake -S . -B build/tidy -G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCPLEARN_UNITY=OFF -DCPLEARN_PCH=OFF >/dev/null
settings=$( { cat .clang-tidy; git ls-files '*.h' | sort | xargs cat; } | sha256sum | cut -d' ' -f1)
folders=(cplearn/{base,simd,hdc,data,report}/*.cpp)
[ "${1:-}" != --all ] || folders=('cplearn/*.cpp' 'cli/*.cpp')
todo=()
for file in $(git ls-files "${folders[@]}"); do
  key=$( { echo "$settings $file"; cat "$file"; } | sha256sum | cut -d' ' -f1)
  [ -e "$memory/$key" ] || todo+=("$file $key")
done
if [ ${#todo[@]} -eq 0 ]; then
  echo "tidy: nothing changed"
  exit 0
fi
echo "tidy: ${#todo[@]} files"
check() {
  clang-tidy --quiet -p build/tidy "$1" >"build/tidy/log.$2" 2>&1 && touch "build/tidy/passed/$2" && rm -f "build/tidy/log.$2" && return
  cat "build/tidy/log.$2" >&2
  rm -f "build/tidy/log.$2"
  return 1
}
export -f check
printf '%s\n' "${todo[@]}" | xargs -P "$(nproc)" -L 1 bash -c 'check "$0" "$1"'
echo "tidy: no warnings"
