#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='flux-accounting: the share tree as tables for flux account pop-db, and back'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >shares.toml <<EOF
"physics" = 60
"physics/lattice" = 2
"physics/lattice/@alice" = { shares = 3, running_jobs_max = 4 }
"physics/lattice/@root" = 1
"chem" = 40
"chem/@carol" = 1
"chem/@alice" = { shares = 1, default = true, cores_max = 12 }
EOF

test_expect_success 'export writes a table of banks and one of associations' '
	printf "[weir.users]\nalice = 5001\n" >site.toml && start_weir --config site.toml --tree shares.toml && weir export flux-accounting tables >out 2>err && cat out err &&
	printf "%s\n" tables/bank_table.csv tables/association_table.csv >want && test_cmp want out &&
	printf "%s\n" bank,parent_bank,shares root,,1 physics,root,60 lattice,physics,2 chem,root,40 >want &&
	test_cmp want tables/bank_table.csv &&
	grep "^0,root,0,lattice,lattice,1,2147483647,2147483647,2147483647,2147483647$" tables/association_table.csv &&
	grep "^0,alice,5001,lattice,chem,3,4,2147483647,2147483647,2147483647$" tables/association_table.csv
'
test_expect_success 'import of them is an equal tree: applying it would change nothing' '
	weir import flux-accounting tables >back.toml && cat back.toml && test_cmp shares.toml back.toml &&
	weir share apply --dry-run back.toml >out && cat out
'
test_expect_success 'what flux-accounting cannot hold is said' '
	cp shares.toml more.toml && printf "\"bio\" = { shares = 1, cores_max = 8 }\n\"bio/@*\" = 1\n" >>more.toml &&
	weir share apply --yes more.toml && weir export flux-accounting tables 2>err && cat err &&
	grep "bio/@\*: flux-accounting has banks and users, no such line" err && grep "bio: cores_max, which" err
'
test_expect_success 'a default bank survives import, apply and export, whatever the order of rows' '
	mkdir -p late && printf "%s\n" bank,parent_bank,shares root,,1 A,root,1 C,root,10 >late/bank_table.csv &&
	printf "%s\n" username,userid,bank,default_bank,shares root,0,C,C,1 root,0,A,C,1 >late/association_table.csv &&
	weir import flux-accounting late >late.toml && cat late.toml &&
	grep "^\"C/@root\" = {.*default = true" late.toml &&
	weir share apply --yes late.toml && weir export flux-accounting late && cat late/association_table.csv &&
	test "$(grep -c "^0,root,0,[AC],C," late/association_table.csv)" = 2
'
test_expect_success 'a table that cannot be replaced leaves both as they were, and the reason is said' '
	mkdir -p half/association_table.csv && echo older >half/bank_table.csv &&
	test_expect_code 1 weir export flux-accounting half 2>err && cat err &&
	grep "half/association_table.csv: cannot write: Is a directory" err &&
	echo older >want && test_cmp want half/bank_table.csv && ls half >got &&
	printf "%s\n" association_table.csv bank_table.csv >want && test_cmp want got &&
	test_expect_code 1 weir export flux-accounting err/below 2>out && cat out && grep "err/below: Not a directory" out
'
test_expect_success 'two accounts of one name are refused, and no table is written' '
	printf "\"bio/chem\" = 1\n" >>more.toml && weir share apply --yes more.toml &&
	test_expect_code 1 weir export flux-accounting none 2>err && grep "more than one would be called chem" err &&
	test ! -e none
'
test_expect_success 'tables that are not there, or are none, change nothing' '
	test_expect_code 5 weir import flux-accounting none 2>err && grep "flux account export-db" err &&
	echo "bank" >tables/bank_table.csv &&
	test_expect_code 7 weir import flux-accounting tables 2>err && grep "no column \"parent_bank\"" err &&
	printf "%s\n" bank,parent_bank,shares root,,1 A,root,1 >tables/bank_table.csv &&
	printf "%s\n" username,bank al,A bo,A al,A >tables/association_table.csv &&
	test_expect_code 7 weir import flux-accounting tables 2>err && cat err &&
	grep "association_table.csv, line 4: @al of bank \"A\" is on line 2, too" err
'
test_done
