#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the module host: loading and its failures, default methods, removal, replaced files, failures while running'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
set -o pipefail  # jq -e takes no input for success

DSO=$WEIR_BUILD_DIR/t/dso
echo 'weir-broker.modules = ["kvs"]' >conf.toml

# load PATH [ARG...]: asks for it with that file.
load() {
	path=$1
	shift
	call module.load "$(jq -cn --arg path "$path" '{path:$path, args:$ARGS.positional, exec:false}' --args "$@")"
}
unload() {
	call module.remove "{\"name\":\"$1\"}"
}
mapped() {
	grep -q "$1" "/proc/$(broker_pid b)/maps"
}

test_expect_success 'start a broker' '
	start_broker b -c conf.toml
'
test_expect_success 'load: the module runs when the answer comes' '
	load "$DSO/test-module-good.so" a=1 b "c d" &&
	call test-module-good.about | jq -e ".generation == \"old\" and .args == \"a=1,b,c d\"" &&
	call module.list | jq -e ".mods[] | select(.name == \"test-module-good\") | .status == 1 and .path == \"$DSO/test-module-good.so\""
'
test_expect_success 'load: the thread has the module name' '
	cat /proc/$(broker_pid b)/task/*/comm | grep "^test-module-goo"
'
test_expect_success 'load: a second one of that name is refused' '
	test_expect_code 1 load "$DSO/test-module-good.so" >out &&
	grep "error 17: File exists" out &&
	test_expect_code 1 load kvs >out &&
	grep "error 17: File exists" out
'
test_expect_success 'load: a name of a service of the broker is refused' '
	test_expect_code 1 call module.load "{\"path\":\"$DSO/test-module-good.so\",\"name\":\"attr\",\"args\":[]}" >out &&
	grep "error 17: File exists" out
'
test_expect_success 'load: under another name it has other topics' '
	call module.load "{\"path\":\"$DSO/test-module-good.so\",\"name\":\"alias\",\"args\":[]}" &&
	call alias.about | jq -e .generation &&
	unload alias &&
	call test-module-good.about | jq -e .generation
'
test_expect_success 'load: a name ends at the first dot of the file name, links are not resolved' '
	ln -s "$DSO/test-module-good.so" linked.v1.so &&
	load "$PWD/linked.v1.so" && call linked.about && unload linked
'
test_expect_success 'default methods: ping, stats, rusage, debug' '
	call test-module-good.ping "{\"seq\":3,\"pad\":\"x\"}" | jq -e ".seq == 3 and .pad == \"x\" and .userid == $(id -u) and .rolemask == 5" &&
	call test-module-good.stats-get | jq -e ".rx.request >= 2 and .tx.response >= 1" &&
	call test-module-good.stats-clear &&
	call test-module-good.stats-get | jq -e ".rx.request <= 2" &&
	call test-module-good.rusage "{\"who\":\"thread\"}" | jq -e .maxrss &&
	test_expect_code 1 call test-module-good.rusage "{\"who\":\"me\"}" &&
	call test-module-good.debug "{\"op\":\"setbit\",\"flags\":6}" | jq -e ".flags == 6" &&
	call test-module-good.debug "{\"op\":\"clrbit\",\"flags\":2}" | jq -e ".flags == 4"
'
test_expect_success 'default methods: an event clears the statistics' '
	call event.publish "{\"topic\":\"test-module-good.stats-clear\",\"flags\":0}" &&
	call test-module-good.stats-get | jq -e ".rx.request <= 2"
'
test_expect_success 'configuration: a module may refuse, then all keep the old one' '
	load "$DSO/test-module-replaced.so" &&
	call config.load "{\"number\":1}" &&
	call test-module-good.conf | jq -e ".number == 1" &&
	test_expect_code 1 call config.load "{\"number\":2,\"veto\":true}" >out &&
	grep "error 22: error updating test-module-good: key veto must not be true" out &&
	call config.get | jq -e ".number == 1" &&
	call test-module-good.conf | jq -e ".number == 1" &&
	call test-module-replaced.conf | jq -e ".number == 1" &&
	unload test-module-replaced
'
test_expect_success 'failure: no such file' '
	test_expect_code 1 load "$DSO/nosuch.so" >out &&
	grep "error 2: .*nosuch.so.*No such file" out
'
test_expect_success 'failure: no such name' '
	test_expect_code 1 load nosuch >out &&
	grep "error 2: module not found in search path" out
'
test_expect_success 'failure: a missing symbol is named' '
	test_expect_code 1 load "$DSO/test-module-missing-symbol.so" >out &&
	grep "undefined symbol: flux_no_such_function" out
'
test_expect_success 'failure: no mod_main' '
	test_expect_code 1 load "$DSO/test-module-no-main.so" >out &&
	grep "error 22: module does not define mod_main()" out
'
test_expect_success 'failure: a declared name that is not the name' '
	test_expect_code 1 load "$DSO/test-module-wrong-name.so" >out &&
	grep "error 22: mod_name somebody-else != name test-module-wrong-name" out
'
test_expect_success 'failure: mod_main fails with errno' '
	test_expect_code 1 load "$DSO/test-module-fails.so" >out &&
	grep "error 99: Cannot assign requested address" out
'
test_expect_success 'failure: mod_main throws, and the broker lives' '
	test_expect_code 1 load "$DSO/test-module-throws.so" >out &&
	grep "an exception left mod_main: out of luck" out
'
test_expect_success 'failure: nothing that failed to load is listed or mapped' '
	call module.list | jq -e ".mods | map(.name) == [\"kvs\", \"test-module-good\"]" &&
	! mapped "test-module-(fails|throws|no-main|missing)"
'
test_expect_success 'remove: answers when the module has ended and its file is unmapped' '
	mapped test-module-good &&
	unload test-module-good &&
	! mapped test-module-good &&
	test_expect_code 1 call test-module-good.about >out &&
	grep "error 38: No service matching test-module-good" out
'
test_expect_success 'remove: what is not loaded cannot be' '
	test_expect_code 1 unload test-module-good >out &&
	grep "error 2:" out
'
test_expect_success 'remove: by path, as the flux command does' '
	load "$DSO/test-module-good.so" &&
	unload "$DSO/test-module-good.so"
'
test_expect_success 'remove: a request that comes while the module ends is answered' '
	load "$DSO/test-module-good.so" &&
	cat >race.py <<-\EOF &&
		import sys, wire
		client = wire.Client()
		client.notify("test-module-good.shutdown")
		tags = [client.start("test-module-good.about", None) for i in range(50)]
		answers = []
		for tag in tags:
		    try:
		        client.answer(tag)
		        answers.append("done")
		    except wire.Failed as refused:
		        answers.append(refused.errnum)
		print(len(answers), sorted(set(map(str, answers))))
	EOF
	python3 race.py >out && cat out && grep "^50 " out && grep "38" out &&
	test_expect_code 1 unload test-module-good
'
test_expect_success 'replaced: a new file at the same path is what the next load runs' '
	cp "$DSO/test-module-good.so" here.so && load "$PWD/here.so" &&
	call here.about | jq -e ".generation == \"old\"" &&
	cp "$DSO/test-module-replaced.so" new.so && mv new.so here.so &&
	call here.about | jq -e ".generation == \"old\"" &&
	unload here && load "$PWD/here.so" &&
	call here.about | jq -e ".generation == \"new\"" &&
	unload here
'
test_expect_success 'load and remove a hundred times: no thread, file or socket stays' '
	load "$DSO/test-module-good.so" && unload test-module-good &&
	before="$(ls /proc/$(broker_pid b)/task | wc -l) $(ls /proc/$(broker_pid b)/fd | wc -l)" &&
	cat >often.py <<-\EOF &&
		import sys, wire
		client = wire.Client()
		for i in range(100):
		    client.rpc("module.load", {"path": sys.argv[1], "args": []})
		    client.rpc("module.remove", {"name": "test-module-good"})
	EOF
	python3 often.py "$DSO/test-module-good.so" &&
	test "$before" = "$(ls /proc/$(broker_pid b)/task | wc -l) $(ls /proc/$(broker_pid b)/fd | wc -l)"
'
test_expect_success FLUX 'the real flux command loads, lists, reloads and removes' '
	"$WEIR_FLUX" module load "$DSO/test-module-good.so" x=1 &&
	"$WEIR_FLUX" module list | grep "test-module-good.*R" &&
	"$WEIR_FLUX" ping --count=1 test-module-good &&
	"$WEIR_FLUX" module reload "$DSO/test-module-good.so" &&
	"$WEIR_FLUX" module remove test-module-good &&
	test_must_fail "$WEIR_FLUX" module load "$DSO/test-module-missing-symbol.so" 2>err &&
	grep "undefined symbol: flux_no_such_function" err
'
test_expect_success 'failure while running: with broker.module-nopanic the module goes, the broker stays' '
	call attr.set "{\"name\":\"broker.module-nopanic\",\"value\":\"1\"}" &&
	load "$DSO/test-module-fails-later.so" &&
	python3 "$WIRE" rpc --noresponse test-module-fails-later.fail && mkfifo log &&
	{ stream log.dmesg "{\"follow\":true}" >log & } && grep -m 1 "test-module-fails-later module runtime failure" <log &&
	call module.list | jq -e ".mods | map(.name) == [\"kvs\"]"
'
test_expect_success 'failure while running: else the broker ends with exit code 1 and says why' '
	call attr.set "{\"name\":\"broker.module-nopanic\",\"value\":\"0\"}" &&
	load "$DSO/test-module-throws-later.so" &&
	python3 "$WIRE" rpc --noresponse test-module-throws-later.fail &&
	test_expect_code 1 wait $(broker_pid b) &&
	grep "test-module-throws-later module runtime failure: .*out of luck while running" b.err &&
	! test -e b
'
test_done
