#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='all output of a job reaches the stock clients that read it

Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

require_some_broker
test -x "$WEIR_BROKER" || { skip_all="$WEIR_BROKER is not built"; test_done; }

conf_of_both

test_expect_success 'the embedded broker starts' '
	start_broker here -c conf.toml
'
test_expect_success 'more output than is read at a time arrives whole' '
	seq 300000 >expected &&
	flux run -n1 seq 300000 >got </dev/null && cmp expected got
'
test_expect_success 'so it does when the job has ended' '
	id=$(flux submit -n1 seq 300000) && flux job wait-event -q $id clean &&
	flux job attach $id >got </dev/null && cmp expected got
'
test_expect_success 'many short lines arrive whole, though their messages are longer than a client may leave unread' '
	yes | head -c 1000000 >expected.yes &&
	flux run -n1 sh -c "yes | head -c 1000000" >got </dev/null && cmp expected.yes got
'
test_expect_success 'a reader that pauses is not disconnected, and costs the broker little' '
	id=$(flux submit -n1 sh -c "yes | head -c 1000000") && flux job wait-event -q $id clean &&
	rm -f lines && mkfifo lines && { flux job attach $id >lines </dev/null & } && attach=$! &&
	exec 7<lines && read -r first <&7 && test "$first" = y &&
	flux run -n1 true && flux run -n1 true </dev/null &&
	kb=$(awk "/VmRSS/ { print \$2 }" /proc/$(broker_pid here)/status) && echo "$kb KiB" &&
	test $kb -lt $((100000 * SANITIZER_MEMORY)) &&
	{ echo "$first" && cat <&7; } >got && exec 7<&- && wait $attach && cmp expected.yes got
'
test_expect_success 'a job that is purged meanwhile takes nothing from its reader' '
	id=$(flux submit -n1 seq 300000) && flux job wait-event -q $id clean &&
	rm -f lines && mkfifo lines && { flux job attach $id >lines </dev/null & } && attach=$! &&
	exec 7<lines && read -r first <&7 && test "$first" = 1 &&
	flux job purge --force --num-limit=0 &&
	{ echo "$first" && cat <&7; } >got && exec 7<&- && wait $attach && cmp expected got
'
test_expect_success 'the broker stops' '
	stop_broker here
'
test_done
