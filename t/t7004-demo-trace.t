#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir demo on a real workload log: KTH-SP2-1996, groups as accounts

The logs of the Parallel Workloads Archive are not part of this repository; WEIR_SHARED names a folder that holds them in
traces/ (default: ../shared beside the source).'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

LOG=${WEIR_SHARED:-$SHARNESS_TEST_SRCDIR/../../shared}/traces/KTH-SP2-1996.swf.gz
if ! test -r "$LOG"; then
	skip_all="no KTH-SP2-1996.swf.gz: set WEIR_SHARED to a folder with traces/"
	test_done
fi

test_expect_success 'the first 600 jobs of KTH-SP2-1996 hold the checks' '
	weir demo --trace "$LOG" --jobs 600 --seconds 30 --dir "$(pwd)/demo" >out && cat out &&
	grep "KTH-SP2-1996.swf.gz, first 600 jobs" out && grep "600 submitted, 600 ended at the parent, 600 ran" out
'
test_expect_success 'groups are accounts, users are users, sizes are the log'"'"'s' '
	python3 - "$LOG" <<-EOF
	import csv, gzip, sys
	log = [l.split() for l in gzip.open(sys.argv[1], "rt") if not l.startswith(";")][:600]
	mine = sorted((int(r["cores"]), r["user"], r["account"]) for r in csv.DictReader(open("demo/jobs.csv")))
	assert mine == sorted((int(l[4]), "u" + l[11], "g" + l[12]) for l in log)
	EOF
'
test_expect_success 'a log that does not exist and one that is none are refused' '
	test_must_fail weir demo --trace nowhere.swf 2>err && grep nowhere.swf err &&
	echo "hello world" >words.swf && test_must_fail weir demo --trace words.swf 2>err && grep words.swf err
'

test_done
