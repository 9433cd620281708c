#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the page in cmd/page/built is what its sources give'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"

PAGE=$(cd "$SHARNESS_TEST_SRCDIR/../cmd/page" && pwd)

# Node 20 or newer and the packages of the lock file; nothing of the packages runs while they are installed.
skip_without() {
	skip_all="$1: the page cannot be built here"
	test_done
}
command -v npm >/dev/null && command -v node >/dev/null || skip_without "no npm"
test "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 || skip_without "node is older than 20"
cp -r "$PAGE/src" "$PAGE/index.html" "$PAGE/vite.config.js" "$PAGE/package.json" "$PAGE/package-lock.json" . || exit 1
# A lock file that does not fit is a failure, and no reason to skip.
timeout 120 npm ci --ignore-scripts --no-audit --no-fund >npm.out 2>&1 || grep -q "code EUSAGE" npm.out ||
	skip_without "npm does not get the packages"

test_expect_success 'npm ci takes the lock file: it has every package, also those for other systems' '
	cat npm.out && test_expect_code 1 grep "code EUSAGE" npm.out
'
test_expect_success 'it builds' '
	WEIR_PAGE_BUILT=$PWD/new npm run build >build.out 2>&1 || { cat build.out; false; }
'
for file in index.html page.css page.js; do
	test_expect_success "$file is the one that is committed" '
		gzip -dc "new/$file.gz" >new.txt && gzip -dc "$PAGE/built/$file.gz" >old.txt && cmp new.txt old.txt
	'
done
test_expect_success 'the committed page is small: at most 100 kB to fetch' '
	test "$(cat "$PAGE"/built/*.gz | wc -c)" -le 100000
'

test_done
