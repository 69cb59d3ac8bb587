#!/bin/bash
# cplearn diagnose, embed, cluster and eval --bn from outside.
#   diagnose_test.sh CPLEARN
source "$(dirname "$0")/lib.sh"
exits() { local code=$1; shift; "$@" >out.txt 2>&1; local got=$?; [ $got = "$code" ] || { echo "exit $got: $(cat out.txt)"; return 1; }; }
says() { grep -q -- "$1" out.txt || { cat out.txt; return 1; }; }
# Debian's own Python is the one that has NumPy.
python() { if [ -x /usr/bin/python3 ]; then /usr/bin/python3 "$@"; else python3 "$@"; fi; }

"$cplearn" train --data shapes:320 --width 8 --codes 32 --epochs 2 --batch 32 --quiet --out run || exit 1

"$cplearn" diagnose run --json --quiet >found.json; code=$?
check "diagnose tells the verdict by its exit code" python - $code <<'PY'
import json, sys
found = json.load(open("found.json"))
assert (found["verdict"] == "collapsed") == (int(sys.argv[1]) == 3), (found["verdict"], sys.argv[1])
for name in "representation", "dimensional", "cluster", "intracluster":
    assert {"value", "threshold", "verdict", "words", "advice"} <= set(found[name]), found[name]
assert found["images"] == 320 and found["codes"] == 32 and found["width"] == 8
assert found["certificate"]["loss"] >= found["certificate"]["bound"] - 1e-6
assert found["usage"]["counts"] == sorted(found["usage"]["counts"], reverse=True)
assert sum(found["usage"]["counts"]) == 320
assert set(found["statistics"]) == {"representation", "linear", "batch_norm", "embedding"}
assert json.load(open("run/diagnosis.json")) == found
gallery = json.load(open("run/gallery.json"))
count = len(gallery["map"]["tsne"])
assert count == 320 and all(len(gallery["map"][k]) == count for k in ("pca", "label", "code", "file", "tile"))
assert gallery["clusters"]["largest"][0]["images"] == found["usage"]["counts"][0]
assert gallery["sprite"]["data"].startswith("data:image/jpeg;base64,/9j/")
PY

for what in representation embedding probabilities code; do
  check "embed $what" exits 0 "$cplearn" embed run --data shapes@test#70 --what $what --out $what.npy
done
check "the files are NumPy's" python - <<'PY'
import csv
try:
    import numpy as np
except ImportError:
    raise SystemExit(0)
p, code = np.load("probabilities.npy"), np.load("code.npy")
assert p.shape == (70, 32) and code.shape == (70,) and np.load("representation.npy").shape == (70, 8)
assert np.allclose(p.sum(1), 1, atol=1e-5) and (p.argmax(1) == code).mean() > 0.95
assert np.abs(np.load("embedding.npy")).max() <= 1
rows = list(csv.DictReader(open("code.csv")))
assert len(rows) == 70 and rows[69]["row"] == "69" and rows[0]["file"] and rows[0]["class"]
np.save("constant.npy", np.ones((50, 6), "f8"))
np.save("rows.npy", np.asfortranarray(np.random.default_rng(0).normal(size=(500, 6))))
np.save("bytes.npy", np.ones((5, 6), "u1"))
PY
check "embed again" exits 0 "$cplearn" embed run --data shapes@test#70 --what code --out code.npy
echo "my,own,table" >mine.csv
check "a table of one's own is not overwritten" refused 1 "mine.csv is there already" "$cplearn" embed run --what code --out mine.npy
check "  and stays" grep -qx "my,own,table" mine.csv
check "  and nothing is left beside it" test -z "$(ls mine.npy* mine.csv.* 2>/dev/null)"
if [ -e constant.npy ]; then
  check "constant embeddings are collapsed" exits 3 "$cplearn" diagnose --embeddings constant.npy --out here
  check "  and the file is there" test -s here/diagnosis.json
  check "random ones are healthy" exits 0 "$cplearn" diagnose --embeddings rows.npy
  check "other types are refused" exits 1 "$cplearn" diagnose --embeddings bytes.npy
  check "  with advice" says astype
else
  echo "SKIPPED: plain embeddings, NumPy is missing"
fi
check "a run or embeddings" exits 2 "$cplearn" diagnose
check "no such run" exits 1 "$cplearn" diagnose nowhere

mkdir -p photos/sub
"$cplearn" embed run --data shapes:3 --what code --out few.npy --quiet
python - <<'PY'
# Plain PPM pictures of different colours.
import random
for i in range(40):
    colour = [random.Random(i).randrange(256) for _ in range(3)]
    with open(f"photos/{i}, picture.ppm", "wb") as f:
        f.write(b"P6 40 36 255\n" + bytes(colour) * (40 * 36))
PY
rmdir photos/sub
check "cluster an unlabelled folder" exits 0 "$cplearn" cluster run --data photos --out groups --links
check "a line per image" test "$(wc -l < groups/clusters.csv)" = 41
check "a link per image" test "$(find groups/links -type l -exec test -e {} \; -print | wc -l)" = 40
check "a page" grep -q "data:image/jpeg;base64" groups/index.html
check "cluster with k" exits 0 "$cplearn" cluster run --data photos --out three --k 3 --json
check "links are never overwritten" exits 1 "$cplearn" cluster run --data photos --out groups --links
mkdir strange; printf 'codes = 64\n\033[2Jno setting\n' >strange/config.toml
for command in compare report; do
  check "$command says what is wrong with a file" exits 0 "$cplearn" $command strange
  check "  without a say over the terminal" says "'?\[2Jno setting'"
done
check "eval with the batches' statistics" exits 0 "$cplearn" eval run --test shapes@test#65 --bn batch
check "  says so" says "authors' script"
conclude
