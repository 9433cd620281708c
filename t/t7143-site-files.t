#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the files for systemd and logrotate, read by these programs: the unit, the drop-in of doc/in-your-flux.md, the rotation'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir
ETC=$SHARNESS_TEST_SRCDIR/../etc
PAGE=$SHARNESS_TEST_SRCDIR/../doc/in-your-flux.md
PATH=$PATH:/usr/sbin:/sbin
if systemd-analyze verify --help >/dev/null 2>&1; then test_set_prereq SYSTEMD; fi
if command -v logrotate >/dev/null && test "$(id -u)" = 0; then test_set_prereq LOGROTATE; fi

# A root for systemd-analyze: the targets that each service wants, the programs that the units name, and a flux.service.
UNITS=root/usr/lib/systemd/system
in_root() {
	systemd-analyze verify --root="$PWD/root" --man=no "$1" >verified 2>&1
	code=$?
	cat verified
	return $code
}
test_expect_success SYSTEMD 'weir.service has no mistake' '
	mkdir -p "$UNITS" root/usr/bin root/etc/systemd/system/flux.service.d && cp /bin/true root/usr/bin/weir && cp root/usr/bin/weir root/usr/bin/flux &&
	for target in sysinit basic shutdown network multi-user; do
		printf "[Unit]\nDescription=$target\n" >"$UNITS/$target.target" || return 1
	done &&
	cp "$ETC/systemd/weir.service" "$UNITS/" && in_root weir.service && test_must_be_empty verified
'
test_expect_success SYSTEMD 'the programs that it starts are commands of weir, with options that they have' '
	sed -n "s/^Exec[A-Za-z]*=.usr.bin.weir //p" "$ETC/systemd/weir.service" >commands && test "$(wc -l <commands)" = 2 &&
	sed "s/ --uri [^ ]*//; s/ --.*//" commands >names && while read -r name; do weir $name --help >help || return 1; done <names &&
	for option in $(grep -o -e "--[a-z]*" commands); do weir start --help >help && weir --help >>help && grep -e "$option" help || return 1; done
'
# A mount with a key that nobody knows: systemd speaks of it when it reads it, and it reads what a unit needs.
test_expect_success SYSTEMD 'the drop-in of the page has no mistake, and makes flux.service wait for the mounted share tree' '
	printf "[Unit]\nDescription=Flux\n[Service]\nExecStart=/usr/bin/flux\n" >"$UNITS/flux.service" &&
	printf "[Mount]\nWhere=/etc/flux/system\nWhat=server:/flux\nMarked=1\n" >"$UNITS/etc-flux-system.mount" &&
	in_root flux.service && test_must_be_empty verified &&
	block "file: flux.service.d/weir.conf" >root/etc/systemd/system/flux.service.d/weir.conf &&
	in_root flux.service && grep "etc-flux-system.mount:4: .*Marked" verified && test "$(wc -l <verified)" = 1
'
# The unit's lines as systemd runs them, in folders of this test. The programs want paths without a space.
SITE=$(mktemp -d)
here() {
	sed "s,%t/weir,$SITE/run,g; s,%S/weir,$SITE/lib,g; s,/etc/weir,$SITE,g; s,/usr/bin/,,g"
}
line_of() {
	sed -n "s/^$1=//p" "$ETC/systemd/weir.service" | here
}
rotate() {
	PATH=$SITE/bin:$PATH logrotate -s "$SITE/rotations" "$@" "$SITE/rotate"
}
# The files of this test that brokers write to.
written_to() {
	for broker in $(pgrep -f "weir-broker.*$SITE"); do
		ls -l "/proc/$broker/fd"
	done | grep -o "$SITE/lib/.*\.log.*" | sort -u
}
test_expect_success LOGROTATE 'an instance and a partition run as the unit says, and log into the files that the rotation names' '
	printf "[weir]\nhalf-life = \"7d\"\n[[partition]]\nname = \"batch\"\ncores = 1\n" >"$SITE/weir.toml" && mkdir -m 700 "$SITE/lib" && mkdir "$SITE/bin" &&
	printf "#!/bin/sh\ntest \"\$*\" = \"reload weir.service\" || exit 1\nexec $(line_of ExecReload)\n" >"$SITE/bin/systemctl" && chmod +x "$SITE/bin/systemctl" &&
	sed "s,/var/lib/weir,$SITE/lib," "$ETC/logrotate.weir" >"$SITE/rotate" && grep "$SITE/lib/\*.log" "$SITE/rotate" &&
	start=$(line_of ExecStart) && start_weir ${start#weir start } && written_to >files && cat files &&
	printf "%s\n" "$SITE/lib/batch.log" "$SITE/lib/broker.log" >want && test_cmp want files
'
test_expect_success LOGROTATE 'logrotate takes the file without a warning, and finds both logs' '
	rotate -d >tried 2>&1 || { cat tried; false; } && cat tried && grep "considering log $SITE/lib/broker.log" tried &&
	grep "considering log $SITE/lib/batch.log" tried && sed "/^warning: logrotate in debug mode/d" tried >said && test_must_fail grep -i "error\|warning" said
'
# The reload has something to tell.
test_expect_success LOGROTATE 'rotated, each broker goes on in a new file: old lines are in the old one, what the reload says in the new one' '
	sed -i s/7d/8d/ "$SITE/weir.toml" && cp "$SITE"/lib/*.log . && rotate -f -v >rotated 2>&1 || { cat rotated; false; } &&
	written_to >files && test_cmp want files && for name in broker batch; do
		cmp $name.log "$SITE/lib/$name.log.1" && grep "half-life.*8d" "$SITE/lib/$name.log" || return 1
	done
'
test_expect_success LOGROTATE 'rotated again, the oldest is compressed and no line is lost' '
	cp "$SITE"/lib/*.log . && rotate -f && written_to >files && test_cmp want files && for name in broker batch; do
		cmp $name.log "$SITE/lib/$name.log.1" && zcat "$SITE/lib/$name.log.2.gz" >oldest && test -s oldest || return 1
	done
'
test_expect_success LOGROTATE 'the instance ends' '
	stop_weir && test -s "$SITE/lib/broker.log"
'
rm -rf "$SITE"
test_done
