#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""Writes the oracle files that this project made itself, from the formulas that the systems' manuals print.

    t/oracle/examples.py            writes them below t/oracle/files
    t/oracle/examples.py --check    says which differ from what is there (ctest runs this)

The arithmetic here is its own, in fractions where it can be; nothing of the libraries is used. What a manual prints as a
number is typed in as printed, with the tolerance of its last digit.
"""
import json
import random
import sys
from fractions import Fraction
from pathlib import Path

FILES = Path(__file__).resolve().parent / "files"
COMMAND = "t/oracle/examples.py"


def case(name, source, inputs, expected, tol=1e-9, certainty="derived"):
    return {"id": name, "source": source, "certainty": certainty, "inputs": inputs, "expected": expected, "tol": tol}


# LSF: the dynamic user priority with every term that the manual names.

LSF = "IBM LSF 10.1, dynamic user priority and lsb.params; times in hours"


def lsf_divisor(use, factor):
    outstanding = use["committed_run_time"] - use["run_time"] if use["committed_run_time"] > 0 else 0
    return (use["cpu_time"] * factor["CPU_TIME_FACTOR"]
            + (use["hist_run_time"] + use["run_time"]) * factor["RUN_TIME_FACTOR"]
            + outstanding * factor["COMMITTED_RUN_TIME_FACTOR"]
            + (1 + use["job_slots"]) * factor["RUN_JOB_FACTOR"]
            + (1 + use["fwd_job_slots"]) * factor["FWD_JOB_FACTOR"]
            + use["fairshare_adjustment"] * factor["FAIRSHARE_ADJUSTMENT_FACTOR"]
            + (use["hist_gpu_run_time"] + use["gpu_run_time"]) * use["ngpus_physical"] * factor["GPU_RUN_TIME_FACTOR"]
            + use["remote_fairshare_load"])


def lsf_cases():
    dice = random.Random(204)
    cases = []
    for i in range(8):
        run = Fraction(dice.randrange(0, 900000), 1000)
        use = {"cpu_time": Fraction(dice.randrange(0, 900000), 1000), "run_time": run,
               "hist_run_time": Fraction(dice.randrange(0, 900000), 1000),
               "committed_run_time": run + Fraction(dice.randrange(1, 900000), 1000),
               "job_slots": dice.randrange(0, 2000), "fwd_job_slots": dice.randrange(0, 50),
               "fairshare_adjustment": Fraction(dice.randrange(0, 9000), 1000),
               "gpu_run_time": Fraction(dice.randrange(0, 90000), 1000),
               "hist_gpu_run_time": Fraction(dice.randrange(0, 90000), 1000), "ngpus_physical": dice.randrange(1, 9),
               "remote_fairshare_load": Fraction(dice.randrange(0, 9000), 1000)}
        factor = {name: Fraction(dice.randrange(1, 4000), 1000) for name in
                  ("CPU_TIME_FACTOR", "RUN_TIME_FACTOR", "RUN_JOB_FACTOR", "FWD_JOB_FACTOR",
                   "FAIRSHARE_ADJUSTMENT_FACTOR", "GPU_RUN_TIME_FACTOR")}
        factor["COMMITTED_RUN_TIME_FACTOR"] = Fraction(dice.randrange(0, 1000), 1000)
        shares = dice.randrange(1, 5000)
        divisor = lsf_divisor(use, factor)
        words = spelled(use, i % 2 == 1) | {name: float(value) for name, value in factor.items()}
        cases.append(case(f"lsf-all-terms-{i}", LSF, {"shares": shares} | words,
                          {"denominator": float(divisor), "priority": float(shares / divisor)}))
    cases.append(case("lsf-decayed-hours", "IBM LSF, HIST_HOURS: an hour counts a tenth after HIST_HOURS; 5 + 7 + 3",
                      {"shares": 30, "cpu_time_h": 50, "hist_run_time_h": 70, "elapsed_h": 5, "HIST_HOURS": 5,
                       "CPU_TIME_FACTOR": 1, "RUN_TIME_FACTOR": 1}, {"denominator": 15, "priority": 2}))
    for run in (0, 1, 4):
        cases.append(case(f"lsf-committed-from-dispatch-{run}h", "IBM LSF, committed run time: a job of five hours weighs "
                          "the same from its dispatch on", {"shares": 10, "run_time_s": 3600 * run,
                          "committed_run_time_min": 300, "CPU_TIME_FACTOR": 0, "RUN_JOB_FACTOR": 0, "RUN_TIME_FACTOR": 1,
                          "COMMITTED_RUN_TIME_FACTOR": 1}, {"denominator": 5, "priority": 2}, 1e-12))
    shares = "IBM LSF, USER_SHARES: only the ratios matter; default is each user who is not named"
    cases.append(case("lsf-user-shares", shares, {"assign": [["a", 10], ["b", 9], ["c", 8]]},
                      {"fractions": {"a": 10 / 27, "b": 9 / 27, "c": 8 / 27}}, 1e-12))
    cases.append(case("lsf-user-shares-default", shares, {"assign": [["a", 10], ["b", 6], ["default", 4]], "users": 12},
                      {"fractions": {"a": 10 / 56, "b": 6 / 56, "default": 4 / 56}}, 1e-12))
    return cases


def spelled(use, in_short):
    """The same use by the manual's names with the unit behind them, or in short."""
    short = {"cpu_time": "cpu_h", "run_time": "run_h", "hist_run_time": "hist_h", "committed_run_time": "com_h",
             "job_slots": "slots", "fwd_job_slots": "fwd_slots", "fairshare_adjustment": "adj", "gpu_run_time": "gpu_h",
             "hist_gpu_run_time": "hist_gpu_h", "ngpus_physical": "ngpus", "remote_fairshare_load": "remote_load"}
    long = {name: name + "_h" if "time" in name else name for name in use}
    return {(short if in_short else long)[name]: float(value) for name, value in use.items()}


