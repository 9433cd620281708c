#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a guest can exhaust neither memory nor connections of an instance, whatever he sends or leaves unread'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
set -o pipefail

NOBODY=65534
cat >guests.toml <<-\EOF
	weir-broker.modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs"]
	access.allow-guest-user = true
	[[resource.config]]
	hosts = "node0"
	cores = "0-3"
EOF
as_guest() {
	PATH=/usr/bin:/bin setpriv --reuid=$NOBODY --regid=$NOBODY --clear-groups timeout 120 "$@"
}
test "$(id -u)" = 0 && as_guest python3 "$WIRE" --help >/dev/null 2>&1 && as_guest test -x "$PWD" && test_set_prereq GUEST
if ! test_have_prereq GUEST; then
	skip_all='only root can try another user'
	test_done
fi
# The most memory that the broker ever had, in MiB.
peak() {
	awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$(broker_pid it)/status"
}
cat >attack.py <<-\EOF
	import json, os, socket, struct, sys, wire

	MIB = 1 << 20
	PAD = "x" * 60000  # nearly the most that a guest may send to most methods
	CONFIG = {"pad": PAD}
	HEAD = struct.pack("=I", 0xFFEE0012)

	def pour(sock, data, times):
	    """Sends until it is all gone or the broker hangs up; true if it hung up."""
	    try:
	        for i in range(times):
	            sock.sendall(data)
	    except (BrokenPipeError, ConnectionResetError):
	        return True
	    return False

	def unfinished():
	    clients = [wire.Client() for i in range(40)]
	    piece = b"x" * MIB
	    cut = sum(pour(c.sock, HEAD + struct.pack(">I", 4 * MIB), 1) or pour(c.sock, piece, 3) for c in clients)
	    assert cut >= 18, cut

	def large():
	    """JSON that takes a hundred times its bytes when it is parsed."""
	    client = wire.Client()
	    data = wire.encode(wire.REQUEST, "attr.get", {"name": "rank", "pad": [{}] * (15 * MIB)})
	    assert pour(client.sock, HEAD + struct.pack(">I", len(data)) + data, 1)
	    client = wire.Client()
	    for topic in "attr.get", "broker.ping", "event.subscribe":
	        try:
	            client.rpc(topic, {"name": "rank", "topic": "x", "pad": [{}] * (MIB // 2)})
	            assert False, topic
	        except wire.Failed as failed:
	            assert failed.errnum == 90 and "at most 65536 bytes" in str(failed), failed
	    for topic in "job-manager.getattr", "job-manager.raise", "job-manager.memo", "job-manager.update", "job-list.list-id":
	        try:
	            client.rpc(topic, {"id": 1, "attrs": ["x"], "pad": [{}] * (MIB // 2)})
	            assert False, topic
	        except wire.Failed as failed:
	            assert failed.errnum == 90 and "at most 65536 bytes" in str(failed), failed
	    client.rpc("event.publish", {"topic": "x", "flags": 0, "payload": "eHh4" * (MIB // 4)})

	def deaf():
	    """Asks and reads no answer."""
	    clients = [wire.Client() for i in range(20)]
	    for client in clients:
	        client.sock.settimeout(5)
	        for tag in range(1, 1000):
	            data = wire.encode(wire.REQUEST, "kvs.ping", {"pad": PAD}, aux2=tag)
	            if pour(client.sock, HEAD + struct.pack(">I", len(data)) + data, 1):
	                break

	def flood():
	    """Sends without end what nobody answers: JSON that takes longer to read than to send."""
	    data = wire.encode(wire.REQUEST, "job-info.lookup", {"pad": [[[[i]]] for i in range(5000)]}, flags=wire.NORESPONSE)
	    data = HEAD + struct.pack(">I", len(data)) + data
	    cut = sum(pour(wire.Client().sock, data, 6000) for i in range(4))
	    assert cut == 4, cut

	def unasked():
	    """Has requests kept for which nobody waits: a stream, and a wait for the end of a job."""
	    data = wire.encode(wire.REQUEST, "job-list.job-stats", {"pad": PAD}, flags=wire.STREAMING | wire.NORESPONSE)
	    assert pour(wire.Client().sock, HEAD + struct.pack(">I", len(data)) + data, 300)
	    asked = {"id": int(open("waits.id").read()), "attrs": [], "state": 64, "pad": PAD}
	    data = wire.encode(wire.REQUEST, "job-list.list-id", asked, flags=wire.NORESPONSE)
	    client = wire.Client()
	    pour(client.sock, HEAD + struct.pack(">I", len(data)) + data, 16000)

	def routed():
	    """Writes a sender into his own requests, so that the end of the connection might not end them."""
	    for turn in range(20):
	        client = wire.Client()
	        for tag in range(1, 41):
	            data = wire.encode(wire.REQUEST, "job-list.job-stats", {"pad": PAD}, flags=wire.STREAMING, aux2=tag)
	            data = wire.frame(b"x") + data
	            pour(client.sock, HEAD + struct.pack(">I", len(data)) + data, 1)
	        client.sock.close()

	def held():
	    """Streams without end, each with a load."""
	    client, refused = wire.Client(), 0
	    for i in range(1600):
	        try:
	            client.answer(client.start("config.get", CONFIG, wire.STREAMING))
	        except wire.Failed as failed:
	            assert failed.errnum == 105 and "64 MiB" in str(failed), failed
	            refused += 1
	    assert 480 <= refused < 960, refused
	    try:
	        client.start("broker.ping", {}, wire.STREAMING)  # answered: a response without error does not end a stream
	        client.matchtag -= 1
	        client.start("broker.ping", {})
	        client.answer(client.matchtag)
	        client.answer(client.matchtag)
	        assert False, "a matchtag was taken twice"
	    except wire.Failed as failed:
	        assert "matchtag" in str(failed) or failed.errnum == 105, failed

	def twice():
	    """Gives another request the matchtag of each stream: its refusal must not end what the stream is charged."""
	    client, refused = wire.Client(), 0
	    for i in range(2400):
	        client.start("config.get", CONFIG, wire.STREAMING)
	        client.matchtag -= 1
	        tag = client.start("broker.ping", {})
	        try:
	            while True:
	                client.answer(tag)
	        except wire.Failed as failed:
	            refused += failed.errnum == 105
	    assert refused > 1200, refused

	def watchers():
	    """Follows each of his jobs far more often than there is a use for, reads nothing, and writes to them."""
	    ids, clients = json.load(open("own.id")), [wire.Client() for i in range(8)]
	    for topic, payload in (("job-info.eventlog-watch", {"path": "eventlog", "flags": 0}),
	                           ("job-info.eventlog-watch", {"path": "guest.output", "flags": 0}),
	                           ("job-list.list-id", {"attrs": ["all"], "state": 64})):
	        refused = 0
	        for job in ids:
	            for client in clients:
	                for i in range(60):
	                    client.start(topic, {"id": job, **payload}, wire.STREAMING if "watch" in topic else 0)
	        for client in clients:
	            client.rpc("job-manager.getinfo", {})
	            refused += sum(m.aux1 == 11 and "64 of your requests wait for this job" in m.text for m in client.early)
	            client.early = []
	        print(topic, payload, refused, flush=True)
	        # of the two kinds of streams together there are 64
	        assert refused == len(ids) * (8 * 60 - (0 if "guest.output" in payload.values() else 64)), (payload, refused)
	    writer = wire.Client()
	    for i in range(2):
	        writer.rpc("job-manager.memo", {"id": ids[0], "memo": {f"x{i}": PAD}})
	    writer.rpc("job-manager.raiseall", {"dry_run": False, "userid": os.getuid(), "states": 127, "severity": 7, "type": "x",
	                                        "note": PAD})
	    writer.rpc("job-manager.raiseall", {"dry_run": False, "userid": os.getuid(), "states": 127, "severity": 0,
	                                        "type": "cancel"})

	def counts():
	    client = wire.Client()
	    for i in range(200):
	        client.start("job-list.job-stats", {}, wire.STREAMING)
	    client.rpc("job-manager.getinfo", {})
	    assert sum(m.aux1 == 11 for m in client.early) == 200 - 64

	def crowd():
	    clients = []
	    try:
	        while len(clients) < 200:
	            clients.append(wire.Client())
	    except wire.Failed as failed:
	        assert failed.errnum == 24, failed
	    assert len(clients) == 64, len(clients)
	    open(sys.argv[2], "w").write("full\n")
	    open(sys.argv[3]).read()
	    clients.pop().sock.close()
	    clients[0].rpc("broker.ping", {})
	    wire.Client().rpc("broker.ping", {})

	def names():
	    client = wire.Client()
	    for topic, key in (("event.subscribe", "topic"), ("service.add", "service")):
	        for i in range(257):
	            try:
	                client.rpc(topic, {key: f"{os.getuid()}-{i}"})
	            except wire.Failed as failed:
	                assert failed.errnum == 28 and i == 256, (i, failed)
	    try:
	        client.rpc("kvs." + "x" * 300, {})
	        assert False, "a topic of 300 bytes was taken"
	    except wire.Failed as failed:
	        assert failed.errnum == 104, failed

	globals()[sys.argv[1]]()
	print("done")
EOF
test_expect_success 'an instance is open to guests' '
	start_broker it -c guests.toml && as_guest python3 "$WIRE" rpc broker.ping "{}" && peak
'
test_expect_success 'a job waits' '
	FLUX_URI=local://$PWD/it/local-0 python3 "$SHARNESS_TEST_SRCDIR/tools/job.py" submit -u 0 >waits.id && chmod 644 waits.id && cat waits.id
'
test_expect_success 'so do forty jobs of the guest' '
	FLUX_URI=local://$PWD/it/local-0 python3 -c "import burst, wire; print(burst.submit(wire.Client(), 40, $NOBODY))" >own.id &&
	chmod 644 own.id
'
for attack in unfinished large deaf flood unasked routed held twice names watchers counts; do
	test_expect_success "$attack: the broker stays small, the owner is served, the guest again afterwards" '
		as_guest python3 attack.py '$attack' && peak && test "$(peak)" -lt $((400 * SANITIZER_MEMORY)) &&
		call job-list.job-stats "{}" && as_guest python3 "$WIRE" rpc job-manager.getinfo "{}"
	'
done
test_expect_success 'connections: a guest has 64, the owner still comes in, who leaves makes room' '
	mkfifo full go && chmod 666 full go &&
	{ as_guest python3 attack.py crowd full go >crowd.out 2>&1 3>&- 4>&- 5>&- & } && read -r line <full &&
	call broker.ping "{}" && test_expect_code 1 as_guest python3 "$WIRE" rpc broker.ping "{}" >refused &&
	grep "error 24" refused && echo >go && wait $! && grep done crowd.out
'
cat >forge.py <<-\EOF
	import os, json, wire

	def guest(told):
	    os.setgid(65534)
	    os.setuid(65534)
	    client = wire.Client()
	    client.rpc("service.add", {"service": "65534-own"})
	    os.write(told, b"1")
	    request = client.receive()
	    client.respond(request, {"from": "the guest"})
	    for request.aux2 in range(1, 10):
	        client.respond(request, {"from": "a forger"})
	    client.rpc("broker.ping", {})  # all of it has been routed
	    os.write(told, b"2")
	    client.receive()  # until he is ended

	heard, told = os.pipe()
	pid = os.fork()
	if pid == 0:
	    guest(told)
	os.close(told)
	owner = wire.Client()
	assert os.read(heard, 1) == b"1"
	assert json.loads(owner.rpc("65534-own.hello", {}))["from"] == "the guest"
	assert os.read(heard, 1) == b"2"
	for i in range(8):
	    answer = json.loads(owner.rpc("broker.ping", {"from": "me"}))
	    assert answer["from"] == "me", answer
	os.kill(pid, 9)
EOF
test_expect_success 'a guest who knows a client by its uuid cannot answer in place of a service' '
	timeout 60 python3 forge.py
'
test_expect_success 'the log tells of it and is not flooded' '
	grep "of uid $NOBODY: disconnected: its user has 64 MiB of unfinished messages" it.err &&
	test "$(grep -c "uid $NOBODY" it.err)" -lt 20 && stop_broker it
'
cat >waiting.py <<-\EOF
	import os, socket, subprocess, sys, wire
	first = wire.Client()
	directory = os.open(os.path.dirname(first.path), os.O_PATH)
	rest = [socket.socket(socket.AF_UNIX) for i in range(50)]
	for s in rest:
	    s.connect(f"/proc/self/fd/{directory}/local-0")
	first.rpc("broker.ping", {})
	subprocess.run(["prlimit", "--pid", sys.argv[1], "--nofile=256:"], check=True)
	assert rest[49].recv(1) == b"\0"
	print("all served")
EOF
test_expect_success 'out of descriptors, the broker hears again when there are some, though no client left' '
	(
		ulimit -Sn 64 && start_broker few -c guests.toml &&
		timeout 60 python3 waiting.py $(broker_pid few) && stop_broker few
	)
'
test_done
