#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a partition whose plugin does not answer for a while: what the parent lets go starts when it answers again'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

printf "[[partition]]\nname = \"only\"\nqueues = [\"batch\"]\ncores = 1\n" >site.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# below COMMAND...: in the partition
below() (
	FLUX_URI=local://$WEIR_RUNDIR/only/local-0 && export FLUX_URI && "$@"
)
# copy_of ID: waits until the partition has it, and prints its id there
copy_of() {
	wait_until job-route.locate "{\"id\":$1}" ".id != 0" | jq .id
}
# The copy $2 of the job that waits behind $1 has its cores, the plugin is gone, and the parent has not said go yet.
hold_without_plugin() {
	kill -STOP $(cat run/broker.pid) && open_gate $1 && below wait_event $2 prolog-start &&
	below call job-manager.jobtap "{\"remove\":\"job-route-tap.so\"}"
}
load_plugin() {
	below log_has "jobroute.update.*is the plugin job-route-tap loaded" $1 && below call job-manager.jobtap "{\"load\":\"job-route-tap.so\"}"
}

test_expect_success 'a job runs in the partition, another waits behind it' '
	start_weir --cores 2 --config site.toml && are_up only && gated a -q batch && wait_event $a start && gated b -q batch && copy=$(copy_of $b)
'
test_expect_success 'go does not reach the plugin: it is repeated, and the job starts when the plugin is loaded' '
	hold_without_plugin a $copy && kill -CONT $(cat run/broker.pid) && load_plugin 1 && wait_event $b start && ended_well $a
'
test_expect_success 'a job that ends while it waits for go is let go when the plugin is loaded' '
	gated c -q batch && copy=$(copy_of $c) && hold_without_plugin b $copy &&
	below call job-manager.raise "{\"id\":$copy,\"type\":\"alloc\",\"severity\":0,\"note\":\"a test\"}" && kill -CONT $(cat run/broker.pid) &&
	load_plugin 2 && below wait_event $copy clean && wait_event $c clean && ended_well $b
'
# listeners: how many streams of jobs' events this instance has
listeners() {
	call job-manager.stats-get | jq .journal.listeners
}
# restarts COUNT: waits until job-route has started over so often
restarts() {
	wait_until job-route.stats-get "{}" ".journal.restarts == $1" >/dev/null
}
test_expect_success 'without its own plugin the parent starts over again and again: it opens no second stream, and says so once' '
	gated e -q batch && wait_event $e start && before=$(listeners) && call job-manager.jobtap "{\"remove\":\"job-route-tap.so\"}" &&
	open_gate e && restarts 4 && test "$(listeners)" -le "$before" &&
	stream log.dmesg "{\"follow\":false}" >log && test "$(grep -c "^<32>.*starting over" log)" = 1
'
test_expect_success 'with the plugin the end of the job arrives, and the next failure is told again' '
	call job-manager.jobtap "{\"load\":\"job-route-tap.so\"}" && wait_event $e clean && test "$(listeners)" = "$before" &&
	gated f -q batch && wait_event $f start && call job-manager.jobtap "{\"remove\":\"job-route-tap.so\"}" && open_gate f &&
	log_has "^<32>.*starting over" 2 && call job-manager.jobtap "{\"load\":\"job-route-tap.so\"}" && wait_event $f clean
'
test_expect_success 'the partition runs the next job' '
	gated d -q batch && wait_event $d start && end d && stop_weir && test -z "$(leftovers)"
'
test_done
