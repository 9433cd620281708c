#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='instances of guests: they take no name of a partition, nobody else opens their URIs, and no text of theirs reaches a terminal raw'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
use_guest

cat >site.toml <<EOF
[access]
allow-guest-user = true
[queues.own]
[weir.users]
alice = 5001
[[partition]]
name = "batch"
cores = 1
[[partition]]
name = "spare"
cores = 1
start = "on-demand"
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
ESC=$(printf '\033')
# What child() runs: it stays until the pipe `ends` has no writer.
cat >child.py <<EOF
import json, sys
sys.path.insert(0, "$(dirname "$WIRE")")
import wire
userid, job, says = int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3])
client = wire.Client(userid=userid, rolemask=2)
attached = client.start("job-route.attach", {"jobid": job, "session": "s", "known": [], "cores": 1, **says}, flags=wire.STREAMING)
print(client.answer(attached), flush=True)
sys.stdin.read()
EOF
# child USERID JOB JSON: attaches a running job as an instance that says this
child() {
	python3 child.py "$@" <ends >attached 3>&- 4>&- 5>&- 8>&- 9>&- &
	read -r line <attached && echo "$line"
}
# instance_of USER: the id of a job of his that runs in the parent itself
instance_of() {
	weir submit --json -q own --user "$1" --simulate=1h x | jq .id >job && wait_event $(cat job) start >/dev/null && cat job
}
# not_raw COMMAND...: it prints no escape sequence
not_raw() {
	"$@" >raw 2>&1 || { cat -v raw; return 1; }
	! grep "$ESC" raw || { cat -v raw; return 1; }
}

test_expect_success 'two instances of a guest say that they serve the queues of the partitions, and give the URI of the parent' '
	mkfifo ends attached && exec 9<>ends && start_weir --cores 8 --config site.toml && partition batch "select(.state == \"up\")" &&
	first=$(instance_of alice) && second=$(instance_of alice) &&
	child 5001 $first "{\"serves\":[\"spare\"],\"uri\":\"$FLUX_URI\"}" &&
	child 5001 $second "{\"serves\":[\"batch\"],\"uri\":\"$FLUX_URI\"}" &&
	call job-route.tree | jq -e "[.children[] | select(.userid == 5001)] | length == 2"
'
test_expect_success 'weir tree names them by their jobs, asks neither, and has the row of each partition' '
	timeout 20 weir tree --json >tree && jq -e ".children | length == 4" tree &&
	jq -e ".children[:2] | .[0].serves == [\"batch\"] and .[0].problem == null and (.[1].problem | startswith(\"off\"))" tree &&
	jq -e "[.children[2:][] | .children == [] and .problem == \"an instance of alice; it is not asked\"] | all" tree &&
	weir tree >text && grep "├─ batch  *easy" text && grep "├─ spare .*off; it starts" text && grep "└─ ƒ.*an instance of alice" text
'
test_expect_success 'weir metrics tells of the partitions alone, as they are' '
	timeout 20 weir metrics >metrics && grep "^weir_partition_up" metrics >up &&
	printf "weir_partition_up{partition=\"%s\"} %s\n" batch 1 spare 0 >expected && test_cmp expected up
'
test_expect_success 'weir top, weir reload and weir log go into the partitions alone' '
	weir top --json >top && jq -e "[.partitions[] | [.name, .problem == \"\"]] == [[\"batch\", true], [\"spare\", false]]" top &&
	weir reload >out 2>err && grep "^Reloaded by top and batch" out && test_must_be_empty err &&
	weir log --json >log && jq -e "[.lines[].instance] | unique == [\"batch\", \"top\"]" log
'
test_expect_success 'the report draws each under its name' '
	timeout 20 weir share report -o report.html && grep -o "data-instance=\"[^\"]*\"" report.html >boxes && cat boxes &&
	test $(wc -l <boxes) = 5 && test $(grep -c "batch\|spare" boxes) = 2
'
test_expect_success GUEST 'a guest opens his own instance, but none that is above it' '
	third=$(instance_of nobody) && child 65534 $third "{\"serves\":[\"own\"],\"uri\":\"$FLUX_URI\"}" &&
	as_guest env "FLUX_URI=$FLUX_URI" "LC_ALL=$LC_ALL" weir tree --json >his &&
	jq -e ".children[] | select(.jobid == $third) | .problem | startswith(\"its URI is that of\")" his &&
	jq -e ".children[] | select(.jobid == $first) | .problem == \"an instance of alice; it is not asked\"" his
