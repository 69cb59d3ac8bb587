#!/bin/bash
# Methods other than cplearn from outside: their defaults, evaluation without codes, multi-crop on a ViT.
#   methods_test.sh CPLEARN
source "$(dirname "$0")/lib.sh"

settings=(--data shapes:64 --test shapes:40@test --width 8 --epochs 1 --batch 16 --threads 1)
"$cplearn" train "${settings[@]}" --method swav --hidden 32 --out swav >swav.txt 2>/dev/null
check "says which defaults are the method's" grep -q "swav (codes 3000, hidden 32)" swav.txt
check "  and saves them" grep -q "^codes = 3000 " swav/config.toml

printf 'method = "swav"\ncodes = 50\nhidden = 32\n' >mine.toml
"$cplearn" train "${settings[@]}" --config mine.toml --quiet --out mine
check "a file counts more than a method's defaults" grep -q "^codes = 50 " mine/config.toml

"$cplearn" train "${settings[@]}" --method barlow --hidden 32 --quiet --stop-after 2 --out barlow 2>/dev/null
check "resumes" "$cplearn" train --resume barlow --stop-after 0 --quiet
"$cplearn" eval barlow --json --quiet >barlow.json
check "evaluates without codes" test $? = 0
check "  by k-means" grep -q kmeans_ami barlow.json
check "  only" test -z "$(grep codes_used barlow.json)"

check "DINO with multi-crop on a ViT" "$cplearn" train --data shapes:32 --method dino --backbone vit_tiny --image-size 16 \
  --patch-size 8 --local-views 2 --hidden 16 --codes 30 --batch 8 --epochs 1 --threads 1 --quiet --out dino
check "  evaluates" "$cplearn" eval dino --test shapes:40@test --quiet

"$cplearn" train --method simclr --out none 2>unknown.txt
check "an unknown method is an error" test $? = 1
check "  that lists the methods" grep -q "self_classifier" unknown.txt

conclude
