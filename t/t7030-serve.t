#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir serve: the page, its headers, who is admitted, and events that bring what changed'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
test "$(id -u)" != 0 || test_set_prereq ROOT
command -v openssl >/dev/null && test_set_prereq OPENSSL

write_departments
# What the tests read with: `from serving import *`.
cat >serving.py <<EOF
import json, os, sys, time
import serve_client as client
from compared import *
url = load("page.json")["url"]
EOF

test_expect_success 'it starts beside an instance, tells where it listens, and listens on this machine alone' '
	start_weir --tree shares.toml --config weir.toml &&
	start_serve page --port 0 && json_is page.json weir.serve/1 && grep "^  \"listens\": \"127.0.0.1:" page.json &&
	python3 - <<-\EOF
	from serving import *
	assert url.startswith("http://127.0.0.1:") and len(url.split("#")[1]) == 43, url
	EOF
'
test_expect_success 'the page is files from here, without inline script or style, with a strict policy on every answer' '
	python3 - <<-\EOF
	import re
	from serving import *
	for path, status in [("/", 200), ("/page.js", 200), ("/page.css", 200), ("/pictures.css", 200), ("/api/nothing", 404)]:
	    got, headers, body = client.get(url, path)
	    same((path, got), (path, status))
	    head = {k.lower(): v for k, v in headers}
	    policy = dict(part.strip().split(" ", 1) for part in head["content-security-policy"].split(";"))
	    same([policy[k + "-src"] for k in ("default", "script", "style", "connect")], ["\x27none\x27"] + ["\x27self\x27"] * 3)
	    same([policy[k] for k in ("frame-ancestors", "base-uri", "form-action")], ["\x27none\x27"] * 3)
	    same((head["x-content-type-options"], head["referrer-policy"]), ("nosniff", "no-referrer"))
	page = client.get(url, "/")[2].decode()
	assert not re.search(r"<script(?![^>]*src=)|<style|style=|https?:", page), page
	status, headers, body = client.get(url, "/page.js", ["Accept-Encoding: gzip"])
	head = {k.lower(): v for k, v in headers}
	assert head["content-encoding"] == "gzip" and len(body) > 10000, headers
	same(client.get(url, "/page.js", ["If-None-Match: " + head["etag"]])[0], 304)
	EOF
'
test_expect_success 'without the token nothing of the instance is told; a wrong one, another method or path is refused' '
	python3 - <<-\EOF
	from serving import *
	bare, token = url.split("#")
	same(client.get(bare, "/api/events")[0], 401)
	for wrong in ("x" * 43, token[:-1], token + "x", ""):
	    same(client.get(bare, "/api/events", ["Authorization: Bearer " + wrong])[0], 401)
	same(client.get(bare, "/api/events?token=" + token)[0], 401)
	for path, method, allowed in (("/page.js", "POST", "GET, HEAD"), ("/page.js", "DELETE", "GET, HEAD"), ("/api/change", "PUT", "POST")):
	    status, headers, body = client.get(url, path, method=method, body="{}")
	    same((status, {k.lower(): v for k, v in headers}.get("allow")), (405, allowed))
	for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/page.js/../../etc/passwd", "/built/page.js"):
	    status, headers, body = client.get(url, path)
	    assert status in (400, 401, 403, 404) and b"root:" not in body, (path, status, body)
	EOF
'
test_expect_success 'HEAD is answered as GET, without a body; what was not modified has no length; the connection goes on' '
	python3 - <<-\EOF
	from serving import *
	link, own = client.connection(url)
	def ask(method, path, headers={}):
	    link.request(method, path, headers={**own, **headers})
	    answer = link.getresponse()  # a body that it does not expect would be taken for the next answer
	    return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
	for path in ("/", "/page.js", "/api/nothing", "/api/two-jobs?job=f1"):
	    status, head, body = ask("GET", path)
	    assert len(body) == int(head["content-length"]) > 0, head
	    same(ask("HEAD", path), (status, head, b""))
	status, head, body = ask("HEAD", "/metrics")
	assert status == 200 and int(head["content-length"]) > 0, head
	status, stream, body = ask("HEAD", "/api/events")
	same((status, stream["content-type"], "content-length" in stream), (200, "text/event-stream", False))
	same(ask("HEAD", "/api/change")[0], 404)
	same(ask("DELETE", "/")[0], 405)
	etag = ask("GET", "/page.js")[1]["etag"]
	for method in ("GET", "HEAD"):
	    status, head, body = ask(method, "/page.js", {"If-None-Match": etag})
	    same((status, "content-length" in head, body), (304, False, b""))
	same(ask("GET", "/")[0], 200)
	EOF