'
test_expect_success 'what a guest chose reaches no terminal raw' '
	evil=$(instance_of alice) && child 5001 $evil "{\"serves\":[\"x\\u001b[31m\"],\"uri\":\"local:///none\\u001b[32m\"}" &&
	held=$(weir submit --json -q own -n 5 --user alice --qos "hi${ESC}[2Jgh" --simulate=1h "name${ESC}[2J" | jq .id) &&
	wait_until job-priority.list "{}" "select([.jobs[].id] | index($held) != null)" >/dev/null &&
	not_raw weir tree && not_raw weir jobs && not_raw weir prio list && not_raw weir prio list --long && grep "hi?\[2Jgh" raw &&
	not_raw weir prio explain $held && not_raw weir why $held && not_raw weir usage &&
	not_raw test_must_fail weir submit --account "x${ESC}[2J" --simulate=1h x && grep "x?\[2J" raw
'
test_expect_success 'his instances are his jobs: they are canceled as such, and no partition is' '
	weir cancel --json --all --user alice >out && jq -e ".left_out == [] and .count == 4" out && wait_event $second clean && partition batch "select(.state == \"up\")"
'
test_expect_success GUEST 'weir tree, weir top and the report show a guest what weir partition list does of the partitions, and say what is kept from him, in private mode too' '
	runs=$(weir submit --json -q batch --user alice --simulate=1h x | jq .id) && wait_event $runs start &&
	weir submit -q batch --user alice --simulate=1h x && partition batch "select(.instances[0].pending == 1)" &&
	mkdir -m 777 his.d && as_guest env "FLUX_URI=$FLUX_URI" weir share report -o his.d/report.html &&
	grep "data-instance=\"batch\" data-cores=\"1\" data-busy=\"\" data-waiting=\"1\" data-running=\"1\"" his.d/report.html &&
	for mode in "" "private-mode = true"; do
		sed "s/^allow-guest.*/&\n$mode/" site.toml >now.toml && cp now.toml site.toml && weir reload || return 1
		as_guest env "FLUX_URI=$FLUX_URI" "LC_ALL=$LC_ALL" weir tree >his 2>err && cat his err &&
		grep "─ batch  *easy  *?/1  *1  *1  *? .*only its owner may look into it" his && grep "kept from you" err && ! grep refuses his &&
		as_guest env "FLUX_URI=$FLUX_URI" weir tree --json >his 2>err &&
		jq -e ".children[0] | .cores == 1 and .jobs.pending == 1 and .jobs.running == 1 and .modules == [\"sched-weir-easy\"]" his &&
		as_guest env "FLUX_URI=$FLUX_URI" "LC_ALL=$LC_ALL" weir top --once >his && cat his &&
		grep "^batch  *easy  *?/1 cores  1 running, 1 waiting; only its owner may look into it" his && ! grep refuses his &&
		as_guest env "FLUX_URI=$FLUX_URI" weir top --json >his &&
		jq -e ".partitions[0] | .cores == 1 and .pending == 1 and .running == 1 and .scheduler == \"easy\" and (.problem | test(\"owner\"))" his || return 1
	done
'
test_expect_success GUEST 'weir metrics tells a guest what it knows of a partition, and has no sample of the cores that its jobs have' '
	as_guest env "FLUX_URI=$FLUX_URI" weir metrics >metrics && grep "^weir_partition.*batch" metrics >his && cat his &&
	printf "weir_partition_%s\n" "up{partition=\"batch\"} 1" "jobs{partition=\"batch\",state=\"pending\"} 1" \
		"jobs{partition=\"batch\",state=\"running\"} 1" "cores{partition=\"batch\",state=\"all\"} 1" >expected && test_cmp expected his
'
test_expect_success GUEST 'a guest may not end the instance' '
	test_expect_code 4 as_guest env "FLUX_URI=$FLUX_URI" weir shutdown 2>err && cat err && grep "only the owner of the instance" err && weir tree
'
test_expect_success 'all ends' '
	exec 9>&- && stop_weir
'
test_done
