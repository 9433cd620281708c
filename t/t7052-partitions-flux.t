#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='partitions as configuration in a stock Flux: the tables of doc/partitions.md, in a copy of a prefix with Weir'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md
test "$(nproc)" -ge 2 || { skip_all='two partitions want two cores'; test_done; }

test_expect_success 'a copy of the prefix with Weir, configured as the page says' '
	copy_prefix &&
	block "file: conf.d/partitions.toml" >copy/etc/flux/system/conf.d/partitions.toml
'
test_expect_success 'the partitions start, and a job of a queue runs in its partition' '
	{ block "run: flux" && echo "flux weir tree && flux dmesg | grep job-route"; } >first.sh && inside first.sh >first.out 2>&1; code=$?; cat first.out && test $code = 0 &&
	grep "^batch  *batch  *1  *sched-weir-easy" first.out && grep "^$(hostname)$" first.out && grep "job-route.*The partition batch serves its queue" first.out
'
cat >second.sh <<\EOF
flux queue start --all --quiet
run() { name=$1 && shift && flux submit --queue=$name --output=out --wait "$@" && cat out; }
run batch true
old=$(flux weir partition list --json | jq -r '.partitions[] | select(.name == "batch") | .instances[0].id')
flux job raise --type=test --severity=0 $(flux job id --to=f58 $old) by the test
run batch echo batch is back
flux weir partition drain debug
waits=$(flux submit --queue=debug --output=drained.out echo drained no more)
flux job wait-event -q -t 60 $waits priority
test "$(flux jobs -no '{state}' $waits)" = SCHED
flux weir partition resume debug
flux job wait-event -q -t 60 $waits clean && cat drained.out
flux weir partition restart debug --kill
run debug echo debug is new
flux weir partition remove debug
flux weir partition resize batch --cores 2
run batch -n2 echo batch has two cores
id=$(flux submit --queue=batch --output='named-{{id}}-{{id.dec}}' --wait echo named by the parent)
cat "named-$id-$(flux job id --to=dec $id)"
flux weir partition resize batch --cores 1
flux weir partition add more --queue debug --cores 1
run debug echo more is there
mkfifo told
for queue in batch debug; do
    id=$(flux submit --queue=$queue python3 -c 'import signal as s; s.pthread_sigmask(s.SIG_BLOCK, {s.SIGUSR1})
def tell(word): print(word, file=open("told", "w"))
tell("ready"); tell(s.Signals(s.sigwait({s.SIGUSR1})).name); s.pause()')
    timeout 60 cat told
    flux job kill -s USR1 $id
    echo "$queue got $(timeout 60 cat told)"
    flux job kill -s KILL $id
    flux job wait-event -q -t 60 $id clean && echo "$queue killed it"
done
flux weir partition list
flux dmesg | grep "job-route.*partition"
EOF
test_expect_success 'one that is ended is started again; drain, resume, restart, remove, resize, add and signals do what they say' '
	inside second.sh >second.out 2>&1; code=$?; cat second.out && test $code = 0 &&
	grep "^batch is back" second.out && grep "^drained no more" second.out && grep "^debug is new" second.out &&
	test $(grep -c "^batch has two cores" second.out) = 2 && grep "^named by the parent" second.out && grep "^more is there" second.out && grep "^more  *debug  *1 " second.out &&
	grep "^batch got SIGUSR1" second.out && grep "^batch killed it" second.out && grep "^debug got SIGUSR1" second.out && grep "^debug killed it" second.out &&
	grep "The partition batch ended (test: by the test); it starts again now" second.out
'
test_done
