#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='weir sim over partitions that take the jobs of accounts and users'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
PATH=$WEIR_BUILD_DIR/bin:$PATH

# Jobs at once, of 100 s on 4 cores: user 1 of group 1, user 2 of group 2, user 3 of group 2.
{
	echo "; MaxProcs: 8"
	echo "1 0 -1 100 4 -1 -1 4 100 -1 1 1 1 -1 1 -1 -1 -1"
	echo "2 0 -1 100 4 -1 -1 4 100 -1 1 2 2 -1 1 -1 -1 -1"
	echo "3 0 -1 100 4 -1 -1 4 100 -1 1 3 2 -1 1 -1 -1 -1"
} >jobs.swf
# site RULE [LINES]: left takes what the rule says, right takes all
site() {
	cat <<-EOF
	$2
	[[partition]]
	name = "left"
	queues = ["batch"]
	cores = 4
	takes = { $1 }
	[[partition]]
	name = "right"
	queues = ["batch"]
	cores = 4
	EOF
}
# starts FILE RIGHT: the replay starts these jobs; the first column is the job, the second its start
starts() {
	weir sim run -q -p "$1" --starts=got jobs.swf && printf "job,start\n$2" >expected && test_cmp expected got
}

test_expect_success 'an account is the group of the log' '
	site "accounts = [\"g1\"]" >one.toml && starts one.toml "1,0\n2,0\n3,100\n" &&
	site "accounts = [\"g2\"]" >two.toml && starts two.toml "1,0\n2,0\n3,100\n" &&
	site "accounts = [\"none\"]" >none.toml && starts none.toml "1,0\n2,100\n3,200\n"
'
test_expect_success 'with a share tree an account is the one that is charged, with those above it' '
	printf "\"science\" = 1\n\"science/g1\" = 1\n\"science/g1/@u1\" = 1\n\"other\" = 1\n\"other/@u2\" = 1\n\"other/@u3\" = 1\n" >shares.toml &&
	weir_table="[weir]\npolicy = \"fcfs\"\nshare-tree = \"shares.toml\"" &&
	site "accounts = [\"science\"]" "$(printf "$weir_table")" >science.toml && starts science.toml "1,0\n2,0\n3,100\n" &&
	site "accounts = [\"other\"]" "$(printf "$weir_table")" >other.toml && starts other.toml "1,0\n2,0\n3,100\n" &&
	sed "s/^\([0-9] .* [0-9]\) [0-9] -1 1 -1 -1 -1$/\1 -1 -1 1 -1 -1 -1/" jobs.swf >none.swf && cat none.swf &&
	weir sim run -q -p science.toml --starts=got none.swf && printf "job,start\n1,0\n2,0\n3,100\n" >expected && test_cmp expected got &&
	weir sim run -q -p other.toml --starts=got none.swf && test_cmp expected got &&
	site "accounts = [\"g2\"]" "$(printf "$weir_table")" >no.toml && starts no.toml "1,0\n2,100\n3,200\n"
'
test_expect_success 'users are numbers of the log, or have names by [weir.users]' '
	site "users = [\"3\"]" >three.toml && starts three.toml "1,0\n2,100\n3,0\n" &&
	site "users = [\"carol\"]" "$(printf "[weir.users]\ncarol = 3")" >carol.toml && starts carol.toml "1,0\n2,100\n3,0\n" &&
	weir sim compare three.toml one.toml --trace=jobs.swf --json >out.json &&
	jq -e "[.policies[].settings.partitions.partition[0].takes] == [{users: [\"3\"]}, {accounts: [\"g1\"]}]" out.json
'
test_expect_success 'a rule of which a log does not tell is refused' '
	site "qos = [\"high\"]" >qos.toml && test_expect_code 2 weir sim run -p qos.toml jobs.swf 2>err && cat err &&
	grep "qos.toml:6: .partition left. takes: only rules by duration, cores, account and user are replayed" err
'
test_done
