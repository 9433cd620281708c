#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='a signal reaches the processes of a job that a partition runs, also one of a partition'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >site.toml <<EOF
[weir.users]
alice = 5001
[[partition]]
name = "debug"
cores = 1
[[partition]]
name = "batch"
cores = 2
[[partition.partition]]
name = "low"
queues = ["batch"]
cores = 2
EOF
FLUX_URI=local://$WEIR_RUNDIR/local-0 && export FLUX_URI
# Arguments FIFO NAME: writes "NAME ready", then "NAME SIGNAL" for each signal that it takes.
cat >tells.py <<EOF
import signal, sys
taken = {signal.SIGUSR1, signal.SIGUSR2}
signal.pthread_sigmask(signal.SIG_BLOCK, taken)
def tell(word):
    with open(sys.argv[1], "w") as told:
        print(sys.argv[2], word, file=told)
tell("ready")
while True:
    tell(signal.Signals(signal.sigwait(taken)).name)
EOF
mkfifo told && chmod 666 told && exec 7<>told
# tells NAME QUEUE: such a job of alice's; $NAME is its id
tells() {
	id=$(weir submit --json --user alice -q $2 python3 "$(pwd)/tells.py" "$(pwd)/told" $1 | jq .id) && eval "$1=$id" && told "$1 ready"
}
# next_line: that a job writes
next_line() {
	timeout 60 sh -c "IFS= read -r line <&7 && echo \"\$line\""
}
# told WORDS: the next line is this
told() {
	line=$(next_line) && test "$line" = "$1" || { echo "told: $line"; return 1; }
}
signal() {
	call job-manager.kill "{\"id\":$1,\"signum\":$2}"
}
# ends_by SIGNAL ID: the exit code is that of a shell whose command that signal ended
ends_by() {
	wait_event $2 finish >status && cat status && jq -e ".status == (128 + $1) * 256" status && wait_event $2 clean
}
USR1=10 USR2=12 KILL=9

test_expect_success 'a job in a partition takes a signal, and again one' '
	start_weir --cores 4 --config site.toml && tells a debug && signal $a $USR1 && told "a SIGUSR1" && signal $a $USR2 && told "a SIGUSR2"
'
test_expect_success 'so does one in a partition of a partition' '
	tells b batch && signal $b $USR1 && told "b SIGUSR1"
'
test_expect_success 'a user signals no job of another one' '
	test_must_fail python3 "$SHARNESS_TEST_SRCDIR/tools/job.py" --userid 5002 rpc job-manager.kill "{\"id\":$a,\"signum\":$KILL}" >out 2>&1; cat out && grep "their own jobs" out
'
test_expect_success 'all her jobs at once take one' '
	call job-manager.killall "{\"dry_run\":false,\"userid\":5001,\"signum\":$USR2}" && { next_line && next_line; } | sort >all &&
	printf "a SIGUSR2\nb SIGUSR2\n" >expected && test_cmp expected all
'
test_expect_success 'a signal still arrives when job-route was loaded anew on both sides' '
	load_route_again && are_up debug batch && debug=local://$WEIR_RUNDIR/debug/local-0 && load_route_again "$debug" &&
	FLUX_URI=$debug wait_until job-route.stats-get "{}" .child.attached && signal $a $USR1 && told "a SIGUSR1"
'
test_expect_success 'KILL ends them, and their status says so' '
	signal $a $KILL && ends_by $KILL $a && signal $b $KILL && ends_by $KILL $b
'
test_expect_success 'a job that waits, or has ended, has no process to take it' '
	test_must_fail signal $a $USR1 >out 2>&1; cat out && grep "inactive" out && gated c -q debug && wait_event $c start && gated d -q debug &&
	test_must_fail signal $d $USR1 >out 2>&1; cat out && grep "not running" out && end c && end d
'
test_done