# HTCondor: group quotas. The manual's groups; every number worked out by hand.

CONDOR = "HTCondor manual, user priorities and negotiation, group accounting"


def condor_cases():
    static = {"group_physics": 20, "group_physics.hep": 15, "group_physics.lep": 5, "group_chemistry": 10}
    dynamic = {"group_chemistry": 0.25, "group_physics": 0.75, "group_physics.hep": 0.75, "group_physics.lep": 0.25}
    cases = [
        case("condor-static", CONDOR, {"quota": static, "slots": 30}, {"effective": static}),
        case("condor-static-half", CONDOR + ": a power failure leaves fifteen slots",
             {"quota": static, "slots": 15, "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION": False},
             {"effective": {"group_physics": 10, "group_physics.hep": 7.5, "group_physics.lep": 2.5,
                            "group_chemistry": 5}}),
        case("condor-dynamic", CONDOR + ": a subgroup's part is one of its parent's", {"quota_dynamic": dynamic, "slots": 80},
             {"effective": {"group_chemistry": 20, "group_physics": 60, "group_physics.hep": 45, "group_physics.lep": 15}}),
        case("condor-dynamic-knobs", CONDOR, {"slots": 30, "GROUP_QUOTA_DYNAMIC_group_chemistry": 0.5,
             "GROUP_QUOTA_DYNAMIC_group_physics": 1.5}, {"effective": {"group_chemistry": 7.5, "group_physics": 22.5}}),
        case("condor-static-before-dynamic", CONDOR, {"quota": {"a": 10}, "GROUP_QUOTA_DYNAMIC": {"b": 0.5, "c": 0.25},
             "slots": 50}, {"effective": {"a": 10, "b": 20, "c": 10}}),
    ]
    cases.append(case("condor-nested", CONDOR, {"groups": {"physics": {"dynamic": 0.5, "children": {"hep": {"dynamic": 0.75},
                      "lep": {"dynamic": 0.25}}}, "chemistry": {"quota": 20}}, "slots": 100},
                      {"effective": {"physics": 40, "physics.hep": 30, "physics.lep": 10, "chemistry": 20}}))
    lines = ("GROUP_NAMES = group_physics, group_physics.hep, group_physics.lep, group_chemistry\n"
             "GROUP_QUOTA_group_physics = 20\nGROUP_QUOTA_group_physics.hep = 15\nGROUP_QUOTA_group_physics.lep = 5\n"
             "GROUP_QUOTA_group_chemistry = 10\nGROUP_ACCEPT_SURPLUS = false\nGROUP_ACCEPT_SURPLUS_group_physics = {}\n"
             "GROUP_ACCEPT_SURPLUS_group_physics.lep = true\nGROUP_ACCEPT_SURPLUS_group_physics.hep = true\n")
    demand = {"group_physics.hep": 60, "group_physics.lep": 1, "group_chemistry": 4}
    for accepts, hep, left in (("false", 19, 6), ("true", 25, 0)):
        cases.append(case(f"condor-surplus-physics-{accepts}", CONDOR + ": lep leaves four, chemistry six",
                          {"config": lines.format(accepts), "demand": demand, "slots": 30},
                          {"allocated": {"group_physics": hep + 1, "group_physics.hep": hep, "group_physics.lep": 1,
                                         "group_chemistry": 4}, "left": left}))
    cases.append(case("condor-surplus-by-quota", CONDOR + ": who competes for surplus gets it by quota",
                      {"quota": {"a": 30, "b": 10, "c": 40}, "accept_surplus": True, "demand": {"a": 100, "b": 100, "c": 0},
                       "slots": 80}, {"allocated": {"a": 60, "b": 20, "c": 0}, "surplus": 0}))
    cases.append(case("condor-no-surplus", CONDOR + ": GROUP_ACCEPT_SURPLUS is false by default",
                      {"quota": {"a": 30, "b": 50}, "demand": {"a": 100, "b": 20}, "slots": 80},
                      {"allocated": {"a": 30, "b": 20}, "surplus": 30}))
    cases.append(case("condor-autoregroup", CONDOR + ": GROUP_AUTOREGROUP: what is left is dealt out in the root, by "
                      "priority", {"quota": {"a": 10, "b": 10, "c": 10}, "autoregroup": ["a", "b"],
                      "eup": {"a": 1, "b": 3, "c": 1}, "demand": {"a": 50, "b": 50, "c": 2}, "slots": 42},
                      {"allocated": {"a": 25, "b": 15, "c": 2}, "surplus": 0}))
    cases.append(case("condor-newcomer", "HTCondor manual: b = 2^-(48 h / 24 h) = 1/4; 0.5/4 + 100 * 3/4",
                      {"rup0": 0.5, "used": 100, "hours": 48}, {"rup": 75.125, "newcomer_ratio": 150.25}))
    return cases


