#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the Debian packages: what is in them, installed into an empty root, and removed without a trace'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

if ! command -v cpack >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
	skip_all='no cpack or no dpkg-shlibdeps (Debian package dpkg-dev)'
	test_done
fi
if test "$(id -u)" != 0; then
	skip_all='only root installs packages'
	test_done
fi

DEBS=$(pwd)/debs
ROOT=$(pwd)/root
# A dpkg of its own: it knows no package of this machine, so that dependencies are listed and not resolved.
in_root() {
	dpkg --root="$ROOT" --log="$ROOT/dpkg.log" --force-depends "$@"
}
files_in_root() {
	find "$ROOT" -path "$ROOT/var" -prune -o ! -type d -print | grep -v "^$ROOT/dpkg.log"
}

test_expect_success 'cpack makes two packages, named by version and architecture' '
	cpack --config "$WEIR_BUILD_DIR/CPackConfig.cmake" -B "$DEBS" >cpack.log 2>&1 || { cat cpack.log; return 1; } &&
	command=$(echo "$DEBS"/weir_*_"$(dpkg --print-architecture)".deb) && modules=$(echo "$DEBS"/weir-modules_*.deb) &&
	test -f "$command" && test -f "$modules" && echo "$command" >command && echo "$modules" >modules
'
test_expect_success 'the packages name the libraries that they need, and the command its modules' '
	dpkg-deb -f "$(cat command)" Depends >depends && grep "libc6" depends && grep "libzmq5" depends && grep "libsqlite3-0\|libjansson4" depends &&
	grep "weir-modules (= $(dpkg-deb -f "$(cat modules)" Version))" depends &&
	dpkg-deb -f "$(cat modules)" Depends >depends && grep "libsqlite3-0" depends
'
test_expect_success 'installed into an empty root: command, broker, modules, manual, completion, unit, examples' '
	mkdir -p "$ROOT/var/lib/dpkg/info" "$ROOT/var/lib/dpkg/updates" && : >"$ROOT/var/lib/dpkg/status" &&
	in_root --install "$(cat modules)" "$(cat command)" >install.log 2>&1 || { cat install.log; return 1; } &&
	for file in bin/weir bin/weir-broker libexec/flux/cmd/flux-weir libexec/weir/weir-sim share/man/man1/weir.1 \
		share/bash-completion/completions/weir share/weir/examples/weir.toml lib/systemd/system/weir.service; do
		test -f "$ROOT/usr/$file" || { echo "no $file"; return 1; }
	done &&
	for name in modules/job-priority modules/job-route modules/sched-weir-easy job-manager/plugins/job-priority-tap; do
		test -f "$ROOT/usr/lib/flux/$name.so" || { echo "no $name"; return 1; }
	done
'
test_expect_success 'what is installed runs: the broker finds its modules there, a job runs' '
	PATH=$ROOT/usr/bin:$PATH && start_weir --tree "$ROOT/usr/share/weir/examples/shares.toml" --config "$ROOT/usr/share/weir/examples/weir.toml" &&
	grep -ls "$ROOT/.*/job-priority.so" /proc/[0-9]*/maps >maps; test -s maps &&
	echo "hello from the package" >want && weir submit --wait echo hello from the package >got 2>err && test_cmp want got && stop_weir
'
test_expect_success 'removed, nothing is left' '
	in_root --purge weir weir-modules >remove.log 2>&1 || { cat remove.log; return 1; } &&
	files_in_root >left; test_must_be_empty left
'
test_done
