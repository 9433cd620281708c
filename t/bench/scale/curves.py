#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""curves.py SCALE_BENCH: the tables of doc/scale.md, from runs of scale_bench over trees of several sizes and lengths of jobs.

The model is the one of hierarchical scheduling (Herbein et al., IJHPCA 2022): an instance is a server that spends a fixed time on each
unit of work, and the whole is as fast as the level that is busiest. For an instance above others the units are the ended jobs in
reports and the reports themselves: CPU seconds = a * jobs + b * reports. a and b are fitted by least squares to the runs over one tree; R^2 is
of that fit. What a level can carry at most follows from them: jobs a second at which one of its instances is busy all the time."""
import subprocess
import sys

# middle instances, leaves of each, jobs of a leaf, longest job in seconds
RUNS = [(5, 5, 300, 10), (20, 20, 100, 10), (40, 25, 100, 10)] + [(10, 10, 200, longest) for longest in (2, 5, 10, 20, 60, 200, 600, 3600)]
FITTED = (10, 10)  # one tree: with more instances in one process each finds less of its memory in the caches


def run(program, size):
    words = subprocess.run([program] + [str(part) for part in size] + ["direct"], capture_output=True, text=True, check=True).stdout.split()
    curve = words[words.index("curve") + 1:]
    levels = [curve[4 + 4 * i:8 + 4 * i] for i in range(3)]
    return {"jobs": int(curve[1]), "seconds": float(curve[2]), "mib": float(curve[3]),
            "levels": [{"instances": int(level[0]), "reports": int(level[1]), "bytes": int(level[2]), "cpu": float(level[3])}
                       for level in levels]}


def fit(points):
    """a, b and R^2 of cpu = a * jobs + b * reports. Each run counts alike: all are divided by its jobs."""
    rows = [(1.0, reports / jobs, cpu / jobs) for jobs, reports, cpu in points]
    s11, s12, s22 = (sum(p * q for p, q in pairs) for pairs in (
        [(r[0], r[0]) for r in rows], [(r[0], r[1]) for r in rows], [(r[1], r[1]) for r in rows]))
    t1, t2 = sum(r[0] * r[2] for r in rows), sum(r[1] * r[2] for r in rows)
    det = s11 * s22 - s12 * s12
    a, b = (t1 * s22 - t2 * s12) / det, (t2 * s11 - t1 * s12) / det
    mean = sum(r[2] for r in rows) / len(rows)
    left = sum((r[2] - a - b * r[1]) ** 2 for r in rows)
    return a, b, 1 - left / sum((r[2] - mean) ** 2 for r in rows)


def main():
    results = [(size, run(sys.argv[1], size)) for size in RUNS]
    fitted = [result for size, result in results if size[:2] == FITTED]
    print("| tree | leaves | longest job | ended jobs/s | level | reports/s | jobs a report | bytes a job | us CPU a job |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (middle, leaves, _, longest), result in results:
        for name, level in zip(("root", "middle"), result["levels"]):
            jobs, reports = result["jobs"], level["reports"]
            print(f"| 1 x {middle} x {leaves} | {middle * leaves} | {longest} s | {jobs / result['seconds']:.0f} | {name} | "
                  f"{reports / result['seconds']:.0f} | {jobs / reports:.1f} | {level['bytes'] / jobs:.1f} | {level['cpu'] / jobs * 1e6:.2f} |")
    for place, name in enumerate(("root", "middle")):
        a, b, r2 = fit([(result["jobs"], result["levels"][place]["reports"], result["levels"][place]["cpu"]) for result in fitted])
        print(f"{name}: {a * 1e6:.2f} us a job + {b * 1e6:.2f} us a report, R^2 = {r2:.3f}; "
              f"busy at {1 / a:.0f} jobs a second in large reports, at {1 / (a + b):.0f} with one job in each")


if __name__ == "__main__":
    main()
