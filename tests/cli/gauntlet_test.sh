#!/bin/bash
# cplearn gauntlet from outside: runs, counts, goes on where it was, makes a page; images made worse.
#   gauntlet_test.sh CPLEARN
source "$(dirname "$0")/lib.sh"

smoke=("$cplearn" gauntlet --budget smoke --threads 1 --out out --json)
"${smoke[@]}" --method cplearn,barlow >first.json 2>said.txt
check "two methods run" json first.json "r['runs'] == 14 and r['methods']['cplearn']['runs'] == 8 and r['failed'] == 0"
check "  every run has a fate" json first.json "sum(r[k] for k in ('healthy','doubtful','recovered','collapsed','failed')) == r['runs'] and r['not run'] == 0"
check "  a table for people" grep -q "^| cplearn " said.txt
check "  a square for each run" test "$(grep -o '<b class="k[0-4]" title="seed' out/gauntlet.html | wc -l)" = 14
check "  a list for machines" json out/gauntlet.json "len(r) == 14 and {x['fate'] for x in r} <= {'healthy','doubtful','recovered','collapsed'}"
stamp=$(stat -c %Y out/cplearn-grey-s0/cell.json)
"${smoke[@]}" --method cplearn --quiet >again.json
check "a second call runs nothing again" test "$stamp" = "$(stat -c %Y out/cplearn-grey-s0/cell.json)"
check "  and counts one method alone" json again.json "list(r['methods']) == ['cplearn']"
check "the images of a run are altered" grep -q '+grey' out/cplearn-grey-s0/config.toml
check "unknown method" refused 1 "choose one of" "$cplearn" gauntlet --method nothing
check "unknown budget" refused 2 "smoke, cpu or paper" "$cplearn" gauntlet --budget huge
check "data that is not there is named" refused 1 "--data-dir" "$cplearn" gauntlet --budget cpu --data-dir .
prints info.json "$cplearn" data info shapes:64+grey --sheet '' --json
check "altered images are data like any other" json info.json "r['images'] == 64"
check "  with their name checked" refused 1 "did you mean 'grey'" "$cplearn" data info 'shapes:64@train+gray' --sheet ''

conclude