# OpenPBS: what pbsfs(8) prints.

def openpbs_cases():
    source = "OpenPBS, pbsfs(8), examples"
    group = [["group1", 10, "root", 40], ["group2", 20, "root", 60], ["pbsuser", 11, "group1", 50],
             ["pbsuser1", 12, "group1", 50], ["pbsuser2", 21, "group2", 60], ["pbsuser3", 22, "group2", 40]]
    usage = {"pbsuser": 100, "pbsuser1": 100, "pbsuser2": 1, "pbsuser3": 1000}
    inputs = {"resource_group": group, "unknown_shares": 0, "usage": usage}
    lines = "# name\tcgroup\tparent\tshares\n" + "".join("\t".join(map(str, line)) + "\n" for line in group)
    return [
        case("pbsfs-tree", source + ": pbsfs -p", inputs,
             {"usage": {"TREEROOT": 1201, "group1": 201, "group2": 1001, "pbsuser": 100, "pbsuser1": 100, "pbsuser2": 1,
                        "pbsuser3": 1000, "unknown": 1},
              "perc": {"TREEROOT": 100, "group1": 40, "group2": 60, "pbsuser": 20, "pbsuser1": 20, "pbsuser2": 36,
                       "pbsuser3": 24, "unknown": 0}}, 5e-4, "certain"),
        case("pbsfs-entity", source + ": pbsfs -g pbsuser3", inputs | {"entity": "pbsuser3"},
             {"fairshare_tree_usage": 0.832973, "perc": 24}, 5e-7, "certain"),
        case("pbsfs-path", source + ": pbsfs -g pbsuser3, usage / perc without decimals",
             inputs | {"resource_group": lines},
             {"usage_perc": {"TREEROOT": 1201, "group2": 1668, "pbsuser3": 4167},
              "path": [["TREEROOT", 1201, 1.0, 1201], ["group2", 1001, 0.6, 1668], ["pbsuser3", 1000, 0.24, 4167]]}, 0.5,
             "certain"),
        case("pbsfs-compare", source + ": pbsfs -c pbsuser pbsuser3: group1 stands at 201/0.4, group2 at 1001/0.6",
             inputs | {"compare": ["pbsuser3", "pbsuser"]},
             {"first": "pbsuser", "order": ["pbsuser", "pbsuser2", "pbsuser3", "unknown"]}, 0),
        case("pbs-no-percentage", "OpenPBS, fairshare: who has no percentage of the tree comes last, and all who have none "
             "are equal; a percentage is the product down from the root",
             {"resource_group": [["group1", 10, "root", 0], ["group2", 20, "root", 60], ["user1", 11, "group1", 10],
                                 ["user2", 12, "group1", 90], ["user3", 13, "group1", 0], ["user4", 21, "group2", 1]],
              "unknown_shares": 0, "usage": {"user1": 500, "user2": 20, "user3": 1, "user4": 9000}},
             {"perc": {"user1": 0, "user2": 0, "user3": 0, "user4": 100},
              "pairwise": {"user1|user2": 0, "user2|user3": 0, "user3|user1": 0, "user1|unknown": 0, "user4|user3": -1,
                           "user2|user4": 1}}, 1e-12),
    ]


