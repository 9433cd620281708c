#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the embedded broker: start, attributes, configuration, events, services, log, stop'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
set -o pipefail  # jq -e takes no input for success

cat >good.toml <<-\EOF
	[weir-broker]
	modules = ["kvs"]
	[some.table]
	key = 42
EOF

test_expect_success 'broker: prints its version and usage' '
	"$WEIR_BROKER" --version | grep "^weir-broker [0-9]" &&
	"$WEIR_BROKER" --help | grep -- --rundir
'
test_expect_success 'broker: a bad option is named' '
	test_expect_code 2 "$WEIR_BROKER" --bogus 2>err &&
	grep -e "--bogus" err
'
test_expect_success 'broker: a configuration error names file, line and column' '
	printf "[a]\nb = = 1\n" >bad.toml &&
	test_expect_code 1 "$WEIR_BROKER" --rundir ./x -c bad.toml 2>err &&
	grep "bad.toml:2:5:" err &&
	! test -e x
'
test_expect_success 'broker: a missing configuration file is named' '
	test_expect_code 1 "$WEIR_BROKER" --rundir ./x -c nosuch.toml 2>err &&
	grep "nosuch.toml" err
'
test_expect_success 'broker: a bad value of its own keys is named' '
	echo "weir-broker.modules = 5" >bad.toml &&
	test_expect_code 1 "$WEIR_BROKER" --rundir ./x -c bad.toml 2>err &&
	grep "bad.toml:1: .weir-broker. modules = 5: must be a list" err
'
test_expect_success 'broker: a read-only or malformed attribute is refused' '
	test_expect_code 1 "$WEIR_BROKER" --rundir ./x -S rank=3 2>err &&
	grep "attribute rank" err &&
	test_expect_code 1 "$WEIR_BROKER" --rundir ./x -S clock.scale=0 2>err &&
	grep "clock.scale=0 must be a number above 0" err
'
test_expect_success 'broker: a module that cannot be loaded ends the start with its name and why' '
	echo "weir-broker.modules = [\"kvs\", \"nosuch\"]" >bad.toml &&
	test_expect_code 1 "$WEIR_BROKER" --rundir "$PWD/x" -c bad.toml 2>err &&
	grep "module nosuch was not loaded: module not found in search path" err &&
	! test -e x
'
test_expect_success 'broker: starts and says its URI when all modules run' '
	start_broker one -c good.toml -S my.attr=hello &&
	test "$FLUX_URI" = "local://$PWD/one/local-0" &&
	call module.list | jq -e ".mods | map(.name) == [\"kvs\"] and all(.status == 1)"
'
test_expect_success 'attributes: built-in ones and those of the command line are there' '
	call attr.get "{\"name\":\"rank\"}" | jq -e ".value == \"0\" and .flags == 1" &&
	call attr.get "{\"name\":\"size\"}" | jq -e ".value == \"1\"" &&
	call attr.get "{\"name\":\"instance-level\"}" | jq -e ".value == \"0\"" &&
	call attr.get "{\"name\":\"jobid-path\"}" | jq -e ".value == \"/\"" &&
	call attr.get "{\"name\":\"broker.pid\"}" | jq -e ".value == \"$(broker_pid one)\"" &&
	call attr.get "{\"name\":\"security.owner\"}" | jq -e ".value == \"$(id -u)\"" &&
	call attr.get "{\"name\":\"my.attr\"}" | jq -e ".value == \"hello\"" &&
	call attr.get "{\"name\":\"config.path\"}" | jq -e ".value == \"$PWD/good.toml\""
'
test_expect_success 'attributes: there is no parent where there is none' '
	test_expect_code 1 call attr.get "{\"name\":\"parent-uri\"}" >out &&
	grep "error 2:" out
'
test_expect_success 'attributes: clients set, list and remove their own only' '
	call attr.set "{\"name\":\"a.b\",\"value\":\"1\"}" &&
	call attr.list | jq -e ".names | index(\"a.b\")" &&
	call attr.rm "{\"name\":\"a.b\"}" &&
	test_expect_code 1 call attr.set "{\"name\":\"rank\",\"value\":\"1\"}" >out &&
	grep "error 1:.*rank" out
'
test_expect_success 'services: an unknown one, and an unknown method, are told by name' '
	test_expect_code 1 call bogus.method >out &&
	grep "error 38: No service matching bogus is registered" out &&
	test_expect_code 1 call attr.bogus >out &&
	grep "error 38: Unknown service method" out &&
	test_expect_code 1 call kvs.bogus >out &&
	grep "error 38: Unknown service method" out
