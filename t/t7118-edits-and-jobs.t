#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a share tree that is edited while jobs wait and run: limits hold, nobody runs for nothing, and who is back pays again'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.users]
dave = 5001
frank = 5002
[[partition]]
name = "batch"
cores = 8
EOF
cat >shares.toml <<EOF
"chem" = { shares = 1, cores_max = 2 }
"chem/@dave" = 1
"life" = { shares = 1, cores_max = 3 }
"life/@frank" = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# in_batch USER CORES: the id of a job of an hour
in_batch() {
	weir submit --json -q batch --user "$1" -n "$2" -t 2h --simulate=1h x | jq .id
}
# is_held_by ID WORDS: weir why says so
is_held_by() {
	weir why "$1" >why.out && grep "$2" why.out || { cat why.out; return 1; }
}
# runs ID: it has started in its partition
runs() {
	wait_event "$1" start >/dev/null
}
# pays PATH CORES: its leaf is charged for as many
pays() {
	wait_until job-priority.tree-get "{}" "select(any(.nodes[]; .path == \"$1\" and .running_cores == $2))" >/dev/null
}

test_expect_success 'an account at its limit of cores' '
	start_weir --cores 8 --config site.toml --tree shares.toml && are_up batch &&
	one=$(in_batch frank 3) && runs $one && two=$(in_batch frank 3) && is_held_by $two "life uses at most 3 cores; 3 are in use"
'
test_expect_success 'is at it under its new name, too; what waits for the former name is held back, and says how to go on' '
	weir share export | sed "s/\"life/\"vita/" >renamed.toml && weir share apply --yes renamed.toml &&
	is_held_by $two "frank is in no account life of the share tree; flux update JOB bank=NAME moves the job to another account of frank: vita" &&
	call job-manager.update "{\"id\": $two, \"updates\": {\"attributes.system.bank\": \"vita\"}}" && is_held_by $two "vita uses at most 3 cores" &&
	three=$(in_batch frank 3) && is_held_by $three "vita uses at most 3 cores; 3 are in use" &&
	pays vita/@frank 3 && weir cancel $two && weir cancel $one && runs $three
'
test_expect_success 'a user whose line is removed starts no job that waits' '
	first=$(in_batch dave 2) && runs $first && second=$(in_batch dave 1) && is_held_by $second "chem uses at most 2 cores; 2 are in use" &&
	weir share remove --yes chem/@dave && is_held_by $second "held back until somebody pays for it: dave is" &&
	weir prio explain $second | grep "charged to no account: dave is" && weir cancel $first && wait_event $first clean &&
	is_held_by $second "held back until somebody pays for it"
'
test_expect_success 'when the removal is undone he pays again for what runs, and his jobs start' '
	weir share undo --yes && runs $second && fourth=$(in_batch dave 1) && runs $fourth &&
	pays chem/@dave 2 && weir share remove --yes chem/@dave && weir share undo --yes && pays chem/@dave 2
'
test_expect_success 'all ends' '
	stop_weir
'
test_done