# Maui: processor-equivalents.

def maui_cases():
    source = "Maui admin guide, processor equivalent: max of the parts of processors, memory, disk and swap, as processors"
    return [
        case("maui-pe-memory", source, {"nodes": 100, "procs_per_node": 4, "mem_per_node_mb": 1024, "procs": 2,
             "mem_mb": 768}, {"PE": 3}, 1e-12, "certain"),
        case("maui-pe-half", source, {"procs_fraction": 0.2, "mem_fraction": 0.5, "total_procs": 128}, {"PE": 64}, 1e-12,
             "certain"),
        case("maui-pe-per-node", source, {"job": {"procs": 2, "mem": 768}, "node": {"procs": 4, "mem": 1024}, "nodes": 100},
             {"PE": 3}, 1e-12, "certain"),
        case("maui-pe-pairs", source, {"procs": [32, 128], "mem": [512, 1024]}, {"PE": 64}, 1e-12),
        case("maui-pe-grouped", source, {"requested": {"procs": 16, "mem_gb": 8, "disk": 30, "swap": 0},
             "total": {"procs": 64, "mem_mb": 65536, "disk": 100, "swap": 10}}, {"processor_equivalents": 19.2}, 1e-12),
        case("maui-pe-charged", source + "; FSPOLICY DEDICATEDPES", {"procs": 2, "mem_mb": 768, "total_procs": 400,
             "total_mem_gb": 100, "minutes": 10}, {"PE": 3, "DEDICATEDPES": 1800, "DEDICATEDPS": 1200}, 1e-9),
    ]


# flux-accounting: a bank with users and banks side by side.

def flux_ranks(tree, counts):
    """Ranks by rational weights; counts(child, siblings) says who is looked at. No ties between banks in these trees."""
    def children(node):
        siblings = [c for c in node.get("children", []) if c.get("active", 1)]
        return [c for c in siblings if counts(c, siblings)]

    def used(node):
        return node["usage"] if "user" in node else sum(used(c) for c in children(node))

    order = []

    def walk(node):
        below = children(node)
        shares, usage = sum(c["shares"] for c in below), sum(used(c) for c in below)

        def weight(c):
            if c["shares"] == 0:
                return Fraction(0)
            return Fraction(c["shares"], shares) / Fraction(used(c), usage) if used(c) else Fraction(2) ** 64
        groups = {}
        for c in below:
            groups.setdefault((-weight(c), "user" not in c), []).append(c)
        for key in sorted(groups):
            if key[1]:
                assert len(groups[key]) == 1, "tied banks"
                walk(groups[key][0])
            else:
                order.append([(node["bank"], c["user"]) for c in groups[key]])
    walk(tree)
    total = sum(len(tied) for tied in order)
    rank, rows = total, []
    for tied in order:
        rows += [{"bank": b, "user": u, "rank": rank, "fairshare": float(Fraction(rank, total))} for b, u in tied]
        rank -= len(tied)
    return rows


