#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='an installed Weir runs from its prefix, alone and below a stock Flux'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

PREFIX=$(pwd)/prefix
FLUX=$(find_flux) && test_set_prereq FLUX

test_expect_success 'install: programs, modules, plugins, the flux subcommand and the examples' '
	cmake --install "$WEIR_BUILD_DIR" --prefix "$PREFIX" >install.log &&
	for module in job-priority job-route sched-fcfs sched-backfill; do
		test -n "$(find "$PREFIX" -path "*/flux/modules/$module.so")" || { echo "no $module"; return 1; }
	done &&
	for plugin in job-priority-tap job-route-tap; do
		test -n "$(find "$PREFIX" -path "*/flux/job-manager/plugins/$plugin.so")" || { echo "no $plugin"; return 1; }
	done &&
	test -x "$PREFIX/bin/weir" && test -x "$PREFIX/bin/weir-broker" && test -x "$PREFIX/libexec/flux/cmd/flux-weir" &&
	test -f "$PREFIX/share/weir/examples/shares.toml"
'
# completed WORD...: what bash offers for the last word
completed() {
	bash -c '. "$0" && COMP_WORDS=(weir "$@") COMP_CWORD=$# && _weir && printf "%s\n" "${COMPREPLY[@]}"' \
		"$PREFIX/share/bash-completion/completions/weir" "$@" | tr "\n" " "
}
test_expect_success 'bash completes commands and options, also behind those that are there; elsewhere it offers files' '
	test "$(completed sim "")" = "run generate compare " && test "$(completed sub)" = "submit " &&
	test "$(completed sim run --json --st)" = "--starts= " && completed sim run log.swf --sc | grep -x -e "--scheduler= " &&
	test "$(completed sim run lo)" = " " && completed nice --u | grep -e "--uri="
'
test_expect_success 'the page for man has every command, and roff takes it without a word' '
	page=$PREFIX/share/man/man1/weir.1 && weir help | sed -n "/^Commands/,/^\$/s/^  \([a-z ]*[a-z]\)  .*/\1/p" >commands &&
	test $(wc -l <commands) -gt 20 &&
	while read -r name; do grep -q "^.SS weir $name" "$page" || { echo "no $name"; return 1; }; done <commands &&
	{ ! command -v groff || { groff -k -K utf8 -man -Tutf8 -ww "$page" >page.txt 2>groff.err && test_must_be_empty groff.err; } }
'
test_expect_success 'it needs nothing of the build folder: a tree starts and runs a job' '
	PATH=$PREFIX/bin:$PATH && start_weir --tree "$PREFIX/share/weir/examples/shares.toml" --config "$PREFIX/share/weir/examples/weir.toml" &&
	grep -ls "$PREFIX/.*/job-priority.so" /proc/[0-9]*/maps >maps; test $(wc -l <maps) = 3 &&
	! grep "$WEIR_BUILD_DIR" $(cat maps) && echo "hello from the prefix" >want &&
	weir submit --wait echo hello from the prefix >got 2>err && test_cmp want got && stop_weir
'
test_expect_success FLUX 'below a stock Flux: `flux weir`, and the module and plugin by their names' '
	modules=$(dirname "$(find "$PREFIX" -name job-priority.so)") && plugins=$(dirname "$(find "$PREFIX" -name job-priority-tap.so)") &&
	mkdir -p conf && cp "$SHARNESS_TEST_SRCDIR"/priority-conf/*.toml conf/ &&
	env PATH="$(dirname "$FLUX"):$PATH" FLUX_EXEC_PATH="$PREFIX/libexec/flux/cmd" FLUX_MODULE_PATH_PREPEND="$modules" \
		"$FLUX" start --test-size=1 "--config-path=$(pwd)/conf/weir.toml" sh -ec "
			flux jobtap load \"$plugins/job-priority-tap.so\" && flux module load job-priority && flux weir share show
			flux module remove job-priority" >flux.out && cat flux.out && grep physics flux.out
'
test_expect_success FLUX 'the modprobe files: a stock Flux brings the module up itself and takes it down in time' '
	printf "[job-manager]\nplugins = [{ load = \"%s\" }]\n" "$plugins/job-priority-tap.so" >>conf/weir.toml &&
	env PATH="$(dirname "$FLUX"):$PATH" FLUX_MODULE_PATH_PREPEND="$modules" \
		FLUX_MODPROBE_PATH_APPEND="$PREFIX/share/flux/modprobe:$PREFIX/libexec/flux/modprobe" \
		"$FLUX" start --test-size=1 "--config-path=$(pwd)/conf/weir.toml" sh -ec "
			flux module list; flux jobtap list" >modprobe.out 2>modprobe.err; code=$?
	cat modprobe.out modprobe.err && test $code = 0 &&
	grep "^job-priority " modprobe.out && grep "^job-priority-tap.so" modprobe.out
'
test_done
