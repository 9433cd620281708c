#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a partition whose disk is full: it returns the jobs that it cannot take, and runs them when there is room'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

umask 022
mkdir -p state/only
if test "$(id -u)" != 0 || ! mount -t tmpfs -o size=4m,mode=700 weir-test "$PWD/state/only" 2>/dev/null; then
	skip_all='only root can make a small file system'
	test_done
fi
trap 'full_code=$?; end_test_brokers; umount -l "$SHARNESS_TRASH_DIRECTORY/state/only" 2>/dev/null; (exit $full_code); die' EXIT

printf "[weir.route]\nlost-after = \"2s\"\n[[partition]]\nname = \"only\"\nqueues = [\"batch\"]\ncores = 1\n" >site.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# below COMMAND...: in the partition
below() (
	FLUX_URI=local://$WEIR_RUNDIR/only/local-0 && export FLUX_URI && "$@"
)

test_expect_success 'a partition whose disk fills takes no jobs any more' '
	start_weir --cores 2 --config site.toml --statedir "$(pwd)/state" && are_up only &&
	{ dd if=/dev/zero of=state/only/fill bs=4096 2>/dev/null; test "$(df --output=avail state/only | tail -1)" -eq 0; } &&
	test_expect_code 1 below "$JOBCTL" submit -u 0 --copies 20000 >own 2>err && grep "No space left on device" err
'
test_expect_success 'jobs for it are not failed: it returns them, and takes them again after a pause' '
	one=$(weir submit --json -q batch true | jq .id) && two=$(weir submit --json -q batch true | jq .id) &&
	for id in $one $two; do
		wait_until job-info.lookup "{\"id\":$id,\"keys\":[\"eventlog\"],\"flags\":0}" ".eventlog | [scan(\"weir.route\")] | length >= 2" >/dev/null || return 1
	done &&
	below log_has "a job returns to the parent, since it cannot be submitted here: .*No space left" &&
	call job-info.lookup "{\"id\":$one,\"keys\":[\"eventlog\"],\"flags\":0}" | jq -r .eventlog >log && cat log && test_expect_code 1 grep exception log
'
test_expect_success 'with room again they run there' '
	rm state/only/fill && ended_well $one && ended_well $two
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)" && umount state/only
'
test_done
