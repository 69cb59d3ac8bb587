#!/bin/bash
# cplearn train from outside: resume after kill -9, threads, signals, refused settings, full disks.
#   train_test.sh CPLEARN [KILLS]      KILLS: how often to kill a run at a random moment (default 3)
source "$(dirname "$0")/lib.sh"
kills=${2:-3}

metrics() { sed 's/,"images_per_second":[^,}]*//' "$1/metrics.jsonl"; }
same_run() { same_tensors "$1" "$2" && diff <(metrics "$1") <(metrics "$2") >&2; }

settings=(--data shapes:320 --width 8 --codes 64 --epochs 4 --batch 32 --threads 1 --quiet)

check "trains" "$cplearn" train "${settings[@]}" --out whole
check "again gives the same bits" "$cplearn" train "${settings[@]}" --out again
check "  (compared)" same_run whole again
"$cplearn" train "${settings[@]}" --loader-threads 2 --out two
check "2 loader threads give the same" same_run whole two

"$cplearn" train "${settings[@]}" --out stopped --stop-after 17 2>/dev/null
"$cplearn" train --resume stopped --stop-after 0 --quiet
check "stopped in the middle of an epoch and resumed" same_run whole stopped

# kill -9 at random moments, a checkpoint at every third step, until the run is finished.
"$cplearn" train "${settings[@]}" --out reference --checkpoint-every 3
killed=0; round=0
while [ "$killed" -lt "$kills" ]; do
  round=$((round + 1))
  rm -rf victim
  start=("$cplearn" train "${settings[@]}" --out victim --checkpoint-every 3)
  for attempt in $(seq 200); do
    "${start[@]}" &
    pid=$!
    sleep "$(awk -v r=$RANDOM 'BEGIN { printf "%.3f", 0.5 + r / 32768 * 1.2 }')"
    if [ "$killed" -lt "$kills" ] && kill -9 $pid 2>/dev/null; then killed=$((killed + 1)); fi
    wait $pid 2>/dev/null && break
    [ -e victim/config.toml ] && start=("$cplearn" train --resume victim --quiet)
  done
  check "round $round: the same after $killed kills" same_run reference victim
done

"$cplearn" train "${settings[@]}" --epochs 40 --out signal 2>signal.txt &
pid=$!
for wait in $(seq 300); do [ -s signal/metrics.jsonl ] && break; sleep 0.1; done
kill -INT $pid; wait $pid; code=$?
check "SIGINT ends cleanly" test $code = 0
check "  says how to go on" grep -q -- "--resume signal" signal.txt
check "  and saved" test -s signal/checkpoint.safetensors

check "changed settings are refused" refused 1 "beta" "$cplearn" train --resume stopped --beta 0.25
check "  unless told otherwise" "$cplearn" train --resume stopped --lr 0.002 --override --quiet
check "a run is not overwritten" refused 1 "already holds a run" "$cplearn" train "${settings[@]}" --out whole
check "NaN stops" refused 1 "learning rate" "$cplearn" train "${settings[@]}" --optimizer sgd --lr 1e30 --warmup 0 --out nan
check "unknown option" refused 2 "did you mean '--epochs'" "$cplearn" train --epoch 3
check "out of range" refused 2 "at least 1" "$cplearn" train --epochs 0
check "missing data" refused 1 "nowhere" "$cplearn" train --data nowhere --out missing
printf 'epochs = 2\nwidht = 8\n' >typo.toml
check "typo in a config file" refused 1 "did you mean 'width'" "$cplearn" train --config typo.toml --out typo
printf 'epochs = 1\nwidth = 8\ndata = "shapes:64"\n' >good.toml
check "config file" "$cplearn" train --config good.toml --codes 32 --quiet --out configured
check "  the file counts" grep -q '^epochs = 1 ' configured/config.toml
check "  and so does the command line" grep -q '^codes = 32 ' configured/config.toml
check "config from a pipe" "$cplearn" train --config <(cat good.toml) --codes 32 --quiet --out piped
check "  the pipe counts" grep -q '^epochs = 1 ' piped/config.toml
check "typo in a pipe" refused 1 "did you mean 'width'" "$cplearn" train --config <(cat typo.toml) --out typo
# Photographs of one's own and nothing else: what suits them is chosen, said and saved.
mkdir photos && python3 - <<'PY'
import struct, zlib, random
for n in range(12):
    random.seed(n)
    w, h = 120, 90
    rows = b"".join(b"\0" + bytes(random.randrange(256) for _ in range(3 * w)) for _ in range(h))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(f"photos/{n}.png", "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PY
check "a folder alone" prints alone.txt "$cplearn" train --data photos --batch 4 --minutes 0.02 --out alone
check "  says what it chose" grep -q "12 images, 90 pixels .*resnet8 .*views of 64 x 64" alone.txt
check "  and how long it takes" grep -q "images/s here: .* minutes" alone.txt
check "  and saves it" grep -q '^image-size = 64 ' alone/config.toml
check "  what is written counts more" "$cplearn" train --data photos --batch 4 --image-size 16 --backbone resnet8 --width 8 --epochs 1 --quiet --out mine
check "  (compared)" grep -q '^image-size = 16 ' mine/config.toml
check "beta 10 is called collapsed" refused 3 "collapsed" "$cplearn" train --method cplearn_paper --data shapes:320 --width 8 --codes 64 \
  --batch 32 --epochs 25 --lr 0.01 --beta 10 --strict --out ten

head -c 5000 whole/checkpoint.safetensors >again/checkpoint.safetensors
check "a truncated checkpoint is refused" refused 1 "truncated" "$cplearn" train --resume again
cp whole/checkpoint.safetensors two/checkpoint.safetensors
last=$(($(stat -c %s two/checkpoint.safetensors) - 100))  # among the tensors
printf 'x' | dd of=two/checkpoint.safetensors bs=1 seek=$last conv=notrunc 2>/dev/null
check "a damaged checkpoint is refused" refused 1 "damaged" "$cplearn" train --resume two

# RLIMIT_FSIZE stands in for a full disk: the old checkpoint must stay.
cp -r stopped full; cp full/checkpoint.safetensors before
(ulimit -f 20; trap '' XFSZ; refused 1 "cannot write" "$cplearn" train --resume full --epochs 6 --override --quiet)
check "a full disk is a clear error" test $? = 0
check "  and the checkpoint before it stays" cmp -s before full/checkpoint.safetensors
if [ "$(id -u)" != 0 ]; then
  mkdir readonly; chmod 555 readonly
  check "read-only output" refused 1 "readonly" "$cplearn" train "${settings[@]}" --out readonly/run
else
  check "output that cannot be made" refused 1 "cannot make" "$cplearn" train "${settings[@]}" --out /proc/run
fi

conclude
