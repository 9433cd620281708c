#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the parent of a partition with a policy of its own says which one is in force there'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.users]
alice = 5001
bob = 5002
[[partition]]
name = "own"
queues = ["batch"]
cores = 2
[partition.config.weir]
parent-factors = false
share-tree = "$PWD/own.toml"
EOF
cat >own.toml <<EOF
"chem" = 1
"chem/@alice" = 1
"chem/@bob" = 1
EOF
top=local://$WEIR_RUNDIR/local-0
own=local://$WEIR_RUNDIR/own/local-0
# knows_revision: returns when the top knows the policy that the partition says it has
knows_revision() {
	weir --uri "$own" prio weights --json >own.json && revision=$(jq -r ".in_force | \"\(.tree)/\(.settings)\"" own.json) &&
		FLUX_URI=$top wait_until job-priority.weights "{}" ".in_force.children | any(\"\(.tree)/\(.settings)\" == \"$revision\")" >known.json
}

test_expect_success 'it starts' '
	start_weir --cores 2 --config site.toml
'
# The size of the machine, which is part of the settings, is known after the parent's answer.
test_expect_success 'after the start, by the name of the partition' '
	knows_revision && weir --uri "$top" prio weights >out && cat out &&
	grep "^partition own has a policy of its own: $revision\$" out && weir --uri "$top" tree >out && cat out && grep "$revision own" out
'
# Mutant: a partition tells its policy only when one comes from the parent.
test_expect_success 'after a change of its share tree' '
	weir --uri "$own" share set chem/@alice 3 && before=$revision && knows_revision && test "$revision" != "$before" &&
	weir --uri "$top" prio weights | grep "^partition own has a policy of its own: $revision\$"
'
test_expect_success 'it ends' '
	stop_weir && test -z "$(leftovers)"
'
test_done
