#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a partition with a policy of its own: what it refuses goes to another partition, and its partitions follow it'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir]
share-tree = "$(pwd)/shares.toml"
[weir.users]
alice = 5001
bob = 5002
[[partition]]
name = "own"
queues = ["batch", "alone"]
cores = 2
[partition.config.weir]
parent-factors = false
share-tree = "$(pwd)/own.toml"
[[partition.partition]]
name = "below"
queues = ["batch", "alone"]
cores = 2
[[partition]]
name = "all"
queues = ["batch"]
cores = 1
EOF
printf '"%s" = 1\n' physics physics/@alice bio bio/@bob >shares.toml
printf '"%s" = 1\n' physics physics/@alice >own.toml
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
in_own() (
	FLUX_URI=local://$WEIR_RUNDIR/own/local-0 && export FLUX_URI && "$@"
)
# tree_below FILTER: of the share tree in force in below
tree_below() (
	FLUX_URI=local://$WEIR_RUNDIR/own/below/local-0 && export FLUX_URI && wait_until job-priority.tree-get "{}" "$1" >/dev/null
)

test_expect_success 'a job whose account one partition does not have runs in the other' '
	start_weir --cores 4 --config site.toml && are_up own all && in_own are_up below &&
	gated theirs -q batch --user alice && wait_event $theirs start && test $(child_of $theirs) = $(job_of own) && end theirs &&
	gated other -q batch --user bob && wait_event $other start && test $(child_of $other) = $(job_of all) &&
	call job-route.locate "{\"id\":$other}" | tee located | jq -e ".partitions[0].away | contains(\"there is no account\")" && end other
'
test_expect_success 'it waits while the other is drained, and weir why has the reason' '
	weir partition drain all && gated waits -q batch --user bob && wait_until job-route.locate "{\"id\":$waits}" ".child == 0 and (.partitions[0].away | strings | contains(\"bio\"))" &&
	weir why $waits | tee why && grep "own cannot run it: .*no account .bio. in the share tree for user id 5002; may use: " why && grep "all is drained" why &&
	weir partition resume all && end waits
'
test_expect_success 'where no other partition takes it, it ends, and the reason names the partition' '
	alone=$(weir submit --json -q alone --user bob true | jq .id) && wait_event $alone exception | tee exception &&
	jq -e ".type == \"route\" and .severity == 0" exception && jq -r .note exception | grep "^in the partition own: .*no account .bio. in the share tree for user id 5002" &&
	wait_event $alone clean
'
test_expect_success 'a partition of that partition follows it: its policy, and each new share tree' '
	weir tree | tee tree && grep "own  *easy .* own " tree && test_must_fail grep "below .* own " tree &&
	printf "\"%s\" = 1\n" physics physics/@alice bio bio/@bob >more.toml && in_own weir share apply more.toml && tree_below ".toml | contains(\"bio\")" &&
	gated last -q alone --user bob && wait_event $last start && end last
'
test_done
