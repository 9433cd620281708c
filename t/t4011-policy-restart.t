#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='every policy over a restart of the whole instance, orderly and by kill -9, on every broker here: the order stays'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
require_some_broker

mkdir -p instance-conf
cp "$PRIORITY_CONF/shares.toml" instance-conf/
SCHED_SO=$WEIR_BUILD_DIR/lib/flux/modules/sched-weir-fcfs.so
export SCHED_SO SHARNESS_TEST_SRCDIR

# configure BROKER POLICY [TABLES]: the embedded broker has no scheduler there, so that who waits still waits in the second life
configure() {
	{
		sed "s|^\[weir\]|&\npolicy = \"$2\"|" "$PRIORITY_CONF/weir.toml" && printf '%s\n' "$3"
		printf '[job-manager]\nplugins = [{ load = "%s" }]\n' "$PRIORITY_TAP"
		test "$1" = flux || cat <<-EOF
			[weir-broker]
			modules = ["kvs", "resource", "job-manager", "job-exec", "job-priority"]
			[resource]
			noverify = true
			[[resource.config]]
			hosts = "test"
			cores = "0-1"
		EOF
	} >instance-conf/instance.toml
}

cat >words.sh <<'EOF'
. "$SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh"
eval "$(tell_failure)"
test "$BROKER" = weir || flux module load "$PRIORITY_SO"
pending() { id=$(flux submit -n1 -t 10m --setattr=system.bank="$@" sleep 100) && flux job wait-event -q -t 30 "$id" priority; }
# orders FILE: that of job-priority, and that of the job-manager, which lists by priority, then by id
orders() {
	sync_priorities >/dev/null
	rpc job-priority.list | jq -r '.jobs[].id' >"$1.module"
	flux jobs -f pending -no '{id.dec} {priority}' >"$1.values"
	cut -d' ' -f1 "$1.values" >"$1.manager"
	test "$(wc -l <"$1.module")" = 6
	if grep ' 0$' "$1.values"; then return 1; fi
}
EOF
# Usage first, by jobs that ran; then who waits. A stock Flux keeps through kill -9 what it has synced.
cat >first.sh <<'EOF'
. ./words.sh
test "$BROKER" = flux || flux module load "$SCHED_SO"
for bank in bio physics/lattice physics/lattice; do
	id=$(flux submit -n1 --setattr=system.bank=$bank true) && flux job wait-event -q -t 30 "$id" clean
done
if test "$BROKER" = flux; then flux resource drain 0 "nobody starts"; else flux module remove sched-weir-fcfs; fi
for job in physics/lattice bio "physics/lattice --urgency=20" bio "bio --urgency=9" physics/lattice; do
	pending $job
done
orders before
test "$BROKER.$END" != flux.kill || flux kvs put --sync kept=1
test "$BROKER.$END" != flux.orderly || flux module remove job-priority
touch ended
test "$END" = orderly || kill -9 "${weir_pid:-$(flux getattr broker.pid)}"
EOF
cat >second.sh <<'EOF'
. ./words.sh
orders after
flux cancel --all >/dev/null
test "$BROKER" = weir || flux module remove job-priority
touch ended
EOF

# life BROKER SCRIPT: until the instance has ended, one way or the other
life() {
	rm -f ended
	BROKER=$1 && export BROKER
	if test "$1" = flux; then
		flux start --test-size=1 --setattr=broker.module-nopanic=1 "--setattr=statedir=$PWD/$state" \
			"--config-path=$PWD/instance-conf/instance.toml" bash -e "$2" || :
	else
		boot_weir "$PWD/$state" && export weir_pid && { bash -e "$2" || :; }
		kill -TERM "$weir_pid" 2>/dev/null
		forget_weir
		unset weir_pid
	fi
	test -e ended
}

# begin BROKER END POLICY [TABLES]: the first life
begin() {
	state=state-$1-$2-$3
	END=$2 && export END
	rm -f before.* after.*
	mkdir -p "$state" && configure "$1" "$3" "$4" && life "$1" ./first.sh
}

MOAB='[weir.moab.credential]
account = 1000
user = 10
[weir.moab.accounts]
bio = { priority = 5 }
"physics/lattice" = { target = 40 }'
for broker in $BROKERS; do
	for end in orderly kill; do
		for policy in lsf moab load-threshold; do
			tables=
			test $policy != moab || tables=$MOAB
			test_expect_success "$broker: $policy: some jobs ran, others wait, the instance ends ($end)" '
				begin '"$broker $end $policy"' "$tables"
			'
			test_expect_success "$broker: $policy ($end): the next instance on that state has them" '
				life '"$broker"' ./second.sh
			'
			test_expect_success "$broker: $policy ($end): the order of job-priority is the same" '
				test_cmp before.module after.module
			'
			test_expect_success "$broker: $policy ($end): the order of the job-manager is the same" '
				test_cmp before.manager after.manager
			'
		done
	done
done
test_done
