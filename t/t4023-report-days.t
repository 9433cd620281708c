#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='usage reports of days in a time zone that is off by half an hour: no day has an hour of another one'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

TZ=IST-5:30 && export TZ
# core_us OPTION...: what was charged, in core-microseconds
core_us() {
	weir usage report --json "$@" >report.json && jq -e .total_core_us report.json
}
# day N: the date N days after the partitions were up
day() {
	date -d "$(date -d "@${up%.*}" +%F) + $1 day" +%F
}

test_expect_success 'partitions hold eight cores for three days of instance time' '
	start_weir --cores 8 --scale 100000 && weir usage report --json >report.json && up=$(jq .now report.json) &&
	weir submit --wait -n1 --simulate=72h days
'
test_expect_success 'a day has 24 hours, and adjacent days add up' '
	one=$(core_us --since=$(day 1) --until=$(day 2)) && other=$(core_us --since=$(day 2) --until=$(day 3)) &&
	both=$(core_us --since=$(day 1) --until=$(day 3)) && echo $one $other $both &&
	test $one = $((8 * 86400 * 1000000)) && test $other = $one && test $both = $((one + other))
'
test_expect_success 'the first row of a report by day or month has the name of the day or month that was asked for' '
	weir usage report --since=$(day 1) --until=$(day 3) --by=day >out && cat out && sed -n 2p out | grep "^$(day 1)" &&
	month=$(day 1) && month=${month%-*} && weir usage report --since=$month --by=month >out && cat out &&
	sed -n 2p out | grep "^$month"
'
test_expect_success 'it ends' '
	stop_weir
'

test_done
