#!/usr/bin/env bash
# The commands around the head, from outside: results, exit codes, messages.
#   head_cli_test.sh CPLEARN
source "$(dirname "$0")/lib.sh"

check "theory" prints theory.json "$cplearn" theory --json
check "the theory holds" json theory.json "len(r['checks']) >= 25 and all(c['holds'] for c in r['checks'])"
check "theory --optimise" prints free.json "$cplearn" theory --optimise --width 8 --beta 0.4 --steps 200 --json
check "  nothing collapses" json free.json "len(r['free_points']) == 32 and all(p['regime'] in ('spread', 'on codes') for p in r['free_points'])"
check "  but with a large beta" prints free2.json "$cplearn" theory --optimise --width 8 --beta 1.2 --correlation 0.2 --steps 200 --json
check "  it does" json free2.json "sum(p['regime'] == 'constant' for p in r['free_points']) > 16"
check "theory of another width" prints theory.txt "$cplearn" theory --width 12 --batch 24
check "  and says so to people" grep -q "29 of 29 hold" theory.txt

for kind in hadamard rademacher; do
  check "bench head, $kind" prints bench.json "$cplearn" bench head --width 48 --codes 500 --batch 9 --dictionary $kind --steps 2 --json
  check "  and its numbers" json bench.json \
    "r['agree'] and r['ratio'] > 0 and r['fused_seconds'] > 0 and r['plain_seconds'] > 0 and 'fused_extra_mb' in r and 'plain_extra_mb' in r"
  rm -f d.svg
  check "dictionary, $kind" prints dictionary.json "$cplearn" dictionary --width 50 --codes 300 --dictionary $kind --out d.safetensors --figure d.svg --json
  check "  and its numbers" json dictionary.json "r['exhaustive'] and r['pairs'] == 300*299//2 and sum(r['histogram']) == r['pairs']"
  check "  draws a figure" grep -q "</svg>" d.svg
done
"$cplearn" dictionary --width 128 --codes 16384 --pairs 1000 --out small.safetensors --quiet
check "a hadamard dictionary takes kilobytes" test "$(stat -c %s small.safetensors)" -lt 4096
check "info" prints info.json "$cplearn" info --json --quiet
check "  and what it lists" json info.json "r['instruction_sets'] and r['version']"

for isa in $(python3 -c 'import json; print(*json.load(open("info.json"))["instruction_sets"])'); do
  check "bench head with $isa" prints isa.json env CPLEARN_ISA="$isa" "$cplearn" bench head --width 20 --codes 100 --batch 5 --steps 1 --json
  check "  used it" json isa.json "r['agree'] and r['instruction_set'] == '$isa'"
done

check "an unknown instruction set" refused 1 "no instruction set 'MMX'" env CPLEARN_ISA=MMX "$cplearn" info
check "data that cannot be fetched" refused 2 "cifar10, cifar100 and svhn" "$cplearn" data fetch shapes
check "typo in an option" refused 2 "did you mean '--width'" "$cplearn" bench head --widht 4
check "typo in a command" refused 2 "did you mean 'head'" "$cplearn" bench hed
check "too few codes" refused 2 "must be at least 1, got 0" "$cplearn" bench head --codes 0
check "an unknown dictionary" refused 2 "must be one of hadamard, rademacher, got walsh" "$cplearn" bench head --dictionary walsh
check "a negative beta" refused 2 "must be at least 0, got -1" "$cplearn" bench head --beta -1
check "no command" refused 2 "--help" "$cplearn"
check "no such command" refused 2 "--help" "$cplearn" nonsense
check "too many codes" refused 1 "codes must be under 1/eps" "$cplearn" bench head --codes 200000000
check "theory with another width" refused 1 "width must be the order of a Hadamard matrix" "$cplearn" theory --width 50
check "theory with another batch" refused 1 "batch must be a multiple of the width" "$cplearn" theory --batch 100
check "a full disk" refused 1 "standard output could not be written" bash -c '"$0" info --json >/dev/full' "$cplearn"
check "a folder that is not there" refused 1 "/no/such/folder" "$cplearn" dictionary --out /no/such/folder/d.safetensors --pairs 10
for command in theory dictionary "bench head" info; do
  # shellcheck disable=SC2086
  check "$command --help" prints help.txt "$cplearn" $command --help
  check "  tells of --json" grep -q -- "--json" help.txt
done
conclude
