#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='commands and Python bindings of a stock Flux do the same with the embedded broker as with a stock one

Runs t/stock/commands.txt and t/stock/bindings.py on both brokers. The table of doc/rfc-map.md is what was found:
WEIR_WRITE_TABLE=1 writes it anew. Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

require_some_broker
test -x "$WEIR_BROKER" || { skip_all="$WEIR_BROKER is not built"; test_done; }
STOCK=$SHARNESS_TEST_SRCDIR/stock
COMMANDS=$SHARNESS_TEST_SRCDIR/tools/stock_commands.py
MAP=$(cd "$SHARNESS_TEST_SRCDIR/.." && pwd)/doc/rfc-map.md

mkdir -p state && chmod 700 state
conf_of_both
on_stock() {
	env -u FLUX_URI flux start --test-size=1 --config-path="$PWD/conf.toml" --setattr=log-stderr-level=1 "$@"
}
cat >wait_text.py <<-\EOF
	import sys, time
	end = time.monotonic() + 60
	while sys.argv[2] not in open(sys.argv[1]).read():
	    if time.monotonic() > end:
	        sys.exit(sys.argv[2] + " did not come")
	    time.sleep(0.02)
EOF

test_expect_success 'every command of this flux is tried' '
	python3 "$COMMANDS" missing "$STOCK/commands.txt" >untried || { cat untried; false; }
'
test_expect_success 'the embedded broker starts' '
	start_broker here -c conf.toml -S statedir="$PWD/state"
'
test_expect_success 'the commands run on both brokers' '
	{ on_stock python3 "$COMMANDS" run "$STOCK/commands.txt" "$PWD/stock.json" >stock.out 2>&1 & } &&
	python3 "$COMMANDS" run "$STOCK/commands.txt" "$PWD/here.json" >here.out 2>&1 &&
	wait $! && test -s stock.json
'
test_expect_success 'every difference is explained' '
	python3 "$COMMANDS" table "$STOCK/commands.txt" stock.json here.json >table 2>differences ||
	{ cat differences; false; }
'
test -z "$WEIR_WRITE_TABLE" || python3 "$COMMANDS" write table "$MAP"
test_expect_success 'the table in doc/rfc-map.md is the one that was found' '
	sed -n "/^<!-- commands:/,/^<!-- \/commands/p" "$MAP" | sed "1d;\$d" >written &&
	diff written table
'
test_expect_success 'the Python bindings: the same examples give the same on both brokers' '
	{ flux python "$STOCK/bindings.py" >here.py.out 2>here.py.err || { cat here.py.out here.py.err; false; }; } &&
	{ on_stock flux python "$STOCK/bindings.py" >stock.py.out 2>stock.py.err || { cat stock.py.err; false; }; } &&
	cat here.py.out && test -s here.py.out && test_cmp stock.py.out here.py.out
'
test_expect_success 'output reaches one who attaches while the job still runs' '
	mkfifo go && : >attached &&
	id=$(flux submit -n1 sh -c "echo before; read line <go; echo after \$line") &&
	{ flux job attach "$id" >attached 2>&1 & } && attach=$! &&
	python3 wait_text.py attached before &&
	echo it >go && wait $attach && cat attached && grep "^after it" attached
'
test_expect_success 'a drained node is drained after a restart, and a job waits for it' '
	flux resource drain 0 broken fan && stop_broker here &&
	start_broker here -c conf.toml -S statedir="$PWD/state" &&
	flux resource drain -no "{ranks} {reason}" >drained && grep "^0 broken fan" drained &&
	id=$(flux submit -n1 true) && flux job wait-event -q $id priority &&
	flux jobs -no "{state}" $id >state.out && grep SCHED state.out &&
	flux resource undrain 0 && flux job attach $id
'
test_expect_success 'dependencies hold over a restart' '
	first=$(flux submit -n1 --urgency=0 --job-name=same true) &&
	ok=$(flux submit -n1 --dependency=afterok:$first true) &&
	not=$(flux submit -n1 --dependency=afternotok:$first true) &&
	single=$(flux submit -n1 --job-name=same --dependency=singleton true) &&
	later=$(flux submit -n1 --begin-time=+2s true) &&
	stop_broker here && start_broker here -c conf.toml -S statedir="$PWD/state" &&
	flux jobs -no "{state}" $ok $not $single >states && test "$(sort -u states)" = DEPEND &&
	flux job urgency $first default && flux job attach $ok && flux job attach $single && flux job attach $later &&
	test_must_fail flux job attach $not 2>not.err && grep "can never be satisfied" not.err &&
	for id in $ok $single $later; do
		flux job eventlog $id >log && test "$(grep -c dependency-add log)" = 1 || return 1
	done
'
test_expect_success 'flux shutdown ends the jobs and the broker, and returns then' '
	mkfifo up && id=$(flux submit -n1 sh -c "trap \"echo told; exit\" TERM; echo >up; sleep 300 & wait") && read line <up &&
	flux shutdown && grep told "state/output/$(flux job id --to=f58plain $id).out" && wait $(broker_pid here)
'
test_expect_success 'flux shutdown --background returns at once' '
	start_broker here -c conf.toml -S statedir="$PWD/state" && flux shutdown --background && wait $(broker_pid here)
'
test_done
