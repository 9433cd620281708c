#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='run directories and state directories are made private, and never believed when somebody else made them'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"
set -o pipefail

use_weir
unset WEIR_RUNDIR
NOBODY=65534
VICTIM=$((200000 + $$))
DEFAULT=/tmp/weir-$VICTIM # the place that `weir` looks at for this user id; no user has it
echo 'weir-broker.modules = ["kvs"]' >conf.toml

as_user() {
	user_uid=$1 && shift
	PATH="$WEIR_BUILD_DIR/bin:/usr/bin:/bin" setpriv --reuid="$user_uid" --regid="$user_uid" --clear-groups "$@"
}
attacker() { as_user $NOBODY "$@"; }
victim() { as_user $VICTIM env HOME="$PWD/home" "$@"; }
test "$(id -u)" = 0 && attacker test -x "$PWD" && victim test -x "$WEIR_BUILD_DIR/bin/weir" && test_set_prereq ROOT
trap 'private_code=$?; end_test_brokers; kill $impostor 2>/dev/null; rm -rf "$DEFAULT"; (exit $private_code); die' EXIT

test_expect_success ROOT 'there are two users' '
	mkdir home && chown $VICTIM home && chmod 755 . &&
	victim sh -c "umask 077 && echo precious >home/secret"
'
test_expect_success ROOT 'weir start refuses a directory that somebody else made, and writes through no link of his' '
	attacker mkdir -m 777 "$DEFAULT" && attacker mkdir -m 777 "$DEFAULT/etc" &&
	for name in parent.toml debug.toml batch.toml shares.toml broker.log; do
		attacker ln -s "$PWD/home/secret" "$DEFAULT/etc/$name" || return 1
	done &&
	test_expect_code 4 victim timeout 60 weir start >out 2>err &&
	grep "$DEFAULT belongs to user $NOBODY, not to user $VICTIM" err &&
	test "$(cat home/secret)" = precious
'
cat >impostor.py <<-\EOF
	import os, socket, sys
	path = sys.argv[1]
	s = socket.socket(socket.AF_UNIX)
	s.bind(path)
	os.chmod(path, 0o777)
	s.listen()
	open(sys.argv[2], "w").write(f"{os.getpid()}\n")
	s.accept()
	print("somebody came", flush=True)
EOF
test_expect_success ROOT 'commands do not talk to whoever listens in such a directory' '
	mkfifo up && chmod 666 up &&
	{ attacker python3 impostor.py "$DEFAULT/local-0" up >came 2>&1 3>&- 4>&- 5>&- & } && read -r impostor <up &&
	test_expect_code 4 victim timeout 60 weir jobs >out 2>err &&
	grep "belongs to user $NOBODY, not to user $VICTIM" err &&
	test ! -s came && kill $impostor
'
test_expect_success ROOT 'nor in a directory of ones own that others may write to' '
	rm -rf "$DEFAULT" && victim mkdir -m 777 "$DEFAULT" &&
	test_expect_code 4 victim timeout 60 weir start 2>err && grep "$DEFAULT may be written to by others (mode 0777): chmod go-w" err &&
	test_expect_code 4 victim timeout 60 weir jobs 2>err && grep "may be written to by others" err
'
test_expect_success ROOT 'nor behind a link that somebody else made to ones own directory' '
	rm -rf "$DEFAULT" && victim mkdir -p -m 700 home/own/etc && attacker ln -s "$PWD/home/own" "$DEFAULT" &&
	test_expect_code 4 victim timeout 60 weir start 2>err &&
	grep "$DEFAULT is a symbolic link that user $NOBODY made" err &&
	test -d home/own/etc && rm "$DEFAULT"
'
test_expect_success ROOT 'without one, the answer is that no instance listens' '
	test_expect_code 3 victim weir jobs 2>err && grep "no instance listens" err
'
test_expect_success ROOT 'the broker refuses a run directory and a state directory of somebody else' '
	mkdir theirs && chown $NOBODY theirs &&
	test_expect_code 1 timeout 60 "$WEIR_BROKER" -c conf.toml --rundir "$PWD/theirs" 2>err &&
	grep "rundir: $PWD/theirs belongs to user $NOBODY" err &&
	test_expect_code 1 timeout 60 "$WEIR_BROKER" -c conf.toml --rundir "$PWD/own-run" -S "statedir=$PWD/theirs" 2>err &&
	grep "statedir: $PWD/theirs belongs to user $NOBODY" err &&
	test -z "$(ls -A theirs)" && ! test -e own-run
'
test_expect_success 'a demo does not empty a folder that others may write to' '
	mkdir -m 777 demo && : >demo/.weir-demo &&
	test_expect_code 4 timeout 60 weir demo --dir demo 2>err && grep "may be written to by others" err && test -e demo/.weir-demo
'
test_expect_success 'what weir start makes is private, whatever the umask' '
	umask 000 && start_weir --rundir "$PWD/run" --statedir "$PWD/state" --cores 4 && umask 022 &&
	for dir in run state run/debug run/batch state/debug state/batch; do
		test "$(stat -c %a $dir)" = 700 || { stat -c "%a %n" $dir; return 1; }
	done &&
	for file in state/parent.toml state/debug.log state/shares.toml state/broker.log run/broker.pid; do
		test "$(stat -c %a $file)" = 600 || { stat -c "%a %n" $file; return 1; }
	done &&
	stop_weir
'
test_done
