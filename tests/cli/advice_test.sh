#!/bin/bash
# A failure is planted in a training, the words that it ends with are followed, and the same command is healthy.
#   advice_test.sh CPLEARN
source "$(dirname "$0")/lib.sh"

train=("$cplearn" train --data shapes:1024 --width 16 --codes 64 --epochs 4 --batch 32 --threads 1 --no-recover --quiet)

# mended NAME WORDS OPTIONS...: this training must fail with these words; what it says to use must mend it.
mended() {
  local name=$1 words=$2; shift 2
  "${train[@]}" --json --out "$name-planted" "$@" >said.txt 2>&1
  check "$name: named" grep -q "$words" said.txt
  local advice; mapfile -t advice < <(grep -oE -- '--[a-z-]+ [^ ]+ \(now' said.txt | sort -u | sed 's/ (now//' | tr ' ' '\n')
  check "$name: has advice" test "${#advice[@]}" -ge 2
  prints mended.json "${train[@]}" --json --out "$name-mended" "$@" "${advice[@]}"
  check "$name: mended by ${advice[*]}" json mended.json "r['verdict'] == 'healthy'"
}

mended uniform "codes tell 0\.00" --deviation 0.05
mended one-code "cluster collapse: 1\.[0-9]* codes" --method cplearn_paper --scale author --beta 100 --lr 1e-2
mended few-codes "cluster collapse: 2\.[0-9]* codes" --beta 10
mended low-rank "verdict\": \"collapsed: dimensional\"" --method barlow --barlow-lambda 0
mended constant "deviate from their mean by 0 %" --method vicreg --vicreg-variance 0 --optimizer adamw --weight-decay 100 --lr 1e-2
mended diverged "dimensional collapse" --lr 1
mended nan "is not finite\|contains NaN" --optimizer sgd --lr 1e20

conclude
