#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir output and weir submit --wait in a stock Flux, which keeps the output of a job in its own way'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux in-your-flux.md

test_expect_success 'a copy of the prefix with Weir' '
	copy_prefix
'
cat >output.sh <<\EOF
flux weir submit --wait sh -c "echo to stdout; echo to stderr >&2" | sort >waited
id=$(flux weir submit sh -c "echo so far; sleep inf")
flux job wait-event -q -t 60 $id start
flux job wait-event -q -t 60 --waitcreate -p guest.output $id data
flux weir output $id >running
flux weir output --json $id >running.json
flux cancel $id
flux weir output --wait $id >ended
flux weir output --json $id >ended.json
flux weir submit --wait --output=named.out echo to a file 2>named
flux weir submit --wait false && exit 1
id=$(flux weir submit --simulate 0.1s true)
flux job wait-event -q -t 60 $id clean
flux weir output $id 2>simulated && exit 1
true
EOF
test_expect_success 'what a job wrote is shown while it runs, at its end, and after submit --wait' '
	inside output.sh >out 2>&1 || { cat out; false; } &&
	printf "to stderr\nto stdout\n" >both && test_cmp both waited &&
	echo "so far" >so.far && test_cmp so.far running && test_cmp so.far ended &&
	jq -e "(.complete | not) and .data == \"so far\\n\"" running.json && jq -e .complete ended.json
'
test_expect_success 'fewer tasks than nodes are refused, since a stock Flux could not run them' '
	echo "flux weir submit -n2 -N3 true" >few.sh && test_must_fail inside few.sh >few 2>&1 && grep "a stock Flux runs a task on each node at least" few
'
test_expect_success 'where there is no output to show, it says where it is, or why there is none' '
	grep "the output of .* is in the file named.out" named && echo "to a file" | test_cmp - named.out &&
	grep "no output is stored of" simulated
'
test_done