def flux_document(name, by_program):
    tree = {"bank": "root", "shares": 1, "children": [
        {"bank": "A", "shares": 4, "children": [
            {"user": "a1", "shares": 1, "usage": 90}, {"user": "a2", "shares": 3, "usage": 0},
            {"bank": "AA", "shares": 2, "children": [{"user": "x", "shares": 1, "usage": 40},
                                                     {"user": "y", "shares": 2, "usage": 80}]},
            {"bank": "AB", "shares": 1, "children": [{"user": "x", "shares": 1, "usage": 10}]}]},
        {"bank": "B", "shares": 5, "children": [{"user": "b1", "shares": 1, "usage": 100},
                                                {"user": "b2", "shares": 7, "usage": 110, "active": 0}]},
        {"bank": "C", "shares": 1, "active": 0, "children": [{"user": "c1", "shares": 1, "usage": 1}]}]}
    beside = [("A", "a1"), ("A", "a2")] if by_program else []
    rows = flux_ranks(tree, lambda c, s: not by_program or "user" not in c or all("user" in other for other in s))
    return {"name": name, "kind": "documented" if by_program else "documented-library-only",
            "source": f"{COMMAND}: weighted walk in fractions; users of a bank that has sub-banks are "
                      + ("left out with their usage, as flux-account-update-fshare does" if by_program
                         else "siblings of the banks, as in the library"),
            "n_ranked": len(rows), "tree": tree, "expected": rows,
            "not_ranked": [{"bank": b, "user": u} for b, u in beside + [("B", "b2"), ("C", "c1")]]}


# Slurm: passes over running jobs, in the form in which scontrol of 26.11 describes jobs.

def slurm_stamp(seconds):
    minutes, seconds = divmod(seconds, 60)
    return f"2026-11-21T09:{minutes:02d}:{seconds:02d}"


class SlurmPasses:
    """Charges as slurmctld logs them: a slice of d seconds counts d * k^d * cost, with k = 1 - 0.693/half-life."""
    START, HALF_LIFE = 1795251600, 300  # 2026-11-21T09:00:00 UTC
    USERS = {"u1": "a", "u2": "a", "u3": "b"}
    ASSOCIATIONS = {"root": 1, "a": 3, "b": 4, "u1": 5, "u2": 6, "u3": 7}

    def __init__(self):
        self.k = 1 - 0.693 / self.HALF_LIFE
        self.usage = {name: 0.0 for name in self.ASSOCIATIONS}
        self.events, self.snapshots = [], []

    def event(self, t, kind, **fields):
        self.events.append({"t": slurm_stamp(t) + ".250", "type": kind} | fields)

    def slice(self, t, job, seconds):
        self.event(t, "job_slice", job_id=job["job_id"], seconds=float(seconds))
        decayed = seconds * self.k ** seconds * job["factor"]
        user = job["user"]
        for name in (user, self.USERS[user], "root"):
            self.usage[name] += decayed * job["cost"]
            self.event(t, "add", assoc_id=self.ASSOCIATIONS[name], account="root" if name == "root" else self.USERS[user],
                       user=user if name == user else None, added=round(decayed * job["cost"], 6),
                       raw_usage_now=round(self.usage[name], 6), wall_added=round(decayed, 6))

    def decay(self, t, elapsed):
        factor = self.k ** elapsed
        self.event(t, "decay", elapsed=float(elapsed), per_second=self.k, factor=factor)
        self.usage = {name: value * factor for name, value in self.usage.items()}

    def snapshot(self, t, shares):
        total, rows = self.usage["root"], []
        level = {}

        def row(name, parent, is_user, siblings, above):
            norm = shares[name] / sum(shares[s] for s in siblings)
            effective = self.usage.get(name, 0.0) / above if above else 0.0
            level[name] = norm / effective if effective else float("inf")
            rows.append({"id": self.ASSOCIATIONS.get(name, 2), "name": name.split(":")[-1], "parent": parent,
                         "is_user": is_user, "raw_shares": shares[name], "norm_shares": norm,
                         "raw_usage": int(self.usage.get(name, 0.0)),
                         "norm_usage": self.usage.get(name, 0.0) / total if total else 0.0, "effectv_usage": effective,
                         "level_fs": level[name] if effective else "inf"})
            return rows[-1]
        top = ["root:root", "a", "b"]
        users = {"a": ["u1", "u2"], "b": ["u3"]}
        made = {name: row(name, "root", 1 if ":" in name else 0, top, total) for name in top}
        for account, members in users.items():
            made |= {user: row(user, account, 1, members, self.usage[account]) for user in members}
        order = []
        for name in sorted(top, key=lambda n: -level[n]):
            order += sorted(users[name], key=lambda n: -level[n]) if name in users else [name]
        for name in made:
            made[name]["fs_factor"] = (len(order) - order.index(name)) / len(order) if name in order else 0
        rows.insert(0, {"id": 1, "name": "root", "parent": "", "is_user": 0, "raw_shares": None, "raw_usage": int(total)})
        self.snapshots.append({"pass_time": self.START + t, "shares": rows})


