#!/usr/bin/env bash
# clang-tidy on the folders that are free of torch, remembering what passed: a file is looked at again
# only when it, a header or the settings change. Needs a configured build/release.
# `scripts/tidy.sh --all` looks at the others too: libtorch's headers cost clang-tidy 40 s a file, so
# that is not part of every test run (they have both compilers' warnings).
set -euo pipefail
cd "$(dirname "$0")/.."
memory=build/tidy
mkdir -p "$memory"
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
  # gcc's precompiled headers mean nothing to clang: the flags that name them are dropped.
  clang-tidy --quiet -p build/tidy "$1" >"build/tidy/log.$2" 2>&1 && touch "build/tidy/$2" && rm -f "build/tidy/log.$2" && return
  cat "build/tidy/log.$2" >&2
  rm -f "build/tidy/log.$2"
  return 1
}
export -f check
python3 - <<'PY'
import json, re
commands = json.load(open("build/release/compile_commands.json"))
for c in commands:
    c["command"] = re.sub(r"-Winvalid-pch|-include \S*cmake_pch\S*", "", c["command"])
json.dump(commands, open("build/tidy/compile_commands.json", "w"))
PY
printf '%s\n' "${todo[@]}" | xargs -P "$(nproc)" -L 1 bash -c 'check "$0" "$1"'
echo "tidy: no warnings"