'
test_expect_success 'config: the object is there, and a new one replaces it' '
	call config.get | jq -e ".some.table.key == 42" &&
	call config.load "{\"other\":1}" &&
	call config.get | jq -e ". == {\"other\":1}"
'
test_expect_success 'config: reload reads the files again, an error leaves the old one' '
	sed "s/42/43/" good.toml >new && mv new good.toml &&
	call config.reload &&
	call config.get | jq -e ".some.table.key == 43" &&
	echo "oops = = 1" >good.toml &&
	test_expect_code 1 call config.reload >out &&
	grep "good.toml:1:8:" out &&
	call config.get | jq -e ".some.table.key == 43"
'
test_expect_success 'config: the broker refuses bad values of its own keys' '
	test_expect_code 1 call config.load "{\"access\":{\"allow-guest-user\":1}}" >out &&
	grep "access.allow-guest-user must be true or false" out &&
	call config.get | jq -e ".some.table.key == 43"
'
test_expect_success 'config: who follows the configuration is told of each change' '
	mkfifo follow && { stream config.get --count 2 >follow & } &&
	exec 8<follow && read -r first <&8 &&
	call config.load "{\"followed\":true}" &&
	read -r second <&8 && exec 8<&- && wait $! &&
	echo "$first" | jq -e ".some" && echo "$second" | jq -e ".followed"
'
test_expect_success 'events: subscribers get those with their prefix, in order' '
	mkfifo topics && { python3 "$WIRE" events foo 3 >topics & } &&
	exec 8<topics && read -r line <&8 && test "$line" = ready &&
	for topic in foo bar foobar foo.x; do
		call event.publish "{\"topic\":\"$topic\",\"flags\":0}" | jq -e ".seq > 0" || return 1
	done &&
	cat <&8 >got && exec 8<&- &&
	printf "foo\nfoobar\nfoo.x\n" >expected &&
	test_cmp expected got
'
test_expect_success 'events: sequence numbers grow by one' '
	first=$(call event.publish "{\"topic\":\"x\",\"flags\":0}" | jq .seq) &&
	second=$(call event.publish "{\"topic\":\"x\",\"flags\":0}" | jq .seq) &&
	test $((first + 1)) = "$second"
'
test_expect_success 'log: what was logged is read back, and followed' '
	mkfifo log && { stream log.dmesg "{\"follow\":true}" >log & } &&
	exec 8<log && read -r line <&8 &&
	call module.load "{\"path\":\"resource\",\"args\":[]}" &&
	grep -m 1 "insmod resource" <&8 && exec 8<&- && kill $! &&
	stream log.dmesg "{\"follow\":false}" >all &&
	grep "online: local://" all &&
	grep "insmod resource" all
'
test_expect_success 'SIGHUP reads the files again: what changed is logged, the instance goes on' '
	printf "[exec]\nkill-timeout = \"7s\"\n[some.table]\nkey = 44\n" >good.toml &&
	kill -HUP $(broker_pid one) &&
	log_has "configuration: .exec. kill-timeout: .default. -> \"7s\"" &&
	log_has "good.toml:3: .some. has no effect: unknown here" &&
	call config.get | jq -e ".some.table.key == 44"
'
test_expect_success 'SIGHUP on a bad value: refused whole, with file, line, value and what is right' '
	printf "[some.table]\nkey = 45\n[exec]\nkill-timeout = \"soon\"\n" >good.toml &&
	call module.load "{\"path\":\"job-exec\",\"args\":[]}" &&
	kill -HUP $(broker_pid one) &&
	log_has "stays as it is: .*good.toml:4: .exec. kill-timeout = \"soon\": .*is no duration such as 5s" &&
	printf "[some.table]\nkey = 44\n[exec]\nkill-timeout = 5\n" >good.toml && kill -HUP $(broker_pid one) &&
	log_has "kill-timeout = 5: .*a duration is a text" &&
	call config.get | jq -e ".some.table.key == 44" &&
	call module.remove "{\"name\":\"job-exec\"}"
'
test_expect_success 'SIGHUP when the file has vanished: the old configuration stays' '
	rm good.toml && kill -HUP $(broker_pid one) &&
	log_has "stays as it is: .*good.toml: cannot read this configuration file: No such file" &&
	call config.get | jq -e ".some.table.key == 44"
