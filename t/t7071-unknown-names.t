#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='names that nothing has: an unknown QoS is refused, unknown queues and paths are warnings'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.qos.high]
priority = 10
[weir.queues.debug]
priority = 5
EOF
cp site.toml good.toml
cat >shares.toml <<EOF
"bio" = 1
"bio/@*" = 1
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI

test_expect_success 'a QoS that the site does not have is refused, with those it has; a known one and none are taken' '
	start_weir --cores 8 --config site.toml --tree shares.toml && weir submit --qos high --wait true && weir submit --wait true &&
	test_expect_code 1 weir submit --qos hihg true 2>err && cat err && grep "there is no QoS .hihg. here; may use: high" err
'
test_expect_success 'so it is in a partition, and where the job came from above nobody asks twice' '
	weir submit -q debug --qos high --wait true && place=$(call job-route.partitions | jq -r ".partitions[] | select(.name == \"debug\") | .instances[0].uri") &&
	test_expect_code 1 weir --uri "$place" submit --qos hihg true 2>err && grep "there is no QoS .hihg." err
'
test_expect_success 'reload says what it does not know, with what is meant' '
	printf "[weir.queues.bacth]\npriority = 7\n[weir.associations]\nboi = { priority = 3 }\n\"bio/@eve\" = { priority = 4 }\n[weir.qos.low]\npriority = 1\n" >>site.toml &&
	weir reload 2>err && cat err && grep "weir.queues.bacth. has no effect: there is no queue bacth; did you mean \"batch\"?" err &&
	grep "weir.associations. \"boi\" has no effect: the share tree has no such line; did you mean \"bio\"?" err && ! grep eve err && ! grep debug err &&
	weir submit --qos low --wait true && cp good.toml site.toml && weir reload 2>err && ! grep "no effect" err &&
	test_expect_code 1 weir submit --qos low true
'
test_expect_success 'a rule of a partition that no job meets is a warning, with what is meant' '
	printf "[[partition]]\nname = \"debug\"\ncores = 2\nscheduler = \"fcfs\"\ntakes = { accounts = [\"bip\", \"bio\"], qos = [\"hgih\", \"high\"] }\n" >rules &&
	cat good.toml rules >site.toml && weir reload 2>err && cat err &&
	grep "\"debug\" takes no job by account \"bip\": there is no such account; did you mean \"bio\"" err &&
	grep "\"debug\" takes no job by QoS \"hgih\": there is no such QoS; did you mean \"high\"" err && ! grep "by account \"bio\"\|by QoS \"high\"" err &&
	cp good.toml site.toml && weir reload
'
test_expect_success 'with enforce = false any QoS is taken' '
	sed "1i [weir]\nenforce = false" good.toml >site.toml && weir reload && weir submit --qos low --wait true
'
test_done
