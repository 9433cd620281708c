#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the share-tree file: its place, its mistakes, and how a change of it comes into force, in both brokers'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

require_some_broker

# An instance whose configuration is a folder, of which the broker reads every *.toml.
configure() {
	rm -rf site && mkdir -p site/conf.d && cat >site/conf.d/weir.toml <<-EOF
	[job-manager]
	plugins = [{ load = "$PRIORITY_TAP" }]
	[weir]
	update-interval = "1h"
	$1
	[weir.users]
	alice = 5001
	EOF
}

# instance BROKER SCRIPT: its life, and the script's status
instance() {
	{
		declare -f log_has
		echo ". $SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh"
		tell_failure
		test "$1" = weir || echo "flux module load $PRIORITY_SO"
		cat "$2"
		test "$1" = weir || echo "flux module remove job-priority"
	} >instance.sh
	if test "$1" = flux; then
		env -u FLUX_URI flux start --test-size=1 --config-path="$PWD/site/conf.d" bash -e ./instance.sh
		return
	fi
	cat >site/conf.d/broker.toml <<-EOF
	[weir-broker]
	modules = ["kvs", "resource", "job-manager", "job-exec", "sched-weir-fcfs", "job-priority"]
	[[resource.config]]
	hosts = "test"
	cores = "0-1"
	EOF
	rundir=$(mktemp -d) && mkfifo "$rundir/ready" || return 1
	"$WEIR_BROKER" -c "$PWD/site/conf.d" --rundir "$rundir" --ready-fd 9 9>"$rundir/ready" &
	weir_pid=$!
	read -r FLUX_URI <"$rundir/ready" && test -n "$FLUX_URI" && export FLUX_URI && bash -e ./instance.sh
	status=$?
	kill -TERM "$weir_pid"
	wait "$weir_pid" || status=1
	forget_weir
	return $status
}