'
test_expect_success 'a request that is too long is refused, and the server goes on' '
	python3 - <<-\EOF
	from serving import *
	same(client.get(url, "/api/x", ["Content-Length: 9999999"], method="POST")[0], 413)
	for headers in (["X-Long: " + "x" * 100000], ["Authorization: Bearer " + "x" * 6000]):
	    try:
	        assert client.get(url, "/api/events", headers)[0] >= 400
	    except (OSError, client.http.client.HTTPException) as e:
	        print("hung up:", e)
	same(client.get(url, "/")[0], 200)
	EOF
'
test_expect_success 'the first events are the viewer, all rows with the figures of weir share show --json, and the pictures' '
	id=$(weir submit --user carol -n 2 --simulate=0.2s done) && { weir output --wait $id 2>/dev/null || :; } &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_until job-priority.usage "{}" "[.nodes[].running_cores] | add == 0" &&
	weir share show --json >show.json &&
	python3 "$SERVE_CLIENT" "$(serve_url page)" events "\"past\" in seen and \"pictures\" in seen" >first &&
	python3 - <<-\EOF
	from serving import *
	events = [json.loads(line) for line in open("first")]
	same(events[0][0], "hello")
	for name, data in events:
	    if name == "tree":
	        tree = data
	    for row in data["rows"] if name == "rows" else []:
	        tree["rows"][row[0]][1:9] = row[1:]
	shown = load("show.json")
	same(tree["revision"], shown["revision"])
	keys = ("path", "shares", "entitled", "used", "usage_core_s", "level_fs", "factor", "running_cores", "pending_jobs")
	same({tuple(row[:9]) for row in tree["rows"]}, {tuple(n.get(k) for k in keys) for n in shown["nodes"]})
	same((tree["of"], {row[0]: row[9] for row in tree["rows"]}), (7, {"physics": 2, "physics/lattice": 1, "physics/lattice/@alice": 0, "physics/astro": 1, "physics/astro/@bob": 0, "chem": 1, "chem/@carol": 0}))
	assert {row[3] for row in tree["rows"]} == {0, 1}, tree
	pictures = {part: svg for name, data in events if name == "pictures" for part, svg in data.items()}
	same(sorted(pictures), ["forgetting", "instances", "queue"])
	assert "No job is pending" in pictures["queue"] and "data-instance=\"top\"" in pictures["instances"], pictures
	EOF
'
test_expect_success 'a job comes into sight within two seconds of its submission; only what changed is sent' '
	cat >live.py <<-\EOF &&
	import subprocess
	from serving import *
	names, places, submitted, moved = [], [], None, {}
	for name, data in client.events(url):
	    names.append(name)
	    if name == "tree":
	        places = [row[0] for row in data["rows"]]
	    if submitted is None and "tree" in names and "pictures" in names:
	        subprocess.run(["weir", "submit", "--user", "bob", "-n", "1", "--simulate=1000s", "-t", "1h", "live"], check=True)
	        submitted, at = time.monotonic(), len(names)
	    elif submitted and name == "rows":
	        moved = {places[row[0]]: row for row in data["rows"]}
	        if "physics/astro/@bob" in moved and moved["physics/astro/@bob"][7] == 1:
	            break
	took = time.monotonic() - submitted
	print(f"{took:.2f} s after the submission; {names}; {moved}")
	assert took < patience_s() and "tree" not in names[at:], names
	EOF
	python3 live.py
