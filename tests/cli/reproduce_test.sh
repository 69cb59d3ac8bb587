#!/bin/bash
# cplearn reproduce from outside: the table, cells that go on or are never run again, shared folders.
#   reproduce_test.sh CPLEARN
source "$(dirname "$0")/lib.sh"

"$cplearn" reproduce --list --json >list.json
check "lists the experiments" json list.json "{'table1','table2','table3','table4','table5','beta'} <= {e['name'] for e in r['experiments']}"

table1=("$cplearn" reproduce table1 --budget smoke --threads 1 --quiet --json)
"${table1[@]}" --out all >first.json
check "table 1 runs" json first.json "r['ran'] == r['finished'] == r['cells'] == len(r['table']) == 9 and not r['failed']"
check "  every NMI stands with its chance level, AMI and codes used" json first.json \
  "all('mean' in row[k] for row in r['table'] if row['nmi'] for k in ('nmi_chance', 'ami', 'codes_used'))"
check "  every row has a linear score" json first.json "all(0 < row['linear_top1']['mean'] < 1 for row in r['table'])"
check "  Markdown" test "$(grep -c '^| shapes' all/table1/table.md)" = 9
check "  CSV" test "$(wc -l <all/table1/table.csv)" = 10
check "  LaTeX" test "$(grep -c '^shapes &' all/table1/table.tex)" = 9
before=$(find all -name '*.safetensors' -o -name '*.json' | sort | xargs stat -c '%n %Y %s')
"${table1[@]}" --out all >second.json
check "a second call runs nothing" json second.json "r['ran'] == 0 and r['finished'] == r['cells'] and len(r['table']) == 9"
check "  and changes no run" test "$before" = "$(find all -name '*.safetensors' -o -name '*.json' | sort | xargs stat -c '%n %Y %s')"
"$cplearn" reproduce table1 --budget smoke --threads 1 --quiet --json --only row=cplearn-f --out all >part.json
check "  and a part still shows the whole table" json part.json "len(r['table']) == 9"
check "other settings are refused" refused 1 "other settings" "${table1[@]}" --out all --epochs 1

one=("$cplearn" reproduce table1 --budget smoke --threads 1 --only row=cplearn-f --epochs 40 --set checkpoint-every=3)
cell=table1/shapes-cplearn-f-s0
"${one[@]}" --out whole --quiet
for how in INT KILL; do
  "${one[@]}" --out $how >$how.txt 2>&1 &
  pid=$!
  for wait in $(seq 300); do [ -s $how/$cell/checkpoint.safetensors ] && break; sleep 0.05; done
  check "$how: a second process leaves a cell alone that is being run" json <("${one[@]}" --out $how --json --quiet) "r['busy'] == 1 and r['ran'] == 0"
  kill -$how $pid; wait $pid 2>/dev/null
  check "  $how stops it" test ! -e $how/$cell/cell.json
  "${one[@]}" --out $how --quiet
  check "  and it goes on to the same bits" same_tensors whole/$cell $how/$cell
done
check "INT says how to go on" grep -q "same command" INT.txt

# A cell that fails is reported and the next one is run.
"$cplearn" reproduce table1 --budget smoke --threads 1 --quiet --json --only 'row=cplearn-10|cplearn-f' --out broken --epochs 1 >/dev/null
rm broken/table1/*/cell.json; head -c 100 broken/table1/shapes-cplearn-10-s0/config.toml >broken/table1/shapes-cplearn-10-s0/checkpoint.safetensors
"$cplearn" reproduce table1 --budget smoke --threads 1 --quiet --json --only 'row=cplearn-10|cplearn-f' --out broken --epochs 1 >broken.json 2>broken.txt
check "a failed cell is an exit code" test $? = 1
check "  and does not stop the others" json broken.json "r['ran'] == 1 and r['failed'][0]['cell'] == 'shapes-cplearn-10-s0'"

"$cplearn" reproduce table1 --budget cpu --dry-run --data-dir . --only row=cplearn-f --json >dry.json 2>dry.txt
check "data sets that are not there are named" grep -q "svhn is not in" dry.txt
"$cplearn" reproduce table4 --budget smoke --dry-run --json --threads 1 >dry.json 2>/dev/null
check "a dry run says what it would cost" json dry.json "len(r['cells']) == 6 and r['seconds'] > 0"
check "  and runs nothing" test ! -e reproduce
"$cplearn" reproduce dictionary --out figures --quiet
check "a figure" grep -q "</svg>" figures/dictionary/dictionary.svg
printf 'title = mine\nnote = small\naxis codes = 8, 64\ncolumns = ami\nimages = 64\ntest-images = 64\nwidth = 8\nepochs = 1\n[figure scores]\nkind = scores\nx = codes\ny = ami\n' >mine.ini
"$cplearn" reproduce --config mine.ini --out own --threads 1 --quiet --json >own.json
check "an experiment of one's own" json own.json "[row['codes'] for row in r['table']] == ['8', '64'] and 'own/mine/scores.svg' in r['files']"
printf 'title = mine\naxis codes = 8, ../../elsewhere\n' >foreign.ini
check "a name that leads elsewhere" refused 1 "foreign.ini, line 2" "$cplearn" reproduce --config foreign.ini --out own
check "typo in the name" refused 1 "did you mean 'table1'" "$cplearn" reproduce tabel1
check "no such cell" refused 1 "is left by --only" "$cplearn" reproduce table1 --only method=nothing
check "unknown setting" refused 1 "did you mean 'width'" "$cplearn" reproduce table1 --only row=cplearn-f --set widht=3 --out typo

conclude
