# shellcheck shell=bash
# What the tests of the command line share; to be sourced. The test's first argument is the program. From here
# on the shell is in an empty folder, which goes when the test ends; `conclude` is a test's last line.
set -uo pipefail
cplearn=$(realpath "${1:?usage: $(basename "$0") CPLEARN}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# check WHAT COMMAND...: the command must succeed.
check() {
  local what=$1; shift
  if "$@"; then echo "ok: $what"; else echo "FAILED: $what"; failures=$((failures + 1)); fi
}

# prints FILE COMMAND...: the command must succeed; its standard output goes to the file.
prints() { local file=$1; shift; "$@" >"$file" 2>errors.txt || { cat errors.txt >&2; return 1; }; }

# refused CODE WORDS COMMAND...: the command must end with this code and say these words.
refused() {
  local code=$1 words=$2; shift 2
  local output; output=$("$@" 2>&1); local got=$?
  [ "$got" = "$code" ] && grep -qiF -- "$words" <<<"$output" && return 0
  echo "expected exit $code and '$words', got exit $got: $output" >&2
  return 1
}

# json FILE EXPRESSION: a Python expression on the object `r` holds.
json() { python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); assert eval(sys.argv[2]), (sys.argv[2], str(r)[:2000])' "$@"; }

# tensors RUN: the step and the checksums of all tensors of a run's checkpoint.
tensors() {
  python3 - "$1/checkpoint.safetensors" <<'PY'
import json, struct, sys
with open(sys.argv[1], "rb") as f:
    header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
meta = header["__metadata__"]
print(meta["step"], *sorted(f"{k}={v}" for k, v in meta.items() if k.startswith("xxh64:")), sep="\n")
PY
}
same_tensors() {
  local first second
  first=$(tensors "$1") && second=$(tensors "$2") && [ -n "$first" ] && diff <(echo "$first") <(echo "$second") >&2
}

conclude() {
  [ "$failures" = 0 ] && { echo "all passed"; exit 0; }
  echo "$failures failed"
  exit 1
}