'
test_expect_success 'reload answers with what changed, and with warnings' '
	printf "[some.table]\nkey = 46\n[clock]\nscale = 2\n[acces]\nallow-guest-user = true\n" >good.toml &&
	call config.reload >out &&
	jq -e ".changes | index(\"[some] table.key: 44 -> 46\")" out &&
	jq -e ".warnings | map(select(test(\"good.toml:3: .clock. is read only at the start\"))) | length == 1" out &&
	jq -e ".warnings | map(select(test(\"good.toml:5: .acces. has no effect: .* did you mean .access.\"))) | length == 1" out &&
	call config.reload | jq -e ".changes == []" &&
	grep -v -e clock -e scale good.toml >back.toml && mv back.toml good.toml && call config.reload >out &&
	jq -e ".warnings | map(select(test(\"clock. is read\"))) == []" out
'
test_expect_success 'log: the level that goes to stderr is what -S and setattr say, and checked' '
	test_expect_code 1 "$WEIR_BROKER" --rundir ./x -S log-stderr-level=loud 2>err &&
	grep "log-stderr-level=loud must be a severity: -1" err &&
	start_broker loud -c /dev/null -S log-stderr-level=6 &&
	grep "weir-broker: broker: online: local://" loud.err &&
	call attr.set "{\"name\":\"log-stderr-level\",\"value\":\"-1\"}" &&
	test_expect_code 1 call attr.set "{\"name\":\"log-stderr-level\",\"value\":\"9\"}" &&
	kill -HUP $(broker_pid loud) && log_has "read again: no key changed" &&
	stop_broker loud &&
	test_expect_code 1 grep "read again" loud.err
'
test_expect_success 'log: warnings are in the log file, which is opened again at SIGHUP' '
	printf "[acces]\n" >acces.toml &&
	start_broker filed -c acces.toml -S log-filename=filed.log &&
	grep "Z broker.warning\[0\]: .*acces.toml:1: .acces. has no effect" filed.log &&
	mv filed.log filed.log.1 && kill -HUP $(broker_pid filed) && log_has "read again" &&
	test_expect_code 1 grep "read again" filed.log.1 &&
	grep "broker.warning" filed.log && grep "read again" filed.log &&
	rm filed.log && mkdir filed.log && kill -HUP $(broker_pid filed) &&
	log_has "log file .*filed.log: Is a directory; the one that was open is kept" &&
	stop_broker filed
'
test_expect_success 'log: a full disk or a folder that is not there costs the copy alone' '
	start_broker full -c acces.toml -S log-filename=/dev/full &&
	test $(grep -c "log file /dev/full: No space left on device" full.err) = 1 &&
	stream log.dmesg "{\"follow\":false}" | grep ".acces. has no effect" &&
	stop_broker full &&
	start_broker nodir -c /dev/null -S log-filename=no/such/folder/log &&
	grep "log file .*no/such/folder/log: No such file" nodir.err &&
	stop_broker nodir
'
test_expect_success 'the first broker is still asked below' '
	FLUX_URI=local://$PWD/one/local-0 && export FLUX_URI && call broker.ping "{}"
'
test_expect_success 'malformed bytes end the connection and nothing else' '
	python3 "$WIRE" raw 0011223344556677 >out &&
	tail -n 1 out | grep closed &&
	python3 "$WIRE" raw 1200eeff00000005aabbccddee >out &&
	tail -n 1 out | grep closed &&
	python3 "$WIRE" raw 1200eeff7fffffff >out &&
	tail -n 1 out | grep closed &&
	call broker.ping "{\"seq\":1}" | jq -e ".seq == 1 and .rank == 0"
'
test_expect_success 'a message that no module can read ends the connection, not the module' '
	cat >unreadable.py <<-\EOF &&
		import wire
		good = wire.encode(wire.REQUEST, "attr.get", {"name": "rank"}, aux2=1)
		for bad in (wire.encode(wire.REQUEST, "kvs.ge\0t", {}), wire.encode(wire.EVENT, "job-exception\0", {}),
		            good.replace(b"\0\x08attr.get", b"\x03a\0b\0\x08attr.get"), wire.encode(16, "kvs.get", {})):
		    client = wire.Client()
		    client.send(bad)
		    try:
		        client.receive()
		        raise SystemExit("the connection goes on")
		    except wire.Failed as why:
		        assert "hung up" in str(why), why
		assert wire.Client().rpc("kvs.stats-get") is not None
	EOF
	PYTHONPATH=$(dirname "$WIRE") python3 unreadable.py
'
test_expect_success 'a client that does not read is disconnected, the others are served' '
	cat >flood.py <<-\EOF &&
		import base64, wire
		lazy, busy = wire.Client(), wire.Client()
		lazy.rpc("event.subscribe", {"topic": "flood"})
		text = base64.b64encode(b"x" * 1000000).decode()
		for i in range(100):
		    busy.rpc("event.publish", {"topic": "flood", "flags": 0, "payload": text})
		busy.rpc("broker.ping", {})
		try:
		    while True:
		        lazy.receive()
		except wire.Failed as hungup:
		    print(hungup)
	EOF
	python3 flood.py >out &&
	grep "the broker hung up" out &&
	grep "left 64 MiB of messages unread" one.err