'
test_expect_success 'a change of the tree is sent whole' '
	{ python3 "$SERVE_CLIENT" "$(serve_url page)" events "name == \"tree\" and data[\"reason\"] == \"more\"" >changed & } &&
	watcher=$! && weir share set -m more chem/@carol 7 && wait $watcher && tail -n 1 changed | grep "\"chem/@carol\", 7"
'
test_expect_success 'a page that is only read refuses changes; one with --edit takes them from JSON alone, plans first, and knows the base' '
	start_serve editing --port 0 --edit && cat >edit.py <<-\EOF &&
	from serving import *
	def change(url, body, kind="application/json"):
	    status, headers, text = client.get(url, "/api/change", ["Content-Type: " + kind], "POST", json.dumps(body))
	    return status, text.decode()
	editing, base = load("editing.json")["url"], load("base.json")["revision"]
	wanted = {"path": "chem/@carol", "shares": 9, "base": base, "reason": "tried"}
	same(change(url, wanted)[0], 403)
	same(change(editing.split("#")[0], wanted)[0], 401)
	same(change(editing, wanted, "text/plain")[0], 400)
	for broken in ({}, {**wanted, "shares": -1}, {**wanted, "path": ""}, {**wanted, "path": "nowhere"}, {**wanted, "shares": 1 << 40}, {**wanted, "reason": "x" * 501}):
	    same(change(editing, broken)[0], 400)
	status, text = change(editing, {**wanted, "plan": True})
	same((status, json.loads(text)["dry_run"], [c["path"] for c in json.loads(text)["changes"]]), (200, True, ["chem/@carol"]))
	same(change(editing, {**wanted, "base": base - 1})[0], 409)
	status, text = change(editing, wanted)
	same((status, json.loads(text)["revision"]), (200, base + 1))
	status, text = change(editing, {"undo": True, "base": base + 1})
	same((status, json.loads(text)["revision"]), (200, base + 2))
	EOF
	weir share show --json >base.json && python3 edit.py && weir share history --json >history.json && stop_serve editing &&
	test "$(field history.json "[r[\"reason\"] for r in d[\"revisions\"]][-2:]")" = "['\''tried'\'', '\''back to revision 2'\'']"
'
test_expect_success 'of a large tree the levels on top are sent at once, and below them what a viewer opens or searches' '
	python3 - >large.toml <<-\EOF &&
	for a in range(30):
	    print(f"\"a{a:02}\" = 1")
	    for u in range(99):
	        print(f"\"a{a:02}/@carol\" = 1" if (a, u) == (7, 98) else f"\"a{a:02}/@u{a:02}x{u:02}\" = 1")
	EOF
	cp shares.toml before.toml && weir share apply -m large large.toml --yes >/dev/null && cat >open.py <<-\EOF &&
	import subprocess
	from serving import *
	paths = lambda data: [row[0] for row in data["rows"]]
	def wish(of, **wanted):
	    return client.get(url, "/api/open", ["Content-Type: application/json"], "POST", json.dumps({"viewer": of, **wanted}))[0]
	tops, stream, trees = [f"a{a:02}" for a in range(30)], client.events(url), []
	hello = next(stream)[1]
	def after(status, holds):
	    same(status, 200)
	    for name, data in stream:
	        if name == "tree":
	            trees.append((len(data["rows"]), len(json.dumps(data))))
	            if holds(data):
	                return data
	first = after(200, lambda data: data["of"] == 3000 and paths(data) == tops)
	same({row[9] > 0 for row in first["rows"]}, {True})
	opened = after(wish(hello["viewer"], open=["a07"]), lambda data: len(data["rows"]) == 129)
	same([p for p in paths(opened) if "/" in p], [f"a07/@u07x{u:02}" for u in range(98)] + ["a07/@carol"])
	subprocess.run(["weir", "submit", "--user", "carol", "-n", "1", "--simulate=1000s", "deep"], check=True, capture_output=True)
	carol = paths(opened).index("a07/@carol")
	row = next(row for name, data in stream if name == "rows" for row in data["rows"] if row[0] == carol and row[7] + row[8] == 1)
	print("the row of who submitted, without another tree:", row)
	found = after(wish(hello["viewer"], search="U19X98"), lambda data: len(data["rows"]) == 2)
	same(paths(found), ["a19", "a19/@u19x98"])
	after(wish(hello["viewer"], all=True), lambda data: len(data["rows"]) == 3000)
	same(wish(hello["viewer"] + 1, open=[]), 404)
	same(client.get(url, "/api/open", method="POST", body="{}")[0], 400)
	print("rows and bytes of each tree:", trees)
	EOF
	python3 open.py && weir share apply -m small before.toml --yes >/dev/null
'
test_expect_success '/metrics is what weir metrics says, for who has the token; two jobs of which one is not there are no server error' '
	python3 - <<-\EOF
	from serving import *
	same(client.get(url.split("#")[0], "/metrics")[0], 401)
	status, headers, text = client.get(url, "/metrics")
	assert status == 200 and b"weir_share_entitled_ratio{path=\"physics\"}" in text and text.endswith(b"# EOF\n"), text[-300:]
	same(client.get(url, "/api/two-jobs?job=f1")[0], 404)
	same(client.get(url, "/api/two-jobs?job=%3F")[0], 400)
	EOF
'
test_expect_success 'a Unix socket is its owner'\''s; X-Remote-User names the viewer; an unknown name is refused' '
	start_serve local --socket "$PWD/page.sock" && test "$(stat -c %a page.sock)" = 600 &&
	python3 "$SERVE_CLIENT" unix:page.sock events "name == \"hello\"" "X-Remote-User: bob" >hello && grep "\"user\": \"bob\"" hello &&
	python3 "$SERVE_CLIENT" unix:page.sock events "name == \"pictures\" and \"instances\" in data" "X-Remote-User: bob" >/dev/null &&
	test_must_fail python3 "$SERVE_CLIENT" unix:page.sock events "True" "X-Remote-User: nobody-of-that-name" 2>err && grep " 403 " err
'
test_expect_success 'a second server does not take the socket of the first, nor a file that is no socket' '
	test_must_fail weir serve --socket "$PWD/page.sock" 2>err && grep "a server listens" err && echo text >file &&
	test_must_fail weir serve --socket "$PWD/file" 2>err && grep "is no socket" err && grep text file
'
test_expect_success 'it takes the socket away when it ends, with exit code 0' '
	stop_serve local && ! test -e page.sock
'
test_expect_success ROOT 'at a socket for a proxy, only the proxy and the owner are listened to' '
	dir=$(mktemp -d /tmp/weir-serve-XXXXXX) && chmod 755 "$dir" && start_serve proxied --socket "$dir/page.sock" --proxy-user nobody &&
	cat >as.py <<-\EOF &&
	import os, pwd, sys
	import serve_client as client
	user, name, headers = sys.argv[1], sys.argv[2], sys.argv[3:]
	os.setuid(pwd.getpwnam(user).pw_uid)
	try:
	    print(client.until("unix:" + name, lambda name, data, seen: name == "hello", headers)[0])
	except (OSError, client.http.client.HTTPException) as e:
	    print(type(e).__name__, e)
	EOF
	python3 as.py nobody "$dir/page.sock" "X-Remote-User: alice" >as && grep "alice" as &&
	python3 as.py nobody "$dir/page.sock" >as && grep "403" as &&
	python3 as.py daemon "$dir/page.sock" "X-Remote-User: alice" >as && cat as && ! grep "hello" as &&
	stop_serve proxied && rm -r "$dir"
'
test_expect_success OPENSSL 'over TLS it is the same' '
	openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost 2>/dev/null &&
	start_serve tls --port 0 --cert cert.pem --key key.pem && case "$(serve_url tls)" in https://*) true ;; *) false ;; esac &&
	python3 "$SERVE_CLIENT" "$(serve_url tls)" events "name == \"tree\"" >over-tls && grep "physics/astro/@bob" over-tls && stop_serve tls
'
test_expect_success 'what cannot be is said before anything listens' '
	test_expect_code 2 weir serve --listen 0.0.0.0 2>err && grep "in the clear" err &&
	test_expect_code 2 weir serve --cert x 2>err && test_expect_code 2 weir serve --proxy-user root 2>err &&
	test_must_fail weir serve --listen nowhere --cert a --key b 2>err && cat err &&
	test_expect_code 3 weir serve --uri local:///nowhere/local-0 2>err
'
test_expect_success 'viewers are bounded: each of 256 has the events, and the next is told to come later' '
	python3 - <<-\EOF
	from serving import *
	streams = [client.events(url) for i in range(256)]
	for stream in streams:
	    same(next(stream)[0], "hello")
	try:
	    next(client.events(url))
	    raise SystemExit("the 257th was admitted")
	except OSError as e:
	    assert str(e).startswith("503"), e
	for stream in streams:
	    assert any(name == "tree" for name, data in stream)
	EOF
'
test_expect_success '200 viewers at once see a change; who takes gzip gets the same events in less than half of the bytes' '
	cat >many.py <<-\EOF &&
	import subprocess, zlib
	from serving import *
	class Viewer:
	    def __init__(self, packed):
	        self.link, headers = client.connection(url)
	        self.link.request("GET", "/api/events", headers={**headers, **({"Accept-Encoding": "gzip"} if packed else {})})
	        self.answer, self.bytes, self.text, self.looked = self.link.getresponse(), 0, b"", 0
	        same((self.answer.status, self.answer.getheader("Content-Encoding")), (200, "gzip" if packed else None))
	        self.unpack = zlib.decompressobj(31).decompress if packed else bytes
	    def until(self, words):
	        while words not in self.text[self.looked:]:
	            piece = self.answer.read1(1 << 16)
	            assert piece, self.text[-200:]
	            self.bytes += len(piece)
	            self.text += self.unpack(piece)
	        self.looked = len(self.text)
	packed, plain = [Viewer(True) for i in range(100)], [Viewer(False) for i in range(100)]
	for viewer in packed + plain:
	    viewer.until(b"event: past")
	had = [sum(v.bytes for v in some) / 100 for some in (packed, plain)]
	subprocess.run(["weir", "submit", "--user", "carol", "-n", "1", "--simulate=0.2s", "seen-by-all"], check=True, stdout=subprocess.DEVNULL)
	subprocess.run(["weir", "share", "set", "-m", "seen by all", "chem/@carol", "11"], check=True, stdout=subprocess.DEVNULL)
	for viewer in packed + plain:
	    viewer.until(b"[\"chem/@carol\",11,")
	got = [sum(v.bytes for v in some) / 100 for some in (packed, plain)]
	print(f"bytes a viewer: first {had[0]:.0f} of {had[1]:.0f}, in all {got[0]:.0f} of {got[1]:.0f}")
	assert got[0] < got[1] / 2, got  # small events that come later compress less
	EOF
	python3 many.py
'
test_expect_success 'viewers are told that the instance has gone, and see the next one without connecting again' '
	cat >away.py <<-\EOF &&
	from serving import *
	stream = client.events(url)
	assert any(name == "tree" for name, data in stream)
	print("seen", flush=True)
	assert any(name == "trouble" and data["text"] for name, data in stream)
	print("gone", flush=True)
	assert any(name == "trouble" and not data["text"] for name, data in stream)
	print("back", flush=True)
	EOF
	mkfifo said && { python3 away.py >said & } && watcher=$! && exec 6<said && read -r word <&6 && test "$word" = seen &&
	stop_weir && read -r word <&6 && test "$word" = gone &&
	start_weir --tree shares.toml --config weir.toml && read -r word <&6 && test "$word" = back && exec 6<&- && wait $watcher
'
test_expect_success 'Ctrl-C ends it with viewers on it' '
	cat >endless.py <<-\EOF &&
	from serving import *
	for name, data in client.events(url):
	    print(name, flush=True)
	EOF
	mkfifo names && { python3 endless.py >names & } && watcher=$! && exec 6<names && read -r word <&6 &&
	stop_serve page && cat <&6 >/dev/null && exec 6<&- && { wait $watcher || :; } && test_expect_code 1 grep -v "Ran out of header data space" page.err
'
test_expect_success 'the instance ends' '
	stop_weir
'

test_done
