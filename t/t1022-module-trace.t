#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='flux module trace: a stock client is told which messages the modules of the embedded broker get and send

Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

require_some_broker
test -x "$WEIR_BROKER" || { skip_all="$WEIR_BROKER is not built"; test_done; }

conf_of_both

# trace_until FILE PATTERN COMMAND...: runs the command again and again until a line of FILE, which a tracer writes, fits.
trace_until() {
	trace_file=$1
	trace_pattern=$2
	shift 2
	for _ in $(seq 60); do
		"$@" >/dev/null 2>&1
		grep -q -e "$trace_pattern" "$trace_file" && return 0
	done
	cat "$trace_file"
	return 1
}
# Ends a tracer as Ctrl-C does.
end_trace() {
	kill -INT "$1" && wait "$1"
}

test_expect_success 'start a broker' '
	start_broker b -c conf.toml
'
test_expect_success 'a request and its answer: what the module gets and sends, and how long it is' '
	{ flux module trace kvs >got & } && trace=$! &&
	trace_until got "rx > kvs.lookup" flux kvs get nosuch &&
	trace_until got "tx < kvs.lookup" flux kvs get nosuch &&
	end_trace $trace &&
	grep "^[-0-9]*T[0-9:]*\.[0-9]* kvs rx > kvs.lookup[^ ]* \[[0-9]*\]$" got &&
	grep "^[-0-9]*T[0-9:]*\.[0-9]* kvs tx < kvs.lookup[^ ]* \[0\] ENOENT$" got
'
test_expect_success 'only messages of the named modules are told' '
	{ flux module trace kvs resource >got & } && trace=$! &&
	trace_until got "resource tx" flux resource status &&
	id=$(flux submit -n1 true) && flux job wait-event -q $id clean &&
	trace_until got "kvs tx <" flux kvs get nosuch &&
	end_trace $trace &&
	awk "{ print \$2 }" got | sort -u >names && printf "kvs\nresource\n" | test_cmp - names
'
test_expect_success 'without names those of all modules are' '
	{ flux module trace >got & } && trace=$! &&
	trace_until got "job-manager tx > sched.alloc" flux run -n1 true &&
	trace_until got "job-exec tx <" flux run -n1 true &&
	end_trace $trace &&
	grep "job-manager tx > sched.alloc" got && grep "sched-weir-easy rx > sched.alloc" got
'
test_expect_success 'topic and type choose' '
	{ flux module trace -t request -T "job-manager.*" >got & } && trace=$! &&
	trace_until got "job-manager.urgency" flux job urgency 1 0 &&
	end_trace $trace &&
	awk "{ print \$4 }" got | sort -u >types && echo ">" | test_cmp - types &&
	test_must_fail grep -v " job-manager\." got
'
test_expect_success 'with --full payloads and messages of errors are told, without they are not' '
	{ flux module trace --full kvs job-manager >full & } && full=$! &&
	{ flux module trace >got & } && trace=$! &&
	trace_until full "\"key\": \"some_key\"" flux kvs put some_key=1 &&
	trace_until full "unknown job" flux job urgency 1 0 &&
	trace_until got "job-manager tx < job-manager.urgency \[0\] E" flux job urgency 1 0 &&
	trace_until got "kvs.commit" flux kvs put some_key=1 &&
	end_trace $full && end_trace $trace &&
	test_must_fail grep -e some_key -e "unknown job" got
'
test_expect_success '--human and --delta' '
	{ flux module trace --human --delta -T "kvs.*" kvs >got & } && trace=$! &&
	trace_until got "^\[ *+[0-9.]*\]" flux kvs get nosuch &&
	end_trace $trace
'
test_expect_success 'a trace that is cancelled ends with ENODATA, others go on' '
	cat >cancel.py <<-\EOF &&
		import json, sys
		sys.path.insert(0, sys.argv[1])
		import wire
		client, asker = wire.Client(), wire.Client()
		filters = {"names": ["kvs"], "typemask": 15, "topic_glob": "kvs.lookup*"}
		first, second = (client.start("module.trace", filters, wire.STREAMING) for _ in range(2))
		client.rpc("module.list")  # both have begun
		def ask():
		    try:
		        asker.rpc("kvs.lookup", {})
		    except wire.Failed:
		        pass
		ask()
		for _ in ("rx", "tx"):
		    client.answer(first), client.answer(second)
		client.notify("module.cancel", {"matchtag": first})
		try:
		    print(client.answer(first))
		except wire.Failed as end:
		    print(end.errnum)
		ask()
		print(json.loads(client.answer(second))["prefix"])
	EOF
	python3 -S cancel.py "$(dirname "$WIRE")" >got && printf "61\nrx\n" | test_cmp - got
'
test_expect_success 'a request with other members is refused' '
	test_expect_code 1 call module.trace "{\"names\":[],\"typemask\":15,\"topic_glob\":\"*\"}" >out &&
	grep "error 71: module.trace is a streaming request" out
'
test_expect_success 'a tracer that reads nothing is disconnected, and the broker has its memory back' '
	{ flux module trace --full kvs >stopped & } && trace=$! &&
	trace_until stopped "kvs.lookup" flux kvs get nosuch &&
	kill -STOP $trace &&
	head -c 3000000 /dev/zero | tr "\0" x >big &&
	for _ in $(seq 40); do
		flux kvs put --raw big=- <big || return 1
		grep -q "it left 64 MiB of messages unread" b.err && break
	done
	flux dmesg | grep "it left 64 MiB of messages unread" &&
	kill -CONT $trace && test_must_fail wait $trace &&
	flux kvs unlink big &&
	kb=$(awk "/VmRSS/ { print \$2 }" /proc/$(broker_pid b)/status) && echo "$kb KiB" &&
	test $kb -lt $((100000 * SANITIZER_MEMORY))
'
test_expect_success 'the broker stops' '
	stop_broker b
'
test_done
