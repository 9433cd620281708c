#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='projects of the share tree: a job names one of its association, or gets the default, in every instance'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<'EOF'
"physics" = { shares = 60, projects = ["qcd", "qed"] }
"physics/lattice" = 1
"physics/lattice/@alice" = 1
"physics/lattice/@*" = { shares = 1, default_project = "qed" }
"bio" = 40
"bio/@bob" = 1
"bio/@*" = 1
EOF
cat >site.toml <<'EOF'
[weir.users]
alice = 5001
bob = 5002
[[partition]]
name = "batch"
cores = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# by USER [OPTION...]: a simulated job of that user
by() {
	user=$1 && shift && weir submit --user "$user" --simulate=0.1s "$@" x
}
# The plugin has the tree in force: of the parent, of the partition.
told() {
	call job-priority.sync "{}" >/dev/null
}
told_batch() {
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 told
}
# reported [PLACE]: what the users' jobs are booked under
reported() {
	weir --uri "$1" usage report --by=user,project --json |
		jq -c '[.rows[] | select(.user == "alice" or .user == "bob") | [.user, .project]] | sort'
}
# Until the parent has a row of that user and project.
is_booked() {
	wait_until job-priority.usage-report '{"edges":[0,4000000000],"by":["user","project"]}' \
		"any(.rows[]; .user == \"$1\" and .project == \"$2\")" >/dev/null
}

test_expect_success 'a job without a project gets the default of its association; with one of its own it has that' '
	start_weir --cores 2 --tree shares.toml --config site.toml && told &&
	by alice --wait && by alice --wait --setattr=project=qed && by bob --wait --setattr=project=any && by bob --wait &&
	is_booked alice qcd && is_booked alice qed && is_booked bob any && is_booked bob ""
'
test_expect_success 'the usage report tells them apart, at the parent and in the partition' '
	echo "[[\"alice\",\"qcd\"],[\"alice\",\"qed\"],[\"bob\",\"\"],[\"bob\",\"any\"]]" >want &&
	for place in run run/batch; do reported $place >got && test_cmp want got || return 1; done
'
test_expect_success 'a project that the association does not have is refused with those that it has, also by the partition' '
	told_batch && for place in run run/batch; do
		test_must_fail weir --uri $place submit --user alice --setattr=project=hep x 2>err && cat err &&
		grep "user alice has no project .hep. in account .physics/lattice.; may use: qcd, qed" err || return 1
	done
'
test_expect_success 'a list nearer to the user takes the place of one above, in every instance' '
	weir share set physics/lattice/@alice "projects=hep,*" "default_project=*" && told &&
	by alice --wait --setattr=project=hep && by alice --wait && is_booked alice hep && is_booked alice "" &&
	test_must_fail by alice --setattr=project=qcd 2>err && cat err && grep "may use: \*, hep" err &&
	FLUX_URI=local://$WEIR_RUNDIR/batch/local-0 wait_until job-priority.share-explain "{\"path\":\"alice\"}" ".projects == [\"*\",\"hep\"]" &&
	told_batch && test_must_fail weir --uri run/batch submit --user alice --setattr=project=qcd x
'
# update JOB BANK PROJECT
update() {
	call job-manager.update "{\"id\":$1,\"updates\":{\"attributes.system.bank\":\"$2\",\"attributes.system.project\":\"$3\"}}"
}
test_expect_success 'a waiting job moves to another account and project if its user may use them, and is charged there' '
	weir share add physics/beam 1 && weir share add physics/beam/@alice 1 projects=xray && told &&
	by alice --json --nice=16 --setattr=project=hep >held && id=$(jq .id held) && wait_event $id priority &&
	test_must_fail update $id beam hep >err && cat err && grep "no project .hep. in account .*beam.; may use: xray" err &&
	test_must_fail update $id nosuch xray >err && cat err && grep "there is no account .nosuch. in the share tree" err &&
	test_must_fail update $id beam "" >err && cat err && grep "project must be a name" err &&
	test_must_fail call job-manager.update "{\"id\":$id,\"updates\":{\"attributes.system.bank\":5}}" >err && grep "bank must be a name" err &&
	update $id beam xray && call job-manager.urgency "{\"id\":$id,\"urgency\":16}" && wait_event $id clean && is_booked alice xray &&
	weir share remove --yes physics/beam/@alice && weir share remove physics/beam
'
test_expect_success 'a job that runs stays with its account and project' '
	by alice --json --setattr=project=hep --simulate=1h >runs && id=$(jq .id runs) && wait_event $id start &&
	test_must_fail update $id physics/beam xray >err && cat err && grep "the job runs: its usage is charged to account" err &&
	weir cancel $id && wait_event $id clean
