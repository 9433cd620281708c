#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-3.0-only
# refused_test.sh RUNNER DIR: the runner must fail for the files below DIR and name each thing that it did not
# understand, without losing what it did understand.
set -eu
runner=$1
refused=$2
status=0
out=$("$runner" "$refused") || status=$?
[ "$status" -eq 1 ] || { echo "exit code $status, not 1"; exit 1; }
while IFS= read -r line; do
    grep -qF -- "$line" <<<"$out" || { echo "not said: $line"; echo "$out"; exit 1; }
done <<'SAID'
lsf/unknown.json 2/4 cases
NOT READ cases[0].inputs.TURBO_FACTOR = 2
FAILED unknown-figure: expected.karma: expected 7, got no check that reads it
FAILED wrong-figure: priority: expected 333.4, got 333.3333333333333
htcondor/unreadable.json 1/2 cases
FAILED unreadable: the case: expected one that can be read, got "rup" is no number
slurm/other/events.json 1/2 cases
FAILED 2026-11-21T09:23:26.362: type: expected an event that this reader knows, got job_teleported
NOT READ sshare = "Account|RawUsage..."
3 files failed
SAID
