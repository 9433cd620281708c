#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a stock Flux and modules that throw: no exception reaches its C code, and its end unwinds them'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

FLUX=$(find_flux) || {
	skip_all='no stock Flux here that can load this build: put flux into PATH or set WEIR_FLUX'
	test_done
}
PATH=$(dirname "$FLUX"):$PATH
GUARDED=$WEIR_BUILD_DIR/t/dso/test-module-guarded.so
export PATH

cat >guarded.sh <<EOF
SHARNESS_TEST_SRCDIR=$SHARNESS_TEST_SRCDIR
. "$SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh"
flux module load "$GUARDED" throw 2>start.err && exit 1
flux module load "$GUARDED"
rpc test-module-guarded.about >about.first
rpc test-module-guarded.error >error.out && exit 1
rpc test-module-guarded.number >number.out && exit 1
rpc test-module-guarded.later
rpc test-module-guarded.about >about.last
flux module remove test-module-guarded
flux dmesg >dmesg.out
EOF
test_expect_success 'requests, timers and continuations throw: the instance lives and ends well' '
	flux start --test-size=1 bash -e guarded.sh && grep true about.first && grep true about.last
'
test_expect_success 'what a request threw is its error response' '
	cat error.out number.out &&
	grep "error 22: out of luck in a request" error.out && grep "error 22: an exception of unknown type" number.out
'
test_expect_success 'what nobody waits for is one line of the log' '
	cat dmesg.out && test $(grep -c "out of luck in a timer" dmesg.out) = 1 &&
	test $(grep -c "out of luck in a continuation" dmesg.out) = 1 &&
	grep "test-module-guarded: out of luck at the start" dmesg.out
'
# A broker that ends with modules loaded cancels their threads; glibc unwinds a cancelled thread with an exception.
test_expect_success 'an instance that ends with our modules loaded is not aborted by them' '
	mkdir -p conf && cp "$SHARNESS_TEST_SRCDIR"/priority-conf/*.toml conf/ &&
	for module in "$GUARDED" "$PRIORITY_SO"; do
		code=0
		flux start --test-size=1 "--config-path=$PWD/conf/weir.toml" flux module load "$module" 2>ends.err || code=$?
		cat ends.err && echo "$module: $code" && test $code -lt 128 && ! grep -i "terminate called" ends.err || return 1
	done
'
test_done
