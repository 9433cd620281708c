#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the local socket: one instance a directory, long paths, leftovers of a killed broker, who may connect and as whom'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
set -o pipefail  # jq -e takes no input for success

echo 'weir-broker.modules = ["kvs"]' >conf.toml
cat >guests.toml <<-\EOF
	weir-broker.modules = ["kvs"]
	access.allow-guest-user = true
EOF
NOBODY=65534

# as_guest COMMAND: runs it as a user that is not the owner. Only root can try.
as_guest() {
	PATH=/usr/bin:/bin setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups "$@"
}
test "$(id -u)" = 0 && as_guest python3 "$WIRE" --help >/dev/null 2>&1 && as_guest test -x "$PWD" && test_set_prereq GUEST

test_expect_success 'a second instance in the same directory is refused with the pid of the first' '
	start_broker one -c conf.toml &&
	test_expect_code 1 "$WEIR_BROKER" --rundir "$PWD/one" -c conf.toml 2>err &&
	grep "rundir $PWD/one is in use by pid $(broker_pid one)" err &&
	call kvs.ping "{\"seq\":1}"
'
test_expect_success 'two instances in two directories do not mind each other' '
	first=$FLUX_URI &&
	start_broker two -c conf.toml &&
	test "$FLUX_URI" != "$first" &&
	call kvs.ping "{}" && FLUX_URI=$first call kvs.ping "{}" &&
	stop_broker two && FLUX_URI=$first call kvs.ping "{}"
'
test_expect_success 'the directory is private, the socket is open to whom the directory lets in' '
	test "$(stat -c %a one)" = 700 &&
	test "$(stat -c %a one/local-0)" = 777
'
test_expect_success 'what a killed broker left behind is replaced' '
	kill -KILL $(broker_pid one) && test_expect_code 137 wait $(broker_pid one) &&
	test -S one/local-0 &&
	start_broker one -c conf.toml &&
	call kvs.ping "{}" &&
	stop_broker one &&
	test -z "$(ls -A one)"
'
test_expect_success 'a directory that was there stays, one that was made goes' '
	test -d one && start_broker made -c conf.toml && stop_broker made && ! test -e made
'
test_expect_success 'a path far longer than a socket address works' '
	long=$(printf "d%.0s" $(seq 100)) && mkdir -p "$long/$long" &&
	ln -s "$long/$long" short && cp conf.toml "$long/$long/" &&
	(
		cd "$long/$long" && start_broker b -c conf.toml &&
		test ${#FLUX_URI} -gt 200 &&
		call attr.get "{\"name\":\"local-uri\"}" | jq -e ".value | length > 200" &&
		stop_broker b
	)
'
test_expect_success FLUX 'the real flux command reaches it through a short name of the directory' '
	start_broker plain -c conf.toml &&
	"$WEIR_FLUX" ping --count=1 kvs &&
	stop_broker plain
'
test_expect_success 'a directory that cannot be made is named' '
	: >file &&
	test_expect_code 1 "$WEIR_BROKER" --rundir "$PWD/file/x" -c conf.toml 2>err &&
	grep "rundir: cannot make the directory $PWD/file/x: Not a directory" err &&
	test_expect_code 1 "$WEIR_BROKER" --rundir "$PWD/file" -c conf.toml 2>err &&
	grep "rundir: cannot open the directory $PWD/file: Not a directory" err
'
test_expect_success 'credentials: a request of the owner carries the owner and its roles' '
	start_broker own -c conf.toml &&
	call broker.ping "{}" | jq -e ".userid == $(id -u) and .rolemask == 5"
'
test_expect_success 'credentials: the owner may speak for another user' '
	python3 "$WIRE" --userid 1234 --rolemask 2 rpc broker.ping "{}" | jq -e ".userid == 1234 and .rolemask == 2" &&
	test_expect_code 1 python3 "$WIRE" --userid 1234 --rolemask 2 rpc attr.set "{\"name\":\"x\",\"value\":\"y\"}" >out &&
	grep "error 1: Request requires owner credentials" out &&
	test_expect_code 1 python3 "$WIRE" --userid 1234 --rolemask 2 rpc kvs.commit "{}" >out &&
	grep "error 1: Request requires owner credentials" out
'
test_expect_success 'services: a guest name must begin with its user id, another one is refused' '
	python3 "$WIRE" --userid 1234 --rolemask 2 rpc service.add "{\"service\":\"1234-mine\"}" &&
	test_expect_code 1 python3 "$WIRE" --userid 1234 --rolemask 2 rpc service.add "{\"service\":\"mine\"}" >out &&
	grep "error 1: your services must be named 1234-NAME" out
'
test_expect_success GUEST 'guests: are refused, and the owner finds it in the log' '
	chmod 711 own &&
	test_expect_code 1 as_guest python3 "$WIRE" rpc broker.ping "{}" >out &&
	grep "error 1:" out &&
	grep "connection refused: uid $NOBODY is not the owner" own.err &&
	stop_broker own
'
test_expect_success GUEST 'guests: with access.allow-guest-user they may connect, and be nobody else' '
	start_broker open -c guests.toml &&
	as_guest python3 "$WIRE" rpc broker.ping "{}" | jq -e ".userid == $NOBODY and .rolemask == 6" &&
	as_guest python3 "$WIRE" --userid 0 --rolemask 1 rpc broker.ping "{}" | jq -e ".userid == $NOBODY and .rolemask == 6"
'
test_expect_success GUEST 'guests: read but do not change' '
	as_guest python3 "$WIRE" rpc attr.get "{\"name\":\"rank\"}" &&
	as_guest python3 "$WIRE" rpc module.list | jq -e ".mods[0].name == \"kvs\"" &&
	for method in attr.set module.load module.remove config.load broker.shutdown log.dmesg kvs.lookup; do
		test_expect_code 1 as_guest python3 "$WIRE" rpc $method "{}" >out &&
		grep "error 1: Request requires owner credentials" out || return 1
	done
'
test_expect_success GUEST 'guests: may be shut out again while the broker runs' '
	call config.load "{\"access\":{\"allow-guest-user\":false}}" &&
	test_expect_code 1 as_guest python3 "$WIRE" rpc broker.ping "{}" &&
	stop_broker open
'
cat >many.py <<-\EOF
	import os, socket, wire
	first = wire.Client()
	directory = os.open(os.path.dirname(first.path), os.O_PATH)
	rest = [socket.socket(socket.AF_UNIX) for i in range(50)]
	for s in rest:
	    s.connect(f"/proc/self/fd/{directory}/local-0")
	for i in range(20):
	    first.rpc("broker.ping", {})
	for s in rest[:30]:
	    s.close()
	assert rest[49].recv(1) == b"\0"
	print("all served")
EOF
test_expect_success 'more clients than file descriptors: the newest wait, nobody else notices' '
	(
		ulimit -n 64 && start_broker few -c conf.toml &&
		python3 many.py && stop_broker few && test $(grep -c "accept: Too many open files" few.err) = 1
	)
'
test_done
