#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='state files that are replaced: on the disk with their new name, and whole or as before where the disk is full'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
SHIM=$WEIR_BUILD_DIR/t/plugins/disk-shim.so
test -f "$SHIM" || { skip_all="$SHIM is not built"; test_done; }
test_have_prereq UNSANITIZED || { skip_all='a sanitizer refuses a library in LD_PRELOAD'; test_done; }

cat >site.toml <<EOF
[queues.own]
[[partition]]
name = "batch"
cores = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
DISK_LOG=$PWD/calls DISK_FULL=$PWD/full && export DISK_LOG DISK_FULL
begin() {
	LD_PRELOAD=$SHIM FLUX_LOAD_WITH_DEEPBIND=0 && export LD_PRELOAD FLUX_LOAD_WITH_DEEPBIND &&
	start_weir --config site.toml --cores 3 --statedir "$(pwd)/state" && unset LD_PRELOAD FLUX_LOAD_WITH_DEEPBIND
}
# queue NAME true|false: starts or stops it
queue() {
	call job-manager.queue-start "{\"name\":\"$1\",\"start\":$2,\"reason\":\"a test\"}"
}
# is_on_disk FILE: its bytes were synced before it had its name, and its folder after that
is_on_disk() {
	state=$(pwd)/state && printf "%s\n" "fsync $state/$1.new" "rename $state/$1.new $state/$1" "fsync $state" >expected &&
	grep -B1 -A1 "^rename .*/$1$" calls >got && test_cmp expected got
}
# refused FILE COMMAND...: it fails, because the disk has no room for all of the new FILE, and the old one stays
refused() {
	file=$1 && shift && cp state/$file before && echo $file.new >full && test_must_fail "$@" >refusal 2>&1 && rm full &&
	cat refusal && grep "No space left on device\|error 28" refusal && test_cmp before state/$file
}

test_expect_success 'the journal of jobs that is made at the start is on the disk' '
	begin && are_up batch && is_on_disk jobs.journal
'
test_expect_success 'a stopped queue is on the disk when that is answered' '
	>calls && queue own false && is_on_disk queues.json
'
test_expect_success 'a change of the partitions is on the disk when that is answered' '
	>calls && weir partition add more --queue batch --cores 1 && is_on_disk partitions.json && are_up more
'
test_expect_success 'where a new file of queues is cut, the queue stays as it was' '
	refused queues.json queue batch false && call job-manager.queue-status "{\"name\":\"batch\"}" | jq -e .start &&
	call job-manager.queue-status "{\"name\":\"own\"}" | jq -e ".start | not"
'
test_expect_success 'where a new file of partitions is cut, the partition is not there' '
	refused partitions.json weir partition add again --queue batch --cores 1 &&
	call job-route.partitions | jq -e "[.partitions[].name] == [\"batch\", \"more\"]"
'
test_expect_success 'with room again both are as usual, and after a start as they were' '
	queue batch false && queue batch true && weir partition remove more && stop_weir &&
	begin && are_up batch && call job-route.partitions | jq -e "[.partitions[].name] == [\"batch\"]" &&
	call job-manager.queue-status "{\"name\":\"own\"}" | jq -e ".start | not"
'
test_expect_success 'stop' '
	stop_weir >/dev/null
'
test_done
