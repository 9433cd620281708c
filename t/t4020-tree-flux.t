#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir tree in a stock Flux, whose instances publish ssh:// URIs: children here, elsewhere, and lost ones'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

LIB=$WEIR_BUILD_DIR/lib/flux
WEIR=$WEIR_BUILD_DIR/bin/weir
LC_ALL=C
export LC_ALL
test "$(nproc)" -ge 2 || { skip_all='two children want two cores'; test_done; }
test -x "$WEIR" || { skip_all="weir is not built in $WEIR_BUILD_DIR"; test_done; }
unset FLUX_URI_RESOLVE_LOCAL
run_under_flux "$SHARNESS_TEST_SRCDIR/priority-conf/weir.toml"

cat >config.toml <<EOF
[queues.here]
[queues.elsewhere]
[queues.own]
[weir.route]
queues = ["here", "elsewhere"]
EOF
cat >child.sh <<EOF
test "\$1" != elsewhere || FLUX_URI=\$(flux getattr parent-uri) flux job memo "\$(flux getattr jobid)" uri=ssh://node7.site/run/flux/local-0
flux jobtap load $LIB/job-manager/plugins/job-route-tap.so
flux module load $LIB/modules/job-route.so
flux getattr broker.pid >\$1.pid
read line <\$1.end
flux module remove job-route
EOF
# child QUEUE: an instance on one core that serves QUEUE, whose job outlives its broker; returns when it is attached
child() {
	mkfifo "$1.end" "$1.over" &&
		flux submit --queue=own -n1 --setattr=system.weir.serves="[\"$1\"]" --output="$1.log" \
			sh -c "flux start bash ./child.sh $1; read line <$1.over" >"$1.id" &&
		python3 "$WIRE" until job-route.tree '{}' ".children[] | select(.serves == [\"$1\"] and .state == \"attached\")" >/dev/null
}

test_expect_success 'two children attach; their URIs are ssh://, one on a host elsewhere' '
	flux config load config.toml && flux queue start --all --quiet &&
	flux jobtap load "$LIB/job-manager/plugins/job-route-tap.so" && flux module load "$LIB/modules/job-route.so" && child here && child elsewhere &&
	rpc job-route.tree | jq -r ".children[].uri" | sort >uris && cat uris && test "$(grep -c "^ssh://$(hostname)/" uris)" = 1 &&
	grep "^ssh://node7.site/run/flux/local-0$" uris
'
test_expect_success 'the child on this host answers as a local one' '
	"$WEIR" tree >tree && cat tree && grep -e "- here  *simple  *0/1 .*local:///" tree &&
	"$WEIR" tree --json | jq -e ".children[] | select(.serves == [\"here\"]) | .cores == 1 and .problem == null"
'
test_expect_success 'of the other it says where it is, and how to look' '
	grep "elsewhere .*it is on the host node7.site; look from there, or with: flux proxy ssh://node7.site/run/flux/local-0 weir tree" tree
'
test_expect_success 'a broker that was killed is lost, since when its parent lost it' '
	kill -9 "$(cat here.pid)" &&
	python3 "$WIRE" until job-route.tree "{}" ".children[] | select(.serves == [\"here\"] and .state == \"lost\")" >/dev/null &&
	"$WEIR" tree >tree && cat tree && grep -e "- here .*lost since 20..-..-.. ..:..:.." tree &&
	"$WEIR" tree --json | jq -e "now - (.children[] | select(.serves == [\"here\"]) | .lost_since) | . >= 0 and . < 600"
'
test_expect_success 'when its job is over it is gone' '
	echo 1<>here.end && echo 1<>here.over && flux job wait-event -q -t 60 "$(cat here.id)" clean && "$WEIR" tree >tree && cat tree && ! grep -w here tree
'
test_expect_success 'everything unloads' '
	echo >elsewhere.end && echo >elsewhere.over && flux job wait-event -q -t 60 "$(cat elsewhere.id)" clean && flux module remove job-route
'
test_done
