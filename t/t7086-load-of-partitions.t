#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='what a policy counts as running is what runs in partitions, whose cores are not in use while they are idle'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >load.toml <<EOF
[weir]
update-interval = "200ms"
policy = "load-threshold"
[weir.users]
alice = 5001
bob = 5002
[weir.queues.batch]
priority = 1
[[partition]]
name = "batch"
cores = 4
[[partition]]
name = "debug"
cores = 4
EOF
sed 's/^policy = .*/policy = "moab"/; /^\[\[partition/,$d' load.toml >moab.toml && cat >>moab.toml <<EOF
[weir.moab.resource]
user-jobs = 10
user-processors = 1
EOF
sed -n '/^\[\[partition/,$p' load.toml >>moab.toml
cat >shares.toml <<EOF
"bio" = 1
"bio/@alice" = 1
"bio/@bob" = { shares = 1, running_jobs_max = 0 }
EOF

# explained ID FILTER: the policy says so of a job that waits
explained() {
	wait_until job-priority.explain "{\"id\":$1}" "$2" >/dev/null || { weir prio explain $1; return 1; }
}
in_use() {
	echo ".words | any(contains(\"$1 of 9 cores are in use\"))"
}
# raw NAME NUMBER: the job's term has that number
raw() {
	echo "any(.terms[]; .name == \"resource.$1\" and .raw == $2)"
}

test_expect_success 'load-threshold: the cores of idle partitions are not in use' '
	cp load.toml site.toml && start_weir --cores 9 --config site.toml --tree shares.toml &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI && are_up batch debug &&
	bobs=$(weir submit --json --user bob -q batch -n1 true | jq .id) && explained $bobs "$(in_use 0)"
'
test_expect_success 'load-threshold: those are whose jobs run there, until they end' '
	gated one --user alice -q batch -c2 && gated two --user alice -q debug -c4 && wait_event $one start && wait_event $two start &&
	explained $bobs "$(in_use 6)" && end one && explained $bobs "$(in_use 4)"
'
test_expect_success 'Moab, chosen while they run: a user has the jobs and cores that run in partitions, and nobody has a partition' '
	gated three --user alice -q batch -c3 && wait_event $three start && gated four --user alice -q debug -c1 &&
	cp moab.toml site.toml && weir reload && explained $four "$(raw user-jobs 2) and $(raw user-processors 7)" &&
	explained $bobs "$(raw user-jobs 0)" && end three && explained $four "$(raw user-jobs 1) and $(raw user-processors 4)"
'
test_expect_success 'a job-priority that is loaded again finds what runs in partitions, and no partition' '
	path=$(call module.list | jq -r ".mods[] | select(.name == \"job-priority\").path") && call module.remove "{\"name\":\"job-priority\"}" &&
	call module.load "{\"path\":\"$path\",\"args\":[]}" && explained $four "$(raw user-jobs 1) and $(raw user-processors 4)" &&
	cp load.toml site.toml && weir reload && explained $bobs "$(in_use 4)" && end two && end four && explained $bobs "$(in_use 0)" && stop_weir
'
test_done