'
test_expect_success FLUX 'the real flux command talks to the broker' '
	"$WEIR_FLUX" ping --count=1 kvs &&
	"$WEIR_FLUX" ping --count=1 broker &&
	test "$("$WEIR_FLUX" getattr my.attr)" = hello &&
	"$WEIR_FLUX" setattr some.attr 1 &&
	"$WEIR_FLUX" module list | grep kvs &&
	"$WEIR_FLUX" module stats kvs | jq -e .primary &&
	"$WEIR_FLUX" module stats resource &&
	"$WEIR_FLUX" dmesg | grep "broker.info.*online" &&
	"$WEIR_FLUX" config get some.table.key | grep 46 &&
	"$WEIR_FLUX" kvs put a.b=1 && test "$("$WEIR_FLUX" kvs get a.b)" = 1 &&
	"$WEIR_FLUX" resource list | grep free
'
test_expect_success FLUX 'the real flux command publishes and follows events' '
	mkfifo flux-topics && { python3 "$WIRE" events my 2 >flux-topics & } &&
	exec 8<flux-topics && read -r line <&8 &&
	"$WEIR_FLUX" event pub my.first && "$WEIR_FLUX" event pub --synchronous my.second &&
	printf "my.first\nmy.second\n" >expected && cat <&8 >got && exec 8<&- &&
	test_cmp expected got &&
	{ "$WEIR_FLUX" event sub --count=1 my >got & } &&
	for i in $(seq 200); do  # it does not say when it has subscribed
		kill -0 $! 2>/dev/null || break
		call event.publish "{\"topic\":\"my.third\",\"flags\":0}"
	done &&
	wait $! && grep my.third got
'
test_expect_success 'the owner stops it by a request; nothing is left in the file system' '
	call broker.shutdown &&
	wait $(broker_pid one) &&
	! test -e one
'
test_expect_success 'SIGTERM, SIGINT, SIGQUIT and SIGALRM, the end of a time limit, stop it with exit code 0' '
	for signal in TERM INT QUIT ALRM; do
		start_broker two -c /dev/null &&
		kill -$signal $(broker_pid two) && wait $(broker_pid two) &&
		! test -e two || return 1
	done
'
test_expect_success 'a signal that comes before anybody watches for it is kept until then' '
	timeout 30 python3 -c "
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
os.kill(os.getpid(), signal.SIGTERM)
os.execv(sys.argv[1], sys.argv[1:])
" "$WEIR_BROKER" --rundir three -c /dev/null && ! test -e three
'
test_expect_success 'where its standard streams are closed, no file of its own gets what it says' '
	: >closed.toml && mkdir -m 700 closed.state && mkfifo closed.ready && {
		"$WEIR_BROKER" --rundir closed --ready-fd 9 -c closed.toml -S "statedir=$PWD/closed.state" \
			9>closed.ready <&- >&- 2>&- 3>&- 4>&- 5>&- &
		pid=$!
	} && WEIR_TEST_BROKERS="$WEIR_TEST_BROKERS $pid" && read -r FLUX_URI <closed.ready && export FLUX_URI &&
	cp closed.state/clock clock.before && echo "not TOML" >closed.toml && kill -HUP $pid && log_has "closed.toml:1" &&
	test "$(cat closed/broker.pid)" = $pid && cat closed.state/clock && test $(wc -l <closed.state/clock) = $(wc -l <clock.before) &&
	! grep -r TOML closed.state && kill $pid && wait $pid
'
test_expect_success 'without --rundir a fresh directory is made and removed' '
	mkdir tmp && mkfifo ready &&
	{ TMPDIR=$PWD/tmp "$WEIR_BROKER" --ready-fd 9 9>ready 2>err & } &&
	read -r uri <ready && ls tmp | grep "^weir-" &&
	kill $! && wait $! &&
	test -z "$(ls tmp)"
'
test_expect_success 'scaled time: the clock runs as fast as it is told' '
	start_broker fast -S clock.scale=1000 -S clock.origin=1000000 -c /dev/null &&
	first=$(stream log.dmesg "{\"follow\":false}" | tail -n 1 | cut -d" " -f2) &&
	call attr.get "{\"name\":\"clock.scale\"}" | jq -e ".value == \"1000\"" &&
	year=${first%%-*} && test "$year" -gt 2100 &&
	stop_broker fast
'
test_done
