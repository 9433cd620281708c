#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir reload in a stock Flux: what is refused, what changed, and the warnings'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux partitions.md

test_expect_success 'a copy of the prefix with Weir and a partition' '
	copy_prefix && cat >copy/etc/flux/system/conf.d/weir.toml <<-\EOF
	[weir.route]
	[queues.batch]
	[queues.instances]
	[[partition]]
	name = "batch"
	cores = 1
	scheduler = "easy"
	EOF
'
cat >scheduler.sh <<\EOF
flux queue start --all --quiet
flux submit --queue=batch --wait true
there() { flux weir partition list --json | jq -c '[.partitions[] | {name, scheduler, ids: [.instances[].id]}]'; }
before=$(there)
sed -i 's/"easy"/"easyy"/' "$FOLDER/conf.d/weir.toml"
flux weir reload 2>refused && echo accepted
cat refused
flux weir partition add z --queue batch --cores 1 --scheduler foo 2>refused && echo accepted
cat refused
test "$(there)" = "$before" && echo all as before
sed -i 's/"easyy"/"sched-simple"/' "$FOLDER/conf.d/weir.toml"
flux weir reload
flux submit --queue=batch --wait true
flux weir partition list
EOF
test_expect_success 'a scheduler that does not exist is refused, and nothing changes; one of Flux is taken' '
	inside scheduler.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	test_must_fail grep "^accepted" out && grep "scheduler = \"easyy\": there is no such module" out &&
	grep "scheduler = \"foo\": there is no such module" out && grep "^all as before" out && grep "^batch .*sched-simple" out
'
cat >changes.sh <<\EOF
flux queue start --all --quiet
flux submit --queue=batch --wait true
cat >>"$FOLDER/conf.d/weir.toml" <<\EOT
takes = { duration-max = "1h" }
[weir]
half-life = "17d"
[weir.queues.nope]
priority = 1
[queues.debug]
EOT
flux weir reload
flux weir reload
sed -i s/17d/18d/ "$FOLDER/conf.d/weir.toml"
flux weir reload --json
EOF
test_expect_success 'what changed is shown, and what the modules warn of' '
	inside changes.sh >out 2>&1; code=$?; cat out && test $code = 0 &&
	grep "^\[weir\] half-life: (default) -> \"17d\"" out && grep "^\[queues\] debug: (default) -> {}" out &&
	grep "^\[partition\]: .*1h" out && grep "^Reloaded by top and batch\.$" out && grep "^warning: .*weir.queues.nope" out &&
	grep "^Reloaded by top and batch; no key changed\.$" out &&
	sed -n "/^{/,/^}/p" out | jq -e ".changes == [\"[weir] half-life: \\\"17d\\\" -> \\\"18d\\\"\"] and (.warnings | any(contains(\"weir.queues.nope\")))"
'
test_done
