#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='what job-priority asks the system: users of large groups pay where they should, names of digits are names, the machine is asked again'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

config() {
	broker_config "$1" job-priority-tap.so 0-7
	cat <<-EOF
	[weir]
	share-tree = "shares.toml"
	update-interval = "1h"
	[weir.resources]
	cores = 1000
	EOF
}
cat >shares.toml <<EOF
"chem" = 1
"chem/group:staff" = 1
"bio" = 1
"bio/@*" = 1
EOF
WRAPPER=$(ls /usr/lib/*/libnss_wrapper.so 2>/dev/null | head -1)
test -n "$WRAPPER" && test_set_prereq NSS_WRAPPER

test_expect_success NSS_WRAPPER,UNSANITIZED 'a member of a group of 5,000, whose entry is longer than 16 KiB, pays as a member' '
	{ echo "root:x:0:0::/:/bin/sh" && echo "dora:x:7001:7001::/:/bin/sh"; } >passwd &&
	{ echo "root:x:0:" && echo "dora:x:7001:" && printf "staff:x:7100:" && seq -f "member%05g" -s, 5000 | tr -d "\n" && echo ",dora"; } >group &&
	test $(wc -c <group) -gt 50000 && config "resource job-manager job-exec sched-weir-fcfs job-priority" >broker.toml &&
	(
		LD_PRELOAD=$WRAPPER NSS_WRAPPER_PASSWD=$PWD/passwd NSS_WRAPPER_GROUP=$PWD/group FLUX_LOAD_WITH_DEEPBIND=0 &&
		export LD_PRELOAD NSS_WRAPPER_PASSWD NSS_WRAPPER_GROUP FLUX_LOAD_WITH_DEEPBIND && start_broker here -c broker.toml && unset LD_PRELOAD &&
		id=$(python3 "$WIRE" --userid 7001 --rolemask 1 submit --simulate 1000 --setattr bank=chem -- true) &&
		wait_event $id alloc && call job-priority.sync "{}" && call job-priority.usage "{}" >usage.json &&
		jq -e ".nodes[] | select(.path == \"chem/group:staff\") | .running_cores == 1" usage.json; code=$?
		stop_broker here && exit $code
	)
'
test_expect_success NSS_WRAPPER,UNSANITIZED 'a login name of digits is a name to the command too, and other digits are a user id' '
	{ echo "root:x:0:0::/:/bin/sh" && echo "7001:x:7002:7002::/:/bin/sh"; } >passwd && echo "root:x:0:" >group &&
	config "resource job-manager job-exec sched-weir-fcfs job-priority" >broker.toml && start_broker named -c broker.toml &&
	named=$(python3 "$WIRE" --userid 7002 --rolemask 1 submit --simulate 1000 -- true) &&
	(
		LD_PRELOAD=$WRAPPER NSS_WRAPPER_PASSWD=$PWD/passwd NSS_WRAPPER_GROUP=$PWD/group && export LD_PRELOAD NSS_WRAPPER_PASSWD NSS_WRAPPER_GROUP &&
		"$WEIR_BUILD_DIR/bin/weir" jobs --user 7001 --json >by-name && "$WEIR_BUILD_DIR/bin/weir" jobs --user 7002 --json >by-id
	) &&
	cat by-name && jq -e "[.jobs[].id] == [$named]" by-name && jq -e "[.jobs[].id] == [$named]" by-id && stop_broker named
'
test_expect_success 'a machine that is not there yet when the module asks is known at the next pass' '
	config "job-manager job-exec job-priority resource sched-weir-fcfs" >broker.toml &&
	start_broker late -c broker.toml && call job-priority.sync "{}" &&
	call resource.sched-status "{}" >/dev/null && call job-priority.sync "{}" &&
	call job-priority.weights "{}" | jq -e ".resources.cores.total == 8" && stop_broker late
'
test_done
