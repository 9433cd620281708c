#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
test_description='doc/in-your-flux.md, upgrade and removal: the files of Weir are replaced, and removed, below a running stock Flux'
. "${SHARNESS_LIB:-/usr/share/sharness/sharness.sh}"

follow_in_flux in-your-flux.md

FILES="modules/job-priority.so modules/sched-weir-easy.so job-manager/plugins/job-priority-tap.so"
# The old release has some sentences in capitals, so that each file differs from the new one and keeps its length.
make_old() {
	cp "$1" "new/${1##*/}" &&
		LC_ALL=C sed "s/in force as revision/IN FORCE AS REVISION/; s/there is no account/THERE IS NO ACCOUNT/; s/ready: /READY: /" "$1" >old &&
		test_must_fail cmp -s old "$1" && cat old >"$1"
}
test_expect_success 'a copy of the prefix with an old release of Weir, its scheduler and a share tree' '
	copy_prefix && block "file: conf.d/weir.toml" >copy/etc/flux/system/conf.d/weir.toml &&
	block "file: conf.d/scheduler.toml" >copy/etc/flux/system/conf.d/scheduler.toml &&
	block "file: shares.toml" >copy/etc/flux/system/shares.toml && mkdir new &&
	for file in $FILES; do make_old copy/lib/flux/$file || return 1; done
