#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='partitions as configuration in a stock Flux: the tables of doc/partitions.md, in a copy of a prefix with Weir'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

FLUX=$(find_flux) || { skip_all='no stock Flux here: put flux into PATH or set WEIR_FLUX'; test_done; }
unshare --mount true 2>/dev/null || { skip_all='only root may mount the copy in place of the prefix'; test_done; }
test "$(nproc)" -ge 2 || { skip_all='two partitions want two cores'; test_done; }
PREFIX=$(dirname "$(dirname "$(readlink -f "$FLUX")")")
PAGE=$SHARNESS_TEST_SRCDIR/../doc/partitions.md
FOLDER=$PREFIX/etc/flux/system
export PREFIX PAGE FOLDER

block() {
	awk -v mark="<!-- $1 -->" '$0 == mark { due = 1; next } due && /^```/ { if (inside) exit; inside = 1; next } inside' "$PAGE" >block.out &&
		test -s block.out && cat block.out
}
# inside SCRIPT: an instance of the copy, as the page configures it
inside() {
	cat >mounted.sh <<-EOF
	mount --bind "$PWD/copy" "$PREFIX" &&
	exec env -u FLUX_URI PATH="$PREFIX/bin:\$PATH" XDG_CONFIG_DIRS="$PREFIX/etc/xdg" \
		flux start --test-size=1 --config-path="$FOLDER/conf.d" bash -e "$PWD/$1"
	EOF
	unshare --mount bash mounted.sh
}
test_expect_success 'a copy of the prefix with Weir, configured as the page says' '
	cp -a "$PREFIX" copy && cmake --install "$WEIR_BUILD_DIR" --prefix "$PWD/copy" --component modules >install.log &&
	mkdir -p copy/etc/flux/system/conf.d && rm -f copy/etc/flux/system/conf.d/*.toml &&
	block "file: conf.d/partitions.toml" >copy/etc/flux/system/conf.d/partitions.toml
'
test_expect_success 'the partitions start, and a job of a queue runs in its partition' '
	{ block "run: flux" && echo "flux weir tree && flux dmesg | grep job-route"; } >first.sh && inside first.sh >first.out 2>&1; code=$?; cat first.out && test $code = 0 &&
	grep "^batch  *batch  *1  *sched-weir-easy" first.out && grep "^$(hostname)$" first.out && grep "job-route.*The partition batch serves its queue" first.out
'
cat >second.sh <<\EOF
flux queue start --all --quiet
run() { name=$1 && shift && flux submit --queue=$name --output=out --wait "$@" && cat out; }
run batch true
old=$(flux weir partition list --json | jq -r '.partitions[] | select(.name == "batch") | .instances[0].id')
flux job raise --type=test --severity=0 $(flux job id --to=f58 $old) by the test
run batch echo batch is back
flux weir partition drain debug
waits=$(flux submit --queue=debug --output=drained.out echo drained no more)
flux job wait-event -q -t 60 $waits priority
test "$(flux jobs -no '{state}' $waits)" = SCHED
flux weir partition resume debug
flux job wait-event -q -t 60 $waits clean && cat drained.out
flux weir partition restart debug --kill
run debug echo debug is new
flux weir partition remove debug
flux weir partition list
flux dmesg | grep "job-route.*partition"
EOF
test_expect_success 'one that is ended is started again; drain, resume, restart and remove do what they say' '
	inside second.sh >second.out 2>&1; code=$?; cat second.out && test $code = 0 &&
	grep "^batch is back" second.out && grep "^drained no more" second.out && grep "^debug is new" second.out &&
	grep "The partition batch ended (test: by the test); it starts again now" second.out
'
test_done