'
test_expect_success 'explain, export and apply have it' '
	weir share explain alice >out && cat out && grep "^Projects: \* (default), hep$" out && weir share explain bio >out && ! grep Projects out &&
	weir share export >out && cat out && grep "^\"physics/lattice/@alice\" = .*hep,\*.*default_project = \"\*\"" out &&
	sed "s/^\"physics.lattice.@alice\" = .*/\"physics\/lattice\/@alice\" = { shares = 1, projects = \"qed\" }/" out >next &&
	weir share apply --yes next && weir share explain alice | grep "^Projects: qed (default)$"
'
test_expect_success 'a default that is no project of the line is refused, and nothing changes' '
	test_must_fail weir share set physics/lattice/@alice default_project=qcd 2>err && cat err &&
	grep "none of its projects: .qcd." err && grep "Nothing was changed" err
'
test_expect_success 'jobs that are refused do not count against the limit of active jobs' '
	weir share set physics/lattice/@alice active_jobs_max=2 && told &&
	for n in 1 2 3; do test_must_fail by alice --setattr=project=none 2>err || return 1; done && cat err &&
	by alice --wait --setattr=project=qed && weir share set physics/lattice/@alice active_jobs_max= && told
'
test_expect_success 'flux-accounting gets it for each user, and gives it back' '
	weir export flux-accounting tables 2>err && cat err && grep "flux account add-project. alone: qed" err &&
	grep "alice,.*,qed,qed$" tables/association_table.csv && weir import flux-accounting tables >back.toml && cat back.toml &&
	grep "^\"physics/lattice/@alice\" = .*projects = \[\"qed\"\]" back.toml
'
test_expect_success 'where no line has projects, any is taken' '
	sed "s/{.*//; /=$/d; s/= $/= 1/" shares.toml >plain && weir share apply --yes plain && told && by alice --wait --setattr=project=new &&
	is_booked alice new
'
stop_weir >/dev/null

cat >script.sh <<'EOF'
# a job without a project gets the default
flux submit -n1 --setattr=system.bank=physics/lattice --setattr=system.exec.test.run_duration=0.1s true >id
flux job wait-event -q -t 60 "$(cat id)" clean
flux job eventlog "$(cat id)" | grep 'jobspec-update.*attributes.system.project="qed"'
# a project that the association has is taken, another is refused with a sentence
flux submit -n1 --setattr=system.bank=lattice --setattr=system.project=qcd --setattr=system.exec.test.run_duration=0.1s true >id
flux job wait-event -q -t 60 "$(cat id)" clean
! flux submit -n1 --setattr=system.bank=lattice --setattr=system.project=hep true 2>refused
grep "has no project .hep. in account .lattice.; may use: qcd, qed" refused
# a job that waits may be moved, by the same rules
flux submit -n1 --urgency=0 --setattr=system.bank=lattice --setattr=system.project=qcd --setattr=system.exec.test.run_duration=0.1s true >id
! flux update "$(cat id)" project=hep 2>refused
grep "has no project .hep. in account .lattice.; may use: qcd, qed" refused
! flux update "$(cat id)" bank=nosuch 2>refused
grep "there is no account .nosuch." refused
flux update "$(cat id)" bank=bio project=moved
flux job urgency "$(cat id)" 16
flux job wait-event -q -t 60 "$(cat id)" clean
# a job that runs may not, and is told what its usage is charged to
flux submit -n1 --setattr=system.bank=bio --setattr=system.project=any --setattr=system.exec.test.run_duration=1h true >id
flux job wait-event -q -t 60 "$(cat id)" start
! flux update "$(cat id)" bank=lattice project=qed 2>refused
grep "the job runs: its usage is charged to account .bio.; only a pending job changes its bank" refused
! flux update "$(cat id)" project=qed 2>refused
grep "the job runs: its usage is reported under project .any.; only a pending job changes its project" refused
test "$(flux jobs -n -o "{bank}" "$(cat id)")" = bio
flux cancel "$(cat id)"
flux job wait-event -q -t 60 "$(cat id)" clean
# an account without a list takes any project
flux submit -n1 --setattr=system.bank=bio --setattr=system.project=any --setattr=system.exec.test.run_duration=0.1s true >id
flux job wait-event -q -t 60 "$(cat id)" clean
# the usage report tells the projects apart
sync_priorities
"$WEIR_BUILD_DIR/bin/weir" usage report --by=project --json >report
test "$(jq -c '[.rows[].project] | sort' report)" = '["any","moved","qcd","qed"]'
EOF
steps_of script.sh >steps.sh
if FLUX=$(find_flux); then
	PATH=$(dirname "$FLUX"):$PATH
	SHARES=shares.toml && export PATH
	each_step 'stock Flux' in_instance flux "$PWD/state" steps.sh
else
	test_expect_success STOCK_FLUX 'stock Flux: the same' true
fi
test_done
