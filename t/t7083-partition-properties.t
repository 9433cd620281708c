#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a partition has the properties of its nodes, at any depth, and jobs that require them run in it'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[resource]
noverify = true
[[resource.config]]
hosts = "n[0-3]"
cores = "0-3"
[[resource.config]]
hosts = "n[2-3]"
properties = ["fast"]
[[resource.config]]
hosts = "n3"
properties = ["big"]
[[partition]]
name = "slow"
queues = ["batch"]
nodes = 1
cores-per-node = 4
takes = { properties = ["^fast"] }
hosts = "n1"
[[partition]]
name = "fast"
queues = ["batch"]
nodes = 2
cores-per-node = 4
properties = ["fast"]
takes = { properties = ["fast"] }
[[partition.partition]]
name = "bigger"
queues = ["batch"]
nodes = 1
cores-per-node = 4
properties = ["big"]
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
cat >requiring.py <<EOF
import json, os, sys
sys.path.insert(0, os.path.join(os.environ["SHARNESS_TEST_SRCDIR"], "tools"))
import jobctl
spec = jobctl.jobspec(*jobctl.submit_words(["-q", "batch", "-r", "3600", "-t", "7200"]))
spec["attributes"]["system"]["constraints"] = json.loads(sys.argv[1])
print(jobctl.Client(os.environ["FLUX_URI"], os.getuid(), 3).submit(spec))
EOF
export SHARNESS_TEST_SRCDIR
# requiring NAME CONSTRAINT: $NAME is the id of a job of one core with it, which ends when it is cancelled
requiring() {
	id=$(python3 requiring.py "$2") && eval "$1=$id"
}
# R_of ID FILTER: of the job's R
R_of() {
	call job-info.lookup "{\"id\":$1,\"keys\":[\"R\"],\"flags\":0}" | jq -r .R | jq -cS ".execution | $2"
}

test_expect_success 'R of a partition names the properties of its nodes' '
	start_weir --config site.toml --statedir "$(pwd)/state" && are_up slow fast && fast=local://$WEIR_RUNDIR/fast/local-0 &&
	test "$(R_of $(job_of fast) .properties)" = "{\"big\":\"3\",\"fast\":\"2-3\"}" && test "$(R_of $(job_of slow) .properties)" = null &&
	(FLUX_URI=$fast && are_up bigger && test "$(R_of $(job_of bigger) .properties)" = "{\"big\":\"1\",\"fast\":\"1\"}")
'
test_expect_success 'a job that requires a property runs in the partition that takes such jobs, and in the partition in that' '
	requiring a "{\"properties\":[\"fast\"]}" && wait_event $a start && test $(child_of $a) = $(job_of fast) &&
	requiring b "{\"properties\":[\"fast\",\"big\"]}" && wait_event $b start && requiring c "{\"properties\":[\"^fast\"]}" && wait_event $c start &&
	test $(child_of $c) = $(job_of slow)
'
test_expect_success 'R of such a job has the properties of its nodes, with the ranks of this instance' '
	test "$(R_of $a .properties)" = "{\"big\":\"3\",\"fast\":\"3\"}" && test "$(R_of $b "[.nodelist, .properties]")" = "[[\"n3\"],{\"big\":\"3\",\"fast\":\"3\"}]" &&
	test "$(R_of $c "[.nodelist, .properties]")" = "[[\"n1\"],null]"
'
test_expect_success 'a job that requires a rank of this instance runs on that node, whichever its rank is in the partition, and in the one in that' '
	requiring d "{\"ranks\":[\"1\"]}" && wait_event $d start && test "$(R_of $d .nodelist)" = "[\"n1\"]" &&
	requiring e "{\"and\":[{\"properties\":[\"fast\"]},{\"ranks\":[\"0-1\",\"3\"]}]}" && wait_event $e start && test "$(R_of $e .nodelist)" = "[\"n3\"]"
'
test_expect_success 'a rank that no partition has ends the job' '
	requiring f "{\"ranks\":[\"0\"]}" && wait_event $f exception | jq -e ".type == \"alloc\"" && wait_event $f clean
'
test_done
