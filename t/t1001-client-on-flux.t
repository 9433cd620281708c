#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the Flux API library as a client of a stock Flux: wire compatibility

Everything that weir says to a broker goes through this library. Skipped where there is no flux (PATH or WEIR_FLUX).'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

FLUX=${WEIR_FLUX:-$(command -v flux || test ! -x /opt/flux/bin/flux || echo /opt/flux/bin/flux)}
CLIENT=${WEIR_BUILD_DIR:-$SHARNESS_TEST_DIRECTORY/../build/dev}/t/system/flux_client
if test -z "$FLUX"; then
	skip_all='no flux command here (set WEIR_FLUX): the library was not tried with a stock Flux'
	test_done
fi
test -x "$CLIENT" || { skip_all="$CLIENT is not built"; test_done; }
# One instance for the whole script: run it again inside.
if test -z "$WEIR_T1001_INSIDE"; then
	export WEIR_T1001_INSIDE=1
	export PATH="$(dirname "$FLUX"):$PATH"
	cd "$SHARNESS_TEST_DIRECTORY" &&
	exec env -u FLUX_URI "$FLUX" start --test-size=1 \
		sh "$SHARNESS_TEST_DIRECTORY/$(basename "$SHARNESS_TEST_FILE")" "$@"
fi

test_expect_success 'attributes: rank, size, and one that is missing' '
	"$CLIENT" attributes >out && cat out &&
	grep "^rank 0 size 1$" out && grep "^missing none errno 2$" out
'
test_expect_success 'ping: the payload comes back with credentials and route' '
	"$CLIENT" get broker.ping "{\"seq\":7,\"time.tv_sec\":1,\"time.tv_nsec\":2,\"pad\":\"p\"}" >out && cat out &&
	grep "\"seq\": *7" out && grep "\"userid\": *$(id -u)" out && grep "\"rolemask\": *5" out && grep "\"route\"" out
'
test_expect_success 'the errors are those of the broker' '
	test_must_fail "$CLIENT" get no-such-service.x >out && cat out &&
	grep "No service matching no-such-service.x is registered (errno 38)" out &&
	test_must_fail "$CLIENT" get attr.nosuch >out && cat out &&
	grep "Unknown service method .attr.nosuch. (errno 38)" out &&
	test_must_fail env FLUX_HANDLE_USERID=65534 FLUX_HANDLE_ROLEMASK=0x2 "$CLIENT" get job-manager.jobtap "{}" >out &&
	cat out && grep "Request requires owner credentials (errno 1)" out
'
test_expect_success 'five thousand requests at once are answered in order' '
	"$CLIENT" flood >out && cat out && grep "^answered 5000 of 5000 in order 1 run 0$" out
'
test_expect_success 'events: published, filtered, received' '
	"$CLIENT" events >out && cat out && echo "event weir-test.yes 42" >expected && test_cmp expected out
'
test_expect_success 'the journal is a stream that can be cancelled' '
	id=$(flux submit -n1 true) && "$CLIENT" journal "$id" >out && cat out &&
	for name in submit depend alloc finish clean; do grep "^$name$" out || return 1; done &&
	grep "^journal ends: No data available$" out
'
test_expect_success 'a service of ours answers the flux command' '
	mkfifo ready && { "$CLIENT" serve weir-hello >ready & } && pid=$! &&
	{ read line <&3 && test "$line" = serving &&
	  flux python -c "import flux; print(flux.Flux().rpc(\"weir-hello.hello\", {}).get())" >out &&
	  cat <&3 >>out; } 3<ready && wait $pid && cat out &&
	grep "pong" out && grep "userid $(id -u) rolemask 0x5" out
'
test_expect_success 'a log line arrives with its severity' '
	"$CLIENT" log "a word from weir" && flux dmesg >out && grep "flux_client.warn.*a word from weir" out
'
test_expect_success 'without a broker the message says so' '
	test_expect_code 3 env -u FLUX_URI "$CLIENT" attributes >out && grep "FLUX_URI is not set" out &&
	test_expect_code 3 env FLUX_URI=local:///nonexistent/s FLUX_LOCAL_CONNECTOR_RETRY_COUNT=0 "$CLIENT" attributes >out &&
	grep "broker socket /nonexistent/s was not found" out
'
test_done