for broker in $BROKERS; do
	test_expect_success "$broker: the tree is beside the folder that is read as configuration; a mistake in it stops nothing" '
		configure && printf "\"physics\" = 60\n\"chem\" = \"many\"\n" >site/shares.toml &&
		cat >mistake.sh <<-\EOF &&
		log_has "there is no usable share tree"
		flux dmesg | grep "site/shares.toml:2:[0-9]*:.*many"
		rpc job-priority.stats-get | jq -e ".revision == 0 and (.share_tree_problem | test(\"many\"))"
		printf "\"physics\" = 60\n\"physics/@*\" = 1\n" >site/shares.toml
		flux config reload
		log_has "share tree .*site/shares.toml is in force as revision 1"
		rpc job-priority.tree-get | jq -e "[.nodes[].path] | index(\"physics\")"
		EOF
		instance $broker mistake.sh
	'
	test_expect_success "$broker: an edit and a reload of the configuration take the tree over, or refuse it by file, line and value" '
		configure && printf "\"physics\" = 60\n\"physics/@*\" = 1\n" >site/shares.toml &&
		cat >edit.sh <<-\EOF &&
		test "$(stat_of revision)" = 1
		printf "\"physics\" = 40\n\"physics/@*\" = 1\n\"chem\" = 20\n" >site/shares.toml
		flux config reload
		log_has "share tree .*site/shares.toml is in force as revision 2"
		test "$(stat_of revision)" = 2
		printf "\"physics\" = 40\n\"chem\" = -20\n" >site/new.toml
		mv site/new.toml site/shares.toml
		flux config reload
		log_has "site/shares.toml:2:[0-9]*:.*-20"
		log_has "the share tree stays at revision 2"
		test "$(stat_of revision)" = 2
		printf "\"physics\" = 40\n\"physics/@*\" = 1\n\"chem\" = 20\n" >site/shares.toml
		flux config reload
		log_has "has the same text as before; revision 2 stays"
		rpc job-priority.stats-get | jq -e ".share_tree_problem == \"\""
		EOF
		instance $broker edit.sh
	'
	test_expect_success "$broker: edits by command survive a restart, also after the file was brought up to date by hand" '
		configure "state = \"$PWD/site/state.sqlite\"" && printf "\"chem\" = 40\n" >site/shares.toml &&
		cat >before.sh <<-\EOF &&
		edit() { rpc job-priority.tree-set "{\"toml\": \"\\\"chem\\\" = $1\\n\", \"reason\": \"a grant\"}"; }
		edit 41
		printf "\"chem\" = 41\n" >site/shares.toml
		flux config reload
		log_has "has the same text as before; revision 2 stays"
		edit 50
		test "$(stat_of revision)" = 3
		EOF
		cat >after.sh <<-\EOF &&
		rpc job-priority.tree-get | jq -e "[.revision, .toml] == [3, \"\\\"chem\\\" = 50\\n\"]"
		EOF
		instance $broker before.sh && instance $broker after.sh
	'
	test_expect_success "$broker: a file that is removed, or a folder in its place, is told once, and the tree stays" '
		configure && printf "\"physics\" = 60\n\"physics/@*\" = 1\n" >site/shares.toml &&
		cat >gone.sh <<-\EOF &&
		test "$(stat_of revision)" = 1
		cp site/shares.toml kept.toml
		rm site/shares.toml
		flux config reload
		log_has "cannot read the share tree .*site/shares.toml: No such file or directory"
		log_has "the share tree stays at revision 1"
		rpc job-priority.stats-get | jq -e ".revision == 1 and (.share_tree_problem | test(\"No such file\"))"
		sync_priorities && sync_priorities && sync_priorities
		test "$(flux dmesg | grep -c "stays at revision 1")" = 1
		flux config get | jq ".weir.\"update-interval\" = \"2h\"" | flux config load
		rpc job-priority.stats-get | jq -e ".share_tree_problem | test(\"No such file\")"
		mkdir site/shares.toml
		flux config reload
		log_has "cannot read the share tree .*site/shares.toml: Is a directory"
		touch site/shares.toml/inside
		sync_priorities && sync_priorities && sync_priorities
		test "$(flux dmesg | grep -c "Is a directory")" = 1
		rm -r site/shares.toml
		cp kept.toml site/shares.toml
		log_has "has the same text as before; revision 1 stays"
		rpc job-priority.stats-get | jq -e ".share_tree_problem == \"\""
		EOF
		instance $broker gone.sh
	'
	test_expect_success "$broker: a pass notices a save of which the file system tells nothing, once it sees the same twice" '
		configure && mkdir -p site/elsewhere && printf "\"physics\" = 60\n" >site/elsewhere/tree &&
		ln -s elsewhere/tree site/shares.toml &&
		cat >pass.sh <<-\EOF &&
		test "$(stat_of revision)" = 1
		printf "\"physics\" = 61\n" >site/elsewhere/tree
		sync_priorities
		test "$(stat_of revision)" = 1
		sync_priorities
		test "$(stat_of revision)" = 2
		log_has "share tree .*site/shares.toml is in force as revision 2"
		sync_priorities && sync_priorities
		test "$(flux dmesg | grep -c "is in force as revision")" = 2
		EOF
		instance $broker pass.sh
	'
	test_expect_success "$broker: a tree that is named into the read folder works and is warned of; one left there by default is pointed at" '
		configure "share-tree = \"tree.toml\"" && printf "\"physics\" = 60\n" >site/conf.d/tree.toml &&
		cat >named.sh <<-\EOF &&
		test "$(stat_of revision)" = 1
		log_has "reads every .*toml in .*conf.d as configuration: a mistake in .*conf.d/tree.toml"
		EOF
		instance $broker named.sh &&
		configure && printf "\"physics\" = 60\n" >site/conf.d/shares.toml &&
		cat >left.sh <<-\EOF &&
		log_has "conf.d/shares.toml is not read as share tree.*move it to .*site/shares.toml"
		test "$(stat_of revision)" = 0
		EOF
		instance $broker left.sh
	'
done

test_done
