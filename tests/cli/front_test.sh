#!/usr/bin/env bash
# What needs no torch works without it: the program alone, without its engine beside it.
#   front_test.sh CPLEARN
source "$(dirname "$0")/lib.sh"
cp "$cplearn" alone
alone=$PWD/alone

check "it does not load torch" bash -c 'libraries=$(ldd "$1") && ! grep -qiE "torch|opencv" <<<"$libraries"' - "$alone"
check "--version" prints version.txt "$alone" --version
check "--help" prints help.txt "$alone" --help
for command in train eval diagnose embed cluster report compare ui data reproduce theory dictionary "bench train" info; do
  # shellcheck disable=SC2086
  check "$command --help" prints help.txt "$alone" $command --help
done
check "info" prints info.json "$alone" info --json --quiet
check "  says what was limited and which BLAS kernels are used" json info.json \
  "isinstance(r['limits'], list) and isinstance(r['blas_kernels'], str) and 'cplearn' in r['methods'] and r['onednn'] in (True, False)"
check "  a user's limit is the user's" prints limited.json env OPENBLAS_CORETYPE=Prescott "$alone" info --json --quiet
check "  and left alone" json limited.json "[l['by_user'] for l in r['limits'] if l['variable'] == 'OPENBLAS_CORETYPE'] == [True]"
check "  OMP_NUM_THREADS counts" prints threads.json env OMP_NUM_THREADS=3 "$alone" info --json --quiet
check "  unless --threads is given" prints given.json env OMP_NUM_THREADS=3 "$alone" info --threads 5 --json --quiet
check "  (compared)" json threads.json "r['threads'] == 3 and json.load(open('given.json'))['threads'] == 5"
check "reproduce --list" prints list.json "$alone" reproduce --list --json
check "  lists the paper's tables" json list.json "'table1' in [e['name'] for e in r['experiments']]"

mkdir run
printf 'method = "barlow"\n' >run/config.toml
printf '{"step": 1, "epoch": 0, "loss": 2.5}\n' >run/metrics.jsonl
check "compare" prints compare.json "$alone" compare run --json
check "report" prints report.json "$alone" report run --json
check "  makes a page" grep -q "</html>" run/report.html

check "a usage error" refused 2 "did you mean '--codes'" "$alone" train --code 3
check "a wrong setting" refused 1 "did you mean 'codes'" bash -c 'echo "code = 3" >wrong.toml; "$1" train --config wrong.toml' - "$alone"
check "an unknown budget" refused 2 "choose smoke, cpu or paper" "$alone" reproduce table1 --budget huge
check "what needs the engine says that it is missing" refused 1 "cplearn-engine" "$alone" theory

shows() { local with=$1 without=$2; shift 2; "$@" >help.txt && grep -q -- "$with" help.txt && ! grep -q -- "$without" help.txt; }
check "train --help shows what matters" shows "--minutes" "--gedi-steps" "$alone" train --help
check "  fewer than 50 lines" bash -c '[ "$(wc -l <help.txt)" -lt 50 ]'
check "  --help METHOD adds that method's" shows "--barlow-lambda" "--gedi-steps" "$alone" train --help barlow
check "  so does --method" shows "--barlow-lambda" "--gedi-steps" "$alone" train --method barlow --help
check "  --help-all shows everything, by topic" shows "^Method gedi:" "no such words" "$alone" train --help-all
check "  no line is too long" bash -c '! grep -qE "^.{101}" help.txt'
check "the manual has every command" bash -c '"$1" manual >cplearn.1 && [ "$(grep -c "^.SS" cplearn.1)" -ge 17 ] && grep -q "barlow..lambda" cplearn.1' - "$alone"
complete_bash() { bash -c 'source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cplearn; echo "${COMPREPLY[@]}"' "$alone" "$@"; }
check "bash completes commands" [ "$(complete_bash cplearn dia)" = diagnose ]
check "  commands below commands" [ "$(complete_bash cplearn data ver)" = verify ]
check "  options" [ "$(complete_bash cplearn train --image)" = --image-size ]
check "  values" [ "$(complete_bash cplearn train --method barl)" = barlow ]
conclude
