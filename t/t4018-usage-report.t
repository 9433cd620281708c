#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='usage report: by account, project and time, equal to the eventlogs to the microsecond, on every broker here'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

WEIR="$WEIR_BUILD_DIR/bin/weir"
export WEIR

cat >script.sh <<'EOS'
for project in qcd qed; do
	flux submit -n1 --setattr=system.bank=bio --setattr=system.project=$project \
		--setattr=system.exec.test.run_duration=0.3s true
	flux submit -n2 --setattr=system.bank=physics/lattice --setattr=system.project=$project \
		--setattr=system.exec.test.run_duration=0.2s true
done >ids
flux submit -n1 --setattr=system.bank=bio --setattr=system.exec.test.run_duration=0.2s true >>ids
for id in $(cat ids); do flux job wait-event -q -t 60 "$id" clean; done
sync_priorities
"$WEIR" usage report --json >report
"$WEIR" usage report --by=bank,user,project,queue,day --json >fine
"$WEIR" usage report --since=today --by=project --unit=core-seconds >table 2>note
"$WEIR" usage report --since=1999-01-01 --by=month --json >before 2>early
"$WEIR" usage show --json >usage
flux python "$PRIORITY_CONF/charged.py" >expected
! "$WEIR" usage report --since=soon 2>refused
! "$WEIR" usage report --by=moon 2>>refused
! "$WEIR" usage report --since=2026-02-31 2>>refused
EOS

for broker in $BROKERS; do
	test_expect_success "$broker: jobs of two accounts and two projects run" '
		rm -rf report "state-'"$broker"'" && in_instance '"$broker"' "$PWD/state-'"$broker"'" ./script.sh
	'
	test_expect_success "$broker: the total is the sum over the eventlogs, and the sum of the rows, to the microsecond" '
		jq .total expected >want && jq -e ". > 0" want &&
		for form in report fine; do
			jq .total_core_us $form >got && test_cmp want got &&
			jq "[.rows[].core_us] | add" $form >got && test_cmp want got || return 1
		done
	'
	test_expect_success "$broker: an account has what its jobs used" '
		jq ".[\"physics/lattice\"]" expected >want &&
		jq "[.rows[] | select(.account == \"physics/lattice\") | .core_us] | add" fine >got && test_cmp want got
	'
	test_expect_success "$broker: the projects are told apart, and a job without one is under *" '
		test "$(jq -r "[.rows[].project] | unique | join(\",\")" fine)" = ",qcd,qed" &&
		sed -n "s/^\([a-z*]*\) .*%$/\1/p" table | sort >names && printf "%s\n" \* all qcd qed | sort >want &&
		test_cmp want names
	'
	test_expect_success "$broker: a table in core-seconds adds up exactly" '
		sed -n "s/^\(qcd\|qed\|\*\)  *\([0-9.]*\) .*/\2/p" table | tr -d . | paste -sd+ | bc >sum &&
		sed -n "s/^all  *\([0-9.]*\) .*/\1/p" table | tr -d . | bc >total && test_cmp total sum
	'
	test_expect_success "$broker: where the history begins is said" '
		grep "^The history begins at 20" early && jq -e ".since > 1.7e9 and .since <= .now" before
	'
	test_expect_success "$broker: what is no time, no label and no date is refused with what is" '
		grep "\"soon\" is no time. Write a date" refused && grep "takes account (or bank), user" refused &&
		grep "\"2026-02-31\" is no time" refused
	'
	test_expect_success "$broker: a restart has the same report" '
		cp fine fine.first && echo "\"\$WEIR\" usage report --by=bank,user,project,queue,day --json >fine" >again.sh &&
		in_instance '"$broker"' "$PWD/state-'"$broker"'" ./again.sh &&
		jq .rows fine.first >want && jq .rows fine >got && test_cmp want got
	'
done
test_done
