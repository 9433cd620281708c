#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='an installed Weir runs from its prefix, alone and below a stock Flux'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

PREFIX=$(pwd)/prefix
FLUX=$(find_flux) && test_set_prereq STOCK_FLUX && finds_modprobe_files "$FLUX" && test_set_prereq MODPROBE

test_expect_success 'install: programs, modules, plugins, the flux subcommand and the examples' '
	cmake --install "$WEIR_BUILD_DIR" --prefix "$PREFIX" >install.log &&
	for module in job-priority job-route sched-weir-fcfs sched-weir-easy; do
		test -n "$(find "$PREFIX" -path "*/flux/modules/$module.so")" || { echo "no $module"; return 1; }
	done &&
	for plugin in job-priority-tap job-route-tap; do
		test -n "$(find "$PREFIX" -path "*/flux/job-manager/plugins/$plugin.so")" || { echo "no $plugin"; return 1; }
	done &&
	test -x "$PREFIX/bin/weir" && test -x "$PREFIX/bin/weir-broker" && test -x "$PREFIX/libexec/flux/cmd/flux-weir" &&
	"$PREFIX/bin/weir" sim generate --jobs=10 -o ten.swf && "$PREFIX/libexec/flux/cmd/flux-weir" sim run ten.swf | grep "^jobs  *10 " &&
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
test_expect_success STOCK_FLUX 'below a stock Flux: `flux weir`, and the module and plugin by their names' '
	modules=$(dirname "$(find "$PREFIX" -name job-priority.so)") && plugins=$(dirname "$(find "$PREFIX" -name job-priority-tap.so)") &&
	mkdir -p conf && cp "$SHARNESS_TEST_SRCDIR"/priority-conf/*.toml conf/ &&
	env PATH="$(dirname "$FLUX"):$PATH" FLUX_EXEC_PATH="$PREFIX/libexec/flux/cmd" FLUX_MODULE_PATH_PREPEND="$modules" \
		"$FLUX" start --test-size=1 "--config-path=$(pwd)/conf/weir.toml" sh -ec "
			flux jobtap load \"$plugins/job-priority-tap.so\" && flux module load job-priority && flux weir share show
			flux module remove job-priority" >flux.out && cat flux.out && grep physics flux.out
'
test_expect_success STOCK_FLUX,MODPROBE 'the modprobe files: a stock Flux brings the module up itself and takes it down in time' '
	printf "[job-manager]\nplugins = [{ load = \"%s\" }]\n" "$plugins/job-priority-tap.so" >>conf/weir.toml &&
	env PATH="$(dirname "$FLUX"):$PATH" FLUX_MODULE_PATH_PREPEND="$modules" \
		FLUX_MODPROBE_PATH_APPEND="$PREFIX/share/flux/modprobe:$PREFIX/libexec/flux/modprobe" \
		"$FLUX" start --test-size=1 "--config-path=$(pwd)/conf/weir.toml" sh -ec "
			flux module list; flux jobtap list" >modprobe.out 2>modprobe.err; code=$?
	cat modprobe.out modprobe.err && test $code = 0 &&
	grep "^job-priority " modprobe.out && grep "^job-priority-tap.so" modprobe.out
'
# flux_with CONFIG COMMAND: a stock Flux that finds the installed modules and their modprobe files runs COMMAND
flux_with() {
	env PATH="$(dirname "$FLUX"):$PATH" FLUX_MODULE_PATH_PREPEND="$modules" \
		FLUX_MODPROBE_PATH_APPEND="$PREFIX/share/flux/modprobe:$PREFIX/libexec/flux/modprobe" \
		"$FLUX" start --test-size=1 "--config-path=$1" sh -ec "$2"
}
test_expect_success STOCK_FLUX 'Flux'"'"'s own scheduler stays where the configuration names no other; nothing of Flux is shadowed' '
	: >none.toml && flux_with "$(pwd)/none.toml" "flux module list" >none.out && grep "^sched-simple " none.out &&
	test_must_fail grep weir none.out &&
	flux_dir=$(dirname "$(find "$(dirname "$FLUX")/.." -name "sched-simple*" -path "*/modules/*" | head -1)") &&
	for module in "$modules"/*.so; do
		name=$(basename "$module" .so) && ! ls "$flux_dir/$name".* 2>/dev/null || { echo "$name shadows a module of Flux"; return 1; }
	done
'
for scheduler in sched-weir-easy sched-weir-fcfs; do
	export scheduler
	test_expect_success STOCK_FLUX,MODPROBE "alternatives.sched = $scheduler, with Flux's own arguments: a job runs through it" '
		printf "[modules]\nalternatives.sched = \"%s\"\n%s.args = [\"queue-depth=8\", \"log-level=INFO\", \"pool-class=TreePool\"]\n" $scheduler $scheduler >alt.toml &&
		flux_with "$(pwd)/alt.toml" "flux module list; flux module stats $scheduler; flux run -n1 echo through; flux dmesg" >alt.out &&
		grep "^$scheduler .*sched" alt.out && grep "queue_depth\": *8" alt.out && grep "^through" alt.out &&
		test_must_fail grep "^sched-simple " alt.out && test_must_fail grep "ready: easy\|ready: fcfs" alt.out && grep "pool-class= has no effect" alt.out
	'
done
test_expect_success STOCK_FLUX,MODPROBE 'a parent and its child come up with job-route and its plugin by configuration alone; a routed job runs' '
	printf "[queues.batch]\n[queues.own]\n[weir.route]\nqueues = [\"batch\"]\n" >route.toml &&
	printf "[weir.route]\nserves = [\"batch\"]\n" >child.toml &&
	cat >child.sh <<-EOF &&
	#!/bin/sh
	flux module list >"$(pwd)/child.out"
	trap "exit 0" TERM
	sleep inf & wait \$!
	EOF
	chmod +x child.sh &&
	flux_with "$(pwd)/route.toml" "
		flux module list; flux jobtap list; flux queue start --all --quiet
		child=\$(flux batch --queue=own -n1 --conf=\"$(pwd)/child.toml\" --output=none --error=none \"$(pwd)/child.sh\")
		flux submit --queue=batch -n1 --wait --output=route.txt echo routed
		cat route.txt; flux cancel \$child; flux queue drain" >route.out 2>route.err; code=$?
	cat route.out route.err && test $code = 0 &&
	grep "^job-route " route.out && grep "^job-route-tap.so" route.out && grep "^routed" route.out && grep "^job-route " child.out
'
test_done
