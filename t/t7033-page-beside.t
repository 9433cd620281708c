#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir start --page and weir demo --page: the live page of what they start, for as long as it runs'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

# page_line FILE: the address in it.
page_line() {
	grep -o "http://127.0.0.1:[0-9]*/#[A-Za-z0-9_-]*" "$1"
}
# nobody_at URL: no server answers there any more
nobody_at() {
	test_must_fail python3 "$SERVE_CLIENT" "$1" get / 2>refused && grep -i "refused" refused
}

test_expect_success 'weir start --page prints the address behind the tree, and the page shows this instance' '
	mkfifo told && { weir start --page >told 2>start.err & } && WEIR_PID=$! && exec 8<told &&
	WEIR_TEST_STARTS="$WEIR_TEST_STARTS $!" && sed "/http:/q" <&8 >start.out && url=$(page_line start.out) &&
	python3 "$SERVE_CLIENT" "$url" events "name == \"tree\"" >first && grep "everybody" first
'
test_expect_success 'Ctrl-C ends the page with the instance, and nothing is left' '
	kill -INT $WEIR_PID && cat <&8 >/dev/null && wait $WEIR_PID && nobody_at "$url" && test -z "$(leftovers)"
'
test_expect_success 'weir demo --page prints the address before its lines; the page has the demo'\''s tree while it runs' '
	mkfifo shown && { weir demo --page --jobs 40 --seconds 6 --dir demo >shown 2>demo.err & } && demo=$! && exec 8<shown &&
	sed "/http:/q" <&8 >demo.out && url=$(page_line demo.out) &&
	python3 "$SERVE_CLIENT" "$url" events "name == \"rows\"" >rows && grep "\"tree\"" rows && cat <&8 >demo.rest && wait $demo &&
	grep "report.html" demo.rest && nobody_at "$url" && test -z "$(leftovers)"
'

test_done
