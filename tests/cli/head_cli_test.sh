#!/usr/bin/env bash
# The commands around the head, from outside: results, exit codes, messages.
#   head_cli_test.sh CPLEARN
set -euo pipefail
cplearn=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

# json FILE EXPRESSION: evaluates a Python expression on the object `r`.
json() { python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); assert eval(sys.argv[2]), (sys.argv[2], r)' "$@" || fail "$2"; }

# expect CODE TEXT COMMAND...: the exit code, and a text on standard error.
expect() {
  local code=$1 text=$2 found=0
  shift 2
  "$@" >"$work/out" 2>"$work/err" || found=$?
  [ "$found" -eq "$code" ] || fail "exit code $found instead of $code: $*: $(cat "$work/err")"
  grep -qF -- "$text" "$work/err" || fail "no '$text' from: $*: $(cat "$work/err")"
}

"$cplearn" theory --json >"$work/theory.json" 2>"$work/log"
json "$work/theory.json" "len(r['checks']) >= 25 and all(c['holds'] for c in r['checks'])"
"$cplearn" theory --width 12 --batch 24 >"$work/theory.txt"
grep -q "29 of 29 hold" "$work/theory.txt" || fail "theory for people"

for kind in hadamard rademacher; do
  "$cplearn" bench head --width 48 --codes 500 --batch 9 --dictionary $kind --steps 2 --json >"$work/bench.json" 2>"$work/log"
  json "$work/bench.json" "r['agree'] and r['ratio'] > 0 and r['fused_seconds'] > 0 and r['plain_seconds'] > 0 and 'fused_extra_mb' in r and 'plain_extra_mb' in r"
  "$cplearn" dictionary --width 50 --codes 300 --dictionary $kind --out "$work/d.safetensors" --figure "$work/d.svg" --json >"$work/dictionary.json" 2>"$work/log"
  json "$work/dictionary.json" "r['exhaustive'] and r['pairs'] == 300*299//2 and sum(r['histogram']) == r['pairs']"
  grep -q "</svg>" "$work/d.svg" || fail "no figure"
done
"$cplearn" dictionary --width 128 --codes 16384 --pairs 1000 --out "$work/small.safetensors" --quiet
[ "$(stat -c %s "$work/small.safetensors")" -lt 4096 ] || fail "a hadamard dictionary takes kilobytes"
"$cplearn" info --json --quiet >"$work/info.json" && json "$work/info.json" "r['instruction_sets'] and r['version']"

for isa in $(python3 -c 'import json,sys; print(*json.load(open(sys.argv[1]))["instruction_sets"])' "$work/info.json"); do
  CPLEARN_ISA=$isa "$cplearn" bench head --width 20 --codes 100 --batch 5 --steps 1 --json >"$work/isa.json" 2>"$work/log"
  json "$work/isa.json" "r['agree'] and r['instruction_set'] == '$isa'"
done

expect 1 "no instruction set 'MMX'" env CPLEARN_ISA=MMX "$cplearn" info
expect 2 "did you mean '--width'" "$cplearn" bench head --widht 4
expect 2 "did you mean 'head'" "$cplearn" bench hed
expect 2 "must be at least 1, got 0" "$cplearn" bench head --codes 0
expect 2 "must be one of hadamard, rademacher, got walsh" "$cplearn" bench head --dictionary walsh
expect 2 "must be at least 0, got -1" "$cplearn" bench head --beta -1
expect 2 "--help" "$cplearn"
expect 2 "--help" "$cplearn" nonsense
expect 1 "codes must be under 1/eps" "$cplearn" bench head --codes 200000000
expect 1 "width must be the order of a Hadamard matrix" "$cplearn" theory --width 50
expect 1 "batch must be a multiple of the width" "$cplearn" theory --batch 100
expect 1 "standard output could not be written" bash -c '"$0" info --json >/dev/full' "$cplearn"
expect 1 "/no/such/folder" "$cplearn" dictionary --out /no/such/folder/d.safetensors --pairs 10
for command in theory dictionary "bench head" info; do
  # shellcheck disable=SC2086
  "$cplearn" $command --help >"$work/help.txt"
  grep -q -- "--json" "$work/help.txt" || fail "$command --help"
done
echo "all command-line tests of the head passed"