'
cat >common.sh <<EOF
SHARNESS_TEST_SRCDIR=$SHARNESS_TEST_SRCDIR
. "\$SHARNESS_TEST_SRCDIR/sharness.d/40-flux.sh"
$(tell_failure)
FILES="$FILES"
EOF
cat >>common.sh <<\EOF
broker=$(flux getattr broker.pid)
at() {
    flux job wait-event -q -t 60 "$@"
}
# runs_of FILE: whether the broker has mapped the file that is there now ("there") or an earlier one ("gone")
runs_of() {
    awk -v file="$PREFIX/lib/flux/$1" -v inode="$(stat -c %i "$PREFIX/lib/flux/$1")" \
        '$6 == file { print ($5 == inode && $7 == "" ? "there" : "gone") }' /proc/$broker/maps | sort -u
}
all_run() {
    for file in $FILES; do
        test "$(runs_of $file)" = "$1" || { echo "$file: $(runs_of $file)"; return 1; }
    done
}
# Pending jobs with what they have; and what is said of a bank that is not there.
look() {
    sync_priorities
    flux jobs -f pending -no "{id} {priority} {state}" | sort >waiting.$1
    { flux submit --setattr=system.bank=none true || true; } >refused.$1 2>&1
}
EOF
{
	cat common.sh && cat <<-\EOF
	all_run there
	ended=$(flux submit --setattr=system.bank=chem sleep 0.2)
	at $ended clean
	mkfifo go
	runs=$(flux submit -n1 -c$(flux resource list -s up -no "{ncores}") --setattr=system.bank=physics sh -c 'read line <go; echo $line')
	at $runs start
	low=$(flux submit --urgency=10 --setattr=system.bank=chem true)
	high=$(flux submit --urgency=20 --setattr=system.bank=chem true)
	held=$(flux submit --urgency=hold --setattr=system.bank=physics true)
	for file in $FILES; do
	    cp new/${file##*/} "$PREFIX/lib/flux/$file.dpkg-new"
	    mv "$PREFIX/lib/flux/$file.dpkg-new" "$PREFIX/lib/flux/$file"
	done
	all_run gone
	middle=$(flux submit --urgency=15 --setattr=system.bank=chem true)
	at $middle priority
	look before
	EOF
	block "run: upgrade" && cat <<-\EOF
	all_run there
	look after
	new=$(flux submit --urgency=12 --setattr=system.bank=chem true)
	at $new priority
	test "$(flux jobs -no '{state}' $runs)" = RUN
	echo to the end >go
	flux job attach $runs >said
	for id in $low $high $middle $new; do
	    at $id clean
	    echo "$(flux job wait-event -f json $id alloc | jq .timestamp) $id"
	done | sort -n | cut -d" " -f2 >started
	echo "$high $middle $new $low" | tr ' ' '\n' >order
	test "$(flux jobs -no '{state} {priority}' $held)" = "SCHED 0"
	sync_priorities
	rpc job-priority.usage >usage
	flux python "$PRIORITY_CONF/charged.py" >expected
	flux dmesg >log
	EOF
} >upgrade.sh
test_expect_success 'upgrade: what was loaded runs on until the new files are loaded, and then these run' '
	inside upgrade.sh >out 2>&1 || { cat out; false; } && cat refused.* && sed "s/THERE IS NO ACCOUNT/there is no account/" refused.before >want && test_must_fail cmp -s want refused.before &&
	test_cmp want refused.after && grep "there is no account" refused.after &&
	grep "READY: easy" log && grep "ready: easy" log
'
test_expect_success 'upgrade: pending jobs have the priorities that they had, and start in this order; the running job goes on to its end' '
	cat waiting.before && test "$(wc -l <waiting.before)" = 4 && test_cmp waiting.before waiting.after &&
	test_cmp order started && echo to the end >want && test_cmp want said
'
test_expect_success 'upgrade: all is charged, and nothing twice' '
	cat expected && for account in physics chem; do
		jq -e ".$account | select(. > 0)" expected >want &&
		jq ".nodes[] | select(.path == \"$account\") | .charged_core_us" usage >got && test_cmp want got || return 1
	done
'
test_expect_success 'cmake --install renames as packages do: a file that is mapped is not written to' '
	for file in $FILES; do make_old copy/lib/flux/$file && ln copy/lib/flux/$file "mapped-${file##*/}" || return 1; done &&
	cmake --install "$WEIR_BUILD_DIR" --prefix "$PWD/copy" --component modules >install.log &&
	for file in $FILES; do
		cmp copy/lib/flux/$file "new/${file##*/}" && test_must_fail cmp -s "mapped-${file##*/}" "new/${file##*/}" || return 1
	done
'
ROUTE_FILES="modules/job-route.so job-manager/plugins/job-route-tap.so"
{
	cat common.sh && cat <<-EOF && cat <<-\EOF
	FILES="$ROUTE_FILES"
	EOF
	flux queue start --all --quiet
	all_run there
	mkfifo on
	runs=$(flux submit --queue=batch sh -c 'read line <on; exit 3')
	at $runs start
	waits=$(flux submit --queue=batch true)
	at $waits weir.route
	for file in $FILES; do
	    cp "$PREFIX/lib/flux/$file" "$PREFIX/lib/flux/$file.dpkg-new"
	    mv "$PREFIX/lib/flux/$file.dpkg-new" "$PREFIX/lib/flux/$file"
	done
	all_run gone
	EOF
	block "run: upgrade route" && cat <<-\EOF
	all_run there
	later=$(flux submit --queue=batch true)
	test "$(flux jobs -no '{state}' $runs)" = RUN
	echo on >on
	for id in $runs $waits $later; do at $id clean; done
	flux jobs -no '{result} {returncode}' $runs $waits $later >results
	EOF
} >route.sh
if test "$(nproc)" -ge 2; then test_set_prereq CORES; fi
test_expect_success CORES 'upgrade of job-route: the jobs of a partition go on, those that wait for it run' '
	cp -a copy/etc/flux/system/conf.d conf.kept &&
	(PAGE=$SHARNESS_TEST_SRCDIR/../doc/partitions.md && block "file: conf.d/partitions.toml") >copy/etc/flux/system/conf.d/partitions.toml && rm copy/etc/flux/system/conf.d/[sw]*.toml &&
	inside route.sh >out 2>&1; code=$?; cat out; rm -r copy/etc/flux/system/conf.d && mv conf.kept copy/etc/flux/system/conf.d && test $code = 0 &&
	printf "FAILED 3\nCOMPLETED 0\nCOMPLETED 0\n" | sort >want && sort results >got && test_cmp want got
'
# The same configuration, but for a limit and a shorter timeout.
{
	cat common.sh && cat <<-\EOF
	full=$(flux submit -n1 -c$(flux resource list -s up -no "{ncores}") --setattr=system.bank=physics sleep inf)
	at $full start
	limited=$(flux submit --setattr=system.bank=physics true)
	at -m priority=0 $limited priority
	waits=$(flux submit --setattr=system.bank=chem true)
	at $waits priority
	flux jobs -f pending -no "{id} {priority} {state}" | grep $waits >kept.before
	EOF
	block "run: remove" && cat <<-\EOF
	at -m priority=16 $limited priority
	EOF
	block "run: remove the rest" && cat <<-\EOF
	xargs rm <installed
	rm "$FOLDER"/conf.d/*.toml "$FOLDER/shares.toml"
	flux config reload
	flux jobs -f pending -no "{id} {priority} {state}" | grep $waits >kept.after
	grep "weir\|job-priority" /proc/$broker/maps && false
	other=$(flux submit --setattr=system.bank=none true)
	at $other priority
	flux cancel $full
	for id in $waits $limited $other; do
	    at $id clean
	    echo "$(flux job wait-event -f json $id alloc | jq .timestamp) $id"
	done | sort -n | cut -d" " -f2 >started
	printf '%s\n' $waits $limited $other >order
	flux dmesg >log
	EOF
} >remove.sh
test_expect_success 'removal: the package goes below the running instance, which runs on and ends without an error' '
	sed -i "s/^unavail-timeout.*/unavail-timeout = \"1s\"/" copy/etc/flux/system/conf.d/weir.toml &&
	sed -i "s/^\"physics\" .*/\"physics\" = {shares = 60, running_jobs_max = 1}/" copy/etc/flux/system/shares.toml &&
	sed -n "s,^-- [^:]*: $PWD/copy,$PREFIX,p" install.log >installed && grep job-priority.so installed &&
	inside remove.sh >out 2>&1 || { cat out; false; } && cat out && test_must_fail grep "err\|crit" log
'
test_expect_success 'removal: pending jobs keep their last priorities and start by them, also what a limit held back' '
	cat kept.before && test_cmp kept.before kept.after && test_cmp order started
'
test_expect_success 'removal: the next start is that of a Flux without Weir' '
	echo "flux module list; flux run echo through" >plain.sh && inside plain.sh >out 2>&1 || { cat out; false; } && grep "^sched-simple" out &&
	grep "^through" out && test_must_fail grep "weir\|job-priority" out
'
test_done
