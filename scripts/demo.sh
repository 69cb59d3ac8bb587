#!/usr/bin/env bash
# From nothing to a trained encoder: installs what is missing, builds, trains on built-in images (about two
# minutes on 2 cores), compares the encoder with an untrained one and with the pixels themselves, and makes a
# page about it.
#   scripts/demo.sh [RUN]        RUN: where to put it, default runs/demo; continued if it exists
set -euo pipefail
cd "$(dirname "$0")/.."
run=${1:-runs/demo}
step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

step "Installing and building"
scripts/setup.sh
cplearn=$(scripts/build.sh | tail -n 1)

step "What the network will see"
mkdir -p "$run"
"$cplearn" data info shapes --augment resnet8 --sheet "$run/views.png"

step "Training, without labels"
if [ -e "$run/config.toml" ]; then
  "$cplearn" train --resume "$run"
else
  "$cplearn" train --data shapes --test shapes@test --out "$run" \
    --width 32 --codes 256 --batch 16 --epochs 20
fi

step "Is it any good? Trained against untrained against pixels"
"$cplearn" eval "$run" --data shapes --test shapes@test --baselines

step "Has it collapsed? And a page about it all"
"$cplearn" diagnose "$run" || [ $? -eq 3 ]  # 3: it has, and the page says so too
"$cplearn" report "$run"

step "Look at"
echo "  $run/report.html     everything about this run, in a browser"
echo "  $run/views.png       images, and the views the network was trained on"
echo "  $run/metrics.jsonl   the curves;  $run/summary.json, $run/eval.json   the results"
echo
echo "Your own images: $cplearn train --data FOLDER"