def slurm_accrual():
    passes = SlurmPasses()
    cpu = {1: 4, 2: 8, 3: 1}
    jobs = [{"job_id": 1, "user": "u1", "start": 7, "end": 107, "cost": 2.0 * 4 + 0.5 * 4000 / 1024, "factor": 1,
             "QOS": "normal", "mem": "4000M"},
            {"job_id": 2, "user": "u2", "start": 10, "end": 80, "cost": 2.0 * 8 + 0.5 * 1000 / 1024, "factor": 0.5,
             "QOS": "half", "mem": "1000M"},
            {"job_id": 3, "user": "u3", "start": 20, "end": 150, "cost": 2.0 * 1 + 0.5 * 100 / 1024, "factor": 2,
             "QOS": "dbl", "mem": "100M"}]
    shares = {"root:root": 1, "a": 40, "b": 60, "u1": 1, "u2": 3, "u3": 1}
    moments = sorted([(t, 0, None) for t in (60, 120, 180)] + [(job["end"], 1, job) for job in jobs], key=lambda m: m[:2])
    last = 0
    for t, _, ended in moments:
        if ended:
            passes.event(t, "job_end", job_id=ended["job_id"])
            passes.slice(t, ended, t - max(last, ended["start"]))
            continue
        passes.decay(t, t - last)
        for job in jobs:
            if job["start"] < t < job["end"]:
                passes.slice(t, job, t - max(last, job["start"]))
        passes.snapshot(t, shares)
        last = t
    return {
        "source": f"{COMMAND}: slurm.conf(5) and priority/multifactor: decay, then one slice a running job, and a last one "
                  "at its end where limits are enforced; jobs as scontrol of 26.11 shows them (AllocTRES)",
        "slurm_conf": "PriorityDecayHalfLife=00:05:00\nPriorityCalcPeriod=1\nAccountingStorageEnforce=associations,limits\n",
        "partitions": "PartitionName=p Nodes=ALL TRESBillingWeights=\"CPU=2.0,Mem=0.5G\"",
        "qos_usage_factor": {"normal": 1, "half": 0.5, "dbl": 2},
        "tree": [{"type": "account", "name": "a", "parent": "root", "shares": 40},
                 {"type": "account", "name": "b", "parent": "root", "shares": 60},
                 {"type": "user", "name": "u1", "account": "a", "shares": 1, "usage": 0},
                 {"type": "user", "name": "u2", "account": "a", "shares": 3, "usage": 0},
                 {"type": "user", "name": "u3", "account": "b", "shares": 1, "usage": 0}],
        "jobs": [{"job_id": job["job_id"], "user": job["user"], "Partition": "p", "QOS": job["QOS"],
                  "StartTime": slurm_stamp(job["start"]), "EndTime": slurm_stamp(job["end"]), "TRES": None,
                  "ReqTRES": f"cpu={cpu[job['job_id']]},node=1",
                  "AllocTRES": f"cpu={cpu[job['job_id']]},mem={job['mem']},node=1,billing={int(job['cost'])}"}
                 for job in jobs],
        "events": passes.events, "snapshots": passes.snapshots}


