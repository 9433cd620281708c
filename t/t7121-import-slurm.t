#!/bin/sh
# SPDX-License-Identifier: LGPL-3.0-only
test_description='the accounts of a Slurm cluster as a share tree'

. "${SHARNESS_SH:-/usr/share/sharness/sharness.sh}"
use_weir

cat >tux.cfg <<EOF
# Written by sacctmgr dump
Cluster - 'tux':Fairshare=1:QOS='normal':MaxJobs=20
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'bio':Description='bio':Organization='bio':Fairshare=10:GrpTRES=cpu=64
Account - 'chem':Description='chem':Organization='chem':Fairshare=30
Account - 'physics':Description='phys':Organization='phys':Fairshare=60
Parent - 'bio'
User - 'gus':DefaultAccount='bio':Fairshare=1
Parent - 'chem'
User - 'carol':DefaultAccount='chem':Fairshare=1:MaxJobs=4
User - 'alice':DefaultAccount='lattice':Fairshare=3
Parent - 'physics'
Account - 'lattice':Description='lattice':Organization='phys':Fairshare=2
Account - 'astro':Description='astro':Organization='phys':Fairshare=1
Parent - 'lattice'
User - 'alice':DefaultAccount='lattice':Fairshare=1
User - 'erin':DefaultAccount='lattice':Fairshare=1
EOF
# What sshare prints for such shares: account or account/@user, NormShares.
sort >norm <<EOF
root/@root|0.009901
bio|0.099010
bio/@gus|1.000000
chem|0.297030
chem/@carol|0.250000
chem/@alice|0.750000
physics|0.594059
lattice|0.666667
lattice/@alice|0.500000
lattice/@erin|0.500000
astro|0.333333
EOF
cat >shares.toml <<EOF
"old"      = 1
"old/@gus" = 1
EOF
printf '[weir.users]\nalice = 5001\ncarol = 5002\nerin = 5003\ngus = 5004\n' >site.toml

# norm_shares FILE: the nodes of `weir share show --json`, each with its part of what the node above is entitled to.
norm_shares() {
	python3 -c '
import json, sys
nodes = {n["path"]: n for n in json.load(open(sys.argv[1]))["nodes"] if n["path"]}
for path, node in nodes.items():
    above = path.rpartition("/")[0]
    account, user = above.rpartition("/")[2] or "root", path.rpartition("/")[2]
    part = node["entitled"] / (nodes[above]["entitled"] if above else 1)
    print("%s|%.6f" % (account + "/" + user if user.startswith("@") else user, part))
' "$1" | sort
}

test_expect_success 'the tree is printed, and what is not in it is said' '
	weir import slurm tux.cfg >tux.toml 2>err && cat tux.toml err &&
	grep "^\"physics/lattice/@alice\" = { shares = 1, default = true, running_jobs_max = 20 }" tux.toml &&
	grep "^\"chem/@carol\" = { shares = 1, running_jobs_max = 4 }" tux.toml &&
	grep "^\"bio\" = { shares = 10, cores_max = 64 }" tux.toml &&
	grep "This is not in the tree:" err && grep "tux.cfg:2: QOS=.normal. of cluster tux" err && grep "tux.cfg:4: AdminLevel" err &&
	weir import slurm <tux.cfg 2>err | test_cmp tux.toml - && grep "standard input:4: AdminLevel" err &&
	weir import slurm - <tux.cfg | test_cmp tux.toml -
'
test_expect_success 'applied to an instance it has the entitlements that sshare calls NormShares' '
	start_weir --config site.toml --tree shares.toml &&
	weir import slurm tux.cfg | weir share apply --dry-run - >out && cat out && grep "lattice" out &&
	weir import slurm tux.cfg | weir share apply --yes - && weir share show --json >shown.json &&
	norm_shares shown.json | test_cmp norm -
'
test_expect_success 'jobs without an account are charged to the default account, and to the line of the user root' '
	weir submit --user alice --simulate=1000s x && weir submit --user root --simulate=1000s x &&
	FLUX_URI=local://$WEIR_RUNDIR/local-0 wait_until job-priority.usage "{}" \
		"[.nodes[] | select(.running_cores > 0).path] | contains([\"@root\", \"physics/lattice/@alice\"])" >used.json &&
	jq -c "[.nodes[] | select(.running_cores > 0).path]" used.json && stop_weir
'
test_expect_success 'a file that is no dump, or is not there, prints no tree' '
	sed "s/Parent - .bio./Parent - ghost/" tux.cfg >bad.cfg &&
	test_expect_code 7 weir import slurm bad.cfg >out 2>err && cat err && ! test -s out &&
	grep "bad.cfg:8: there is no account \"ghost\" above this line" err &&
	test_expect_code 5 weir import slurm none.cfg >out 2>err && ! test -s out && grep "none.cfg.*sacctmgr dump CLUSTER file=FILE" err &&
	test_expect_code 2 weir import slurm --json tux.cfg 2>err
'

# ---- what a slurmctld dumped and sshare printed, which is not part of the project ----

SAMPLES=${WEIR_SHARED:-$SHARNESS_TEST_SRCDIR/../../shared}/samples
test ! -d "$SAMPLES/slurm-live" || test_set_prereq SAMPLES
test_expect_success SAMPLES 'each row has the NormShares of a real slurmctld, to the last digit of sshare' '
	weir import slurm "$SAMPLES/slurm-live/sacctmgr-dump.cfg" >live.toml &&
	start_weir --tree live.toml && weir share show --json >live.json && stop_weir &&
	awk -F"|" "NR > 2 { sub(/^ */, \"\", \$1); print \$1 (\$2 == \"\" ? \"\" : \"/@\" \$2) \"|\" \$4 }" "$SAMPLES/slurm-live/sshare-alP.txt" |
		sort >want && cat want && test $(wc -l <want) = 12 && norm_shares live.json | test_cmp want -
'
test_expect_success SAMPLES 'of two other dumps one is read and one is refused' '
	weir import slurm "$SAMPLES/slurm/tux.cfg" >out && cat out && grep "^\"science/physics/@bob\" = { shares = \"parent\", running_jobs_max = 40 }" out &&
	test_expect_code 7 weir import slurm "$SAMPLES/negative/tux.bad.cfg" 2>err && grep "tux.bad.cfg:1: there is no Cluster line above \"early\"" err
'
test_done
