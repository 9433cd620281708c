#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='what README.md and doc/ say of command lines is so: each is run, each command and option in running text exists'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
SRC=$(cd "$SHARNESS_TEST_SRCDIR/.." && pwd)
DOCUMENTS=$SHARNESS_TEST_SRCDIR/tools/documents.py
export SRC
test -x "$WEIR_FLUX" && PATH=$PATH:$(dirname "$WEIR_FLUX")

test_expect_success 'the documents and the table of t/documents.txt go together' '
	python3 "$DOCUMENTS" plan "$SHARNESS_TEST_SRCDIR/documents.txt" "$SRC/README.md" "$SRC"/doc/*.md "$SRC"/doc/adr/*.md >plan &&
	test $(grep -c "^line" plan) -ge 20 && test $(grep -c "^mention" plan) -ge 30
'
test_expect_success 'what they take for granted: the instance of the README, jobs that wait, a log, policies, a program' '
	start_weir --tree="$SRC/etc/shares.toml" --config="$SRC/etc/weir.toml" &&
	weir submit -u alice -n 6 -t 1h --simulate=1h fill && WAITING=$(weir submit -u alice -n 6 -t 1h --simulate=1h first) &&
	LATER=$(weir submit -u bob -n 6 -t 1h --simulate=1h second) && export WAITING LATER &&
	weir sim generate --jobs=300 -o log.swf.gz && printf "#!/bin/sh\ntrue\n" >a.out && chmod +x a.out &&
	printf "[sim]\nscheduler = \"easy\"\n" >easy.toml &&
	python3 "$DOCUMENTS" block "$SRC/doc/simulator.md" "[sim]" >fair.toml && grep "^half-life" fair.toml &&
	printf "\"all\" = 1\n\"all/@*\" = 1\n" >shares.toml &&
	weir help --as=bash | grep -o -e "--[a-z][a-z-]*" >options && weir-broker --help | grep -o -e "--[a-z][a-z-]*" >>options
'
# flux_has COMMAND [SUBCOMMAND...]: the help of a command of Flux names the subcommand; of some it needs no instance alone
flux_has() {
	flux "$1" --help >help.out 2>&1
	grep -i "usage" help.out && { test $# -eq 1 || grep -w -e "$2" help.out; }
}
# has_help PROGRAM NAMES OPTIONS
has_help() {
	if test "$1" = flux; then
		flux_has $2
		return
	fi
	"$1" $2 --help >help.out && for option in $3; do grep -q -e "$option\b" help.out || { echo "no $option"; return 1; }; done
}
while IFS="$(printf '\t')" read -r kind place said run <&7; do
	needs=""
	case "$run" in
	"not here: "*)
		test_expect_success ELSEWHERE "$place: $said (${run#not here: })" "false"
		continue ;;
	flux*) needs=FLUX ;;
	esac
	case $kind in
	line) test_expect_success $needs "$place: $said" "{ $run ; } </dev/null 7<&- 8<&-" ;;
	mention)
		program=${run%%$(printf '\037')*} rest=${run#*$(printf '\037')}
		test_expect_success $needs "$place: $said" "has_help $program '${rest%$(printf '\037')*}' '${rest#*$(printf '\037')}' 7<&- 8<&-" ;;
	option) test_expect_success "$place: $said" "grep -q -x -e $run options" ;;
	esac
done 7<plan
test_expect_success 'the instance is well after all that' '
	weir jobs >out && cat out && grep "$WAITING" out && weir share show | grep "chem .*40 " && stop_weir
'

test_done