def slurm_held():
    """A job held at submission, released later; age counts from when it is eligible, or from submission (ACCRUE_ALWAYS)."""
    start, variants = 1795251600, {}
    weight, release, lag = 1000, 45, 1  # points a second; the controller carries the release out a second later
    for name, conf, since, noted_late in (("not_enforced", "AccountingStorageEnforce=associations\n", release + lag, False),
                                          ("noted_late", "AccountingStorageEnforce=associations\n", release + lag, True),
                                          ("limits", "AccountingStorageEnforce=associations,limits\n", release + lag, False),
                                          ("always", "PriorityFlags=ACCRUE_ALWAYS\n", 1, False)):
        snapshots = []
        for label, t, done in (("held", 20, 0), ("released", 70, 60), ("later", 130, 120), ("much later", 190, 180)):
            is_held = t < release
            unseen = noted_late and label == "released"  # the scheduler noted it after the pass
            age = max(done - since, 0) * weight
            accrues = not is_held or name == "always"
            told = {"key": "held_submit", "Priority": str(0 if is_held else max(0 if unseen else age, 1)),
                    "Reason": "JobHeldUser" if is_held else "PartitionDown", "SubmitTime": slurm_stamp(1),
                    "EligibleTime": "Unknown" if is_held else slurm_stamp(release + lag),
                    "AccrueTime": slurm_stamp(since) if accrues else "Unknown", "JobState": "PENDING",
                    "ArrayTaskId": None}
            snapshots.append({"label": label, "t": t, "pass_time": start + done, "pass_t": done, "jobs": [told],
                              "sprio_age": {} if is_held else {"held_submit": 0 if unseen else age}})
        variants[name] = {"conf": "PriorityWeightAge=600000\nPriorityMaxAge=10\n" + conf, "limits": None, "T0": start,
                          "actions": [{"t": 0, "what": "submit held_submit --hold"},
                                      {"t": release, "what": "scontrol release {held_submit}"}], "snapshots": snapshots}
    return {"source": f"{COMMAND}: slurm.conf(5), PriorityFlags and PriorityMaxAge: a held job does not age; 600000 points in "
                      "ten minutes are 1000 a second", "variants": variants}


def slurm_live():
    """The half-life is changed while two users' usage decays: the next pass uses the new one for all that elapsed."""
    usage, start = {"u1": 4000000.0, "u2": 1000000.0}, 1795251600
    steps = []

    def sshare(step, passed):
        total = sum(usage.values())
        lines = ["Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS",
                 f"root|||0.000000|{int(total)}||1.000000||", " root|root|1|0.500000|0|0.000000|0.000000|1.000000|inf",
                 f" a||1|0.500000|{int(total)}|1.000000|1.000000||0.500000"]
        for user, rank in (("u1", 1), ("u2", 2)):
            part = usage[user] / total
            lines.append(f"  a|{user}|1|0.500000|{int(usage[user])}|{part:.6f}|{part:.6f}|{rank / 3:.6f}|{0.5 / part:.6f}")
        steps.append({"step": step, "pass_time": start + passed, "sshare": lines})

    sshare("start", 0)
    last = 0
    for step, passed, half_life in (("PriorityWeightFairshare 1000 -> 5000", 60, 7 * 86400),
                                    ("PriorityDecayHalfLife 7-0 -> 01:00:00", 120, 3600),
                                    ("PriorityDecayHalfLife 01:00:00 -> 00:05:00", 180, 300)):
        for user in usage:
            usage[user] *= (1 - 0.693 / half_life) ** (passed - last)
        last = passed
        sshare(f"{step} : after the next pass", passed)
    return {"source": f"{COMMAND}: slurm.conf(5), PriorityDecayHalfLife: a pass decays by (1 - 0.693/half-life) a second",
            "slurm_conf": "PriorityDecayHalfLife=7-0\nPriorityWeightFairshare=1000\n",
            "tree": [{"type": "account", "name": "a", "parent": "root", "shares": 1},
                     {"type": "user", "name": "u1", "account": "a", "shares": 1, "usage": 4000000},
                     {"type": "user", "name": "u2", "account": "a", "shares": 1, "usage": 1000000}], "steps": steps}


def documents():
    listed = {"lsf/documented.json": ("LSF", lsf_cases), "htcondor/groups.json": ("HTCondor", condor_cases),
              "openpbs/pbsfs.json": ("OpenPBS", openpbs_cases),
              "moab-maui/processor_equivalents.json": ("Moab/Maui", maui_cases)}
    made = {path: {"system": system, "written_by": COMMAND, "cases": cases()} for path, (system, cases) in listed.items()}
    made["flux-accounting/documented_users_beside_banks.json"] = flux_document("documented_users_beside_banks", True)
    made["flux-accounting/documented_users_beside_banks_library.json"] = flux_document(
        "documented_users_beside_banks_library", False)
    made["slurm/other/documented_accrual_26.11_form.json"] = slurm_accrual()
    made["slurm/other/documented_live_half_life.json"] = slurm_live()
    made["slurm/other/documented_held_at_submission.json"] = slurm_held()
    return made


def main():
    wrong = []
    for path, document in documents().items():
        text = json.dumps(document, indent=1) + "\n"
        file = FILES / path
        if "--check" not in sys.argv[1:]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            wrong.append(path)
    for path in wrong:
        print(f"{path} is not what {COMMAND} writes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
