# SPDX-License-Identifier: LGPL-3.0-only
"""The stream of jobs and edits of one round, and the record of what was answered: answered.jsonl, one line a request,
written after the answer came. Every job writes when it begins and ends into the file `witness`.
Must not know faults: a call that fails is tried no second time, the next one goes wherever the tree then is."""
import base64
import json
import os
import random
import subprocess
import threading
import time

import wire
from tree import PARTITIONS, USERS, path_of

EXPECTED = (wire.Failed, OSError, ValueError, subprocess.TimeoutExpired)


def script(witness, token, seconds, status):
    # A job that appends in one write each: O_APPEND keeps lines whole.
    return f'echo "start {token}" >>{witness}; sleep {seconds}; echo "end {token}" >>{witness}; exit {status}'


class Workload:
    def __init__(self, tree, seed, log):
        self.tree, self.log = tree, log
        self.random = random.Random(f"{seed} workload")
        self.witness = os.path.join(tree.folder, "witness")
        self.answered = open(os.path.join(tree.folder, "answered.jsonl"), "a", encoding="utf-8")
        self.count = 0  # submissions answered; faults are timed by it
        self.changed = threading.Condition()
        self.ids = []
        self.is_ended = False
        self.thread = threading.Thread(target=self._run, daemon=True)

    def start(self, seconds):
        self.until = time.monotonic() + seconds
        self.thread.start()

    def wait_count(self, count, patience_s):
        with self.changed:
            return self.changed.wait_for(lambda: self.count >= count or self.is_ended, patience_s)

    def _record(self, **what):
        self.answered.write(json.dumps(what) + "\n")
        self.answered.flush()

    def _run(self):
        number, client = 0, None
        while time.monotonic() < self.until:
            try:
                if client is None:
                    self.tree.up.wait(max(0, self.until - time.monotonic()))
                    client = self.tree.client()
                number += 1
                self._submit(client, f"j{number}")
                self._sometimes(client)
            except EXPECTED as failure:
                self.log(f"request {number}: {failure}")
                client = None
            time.sleep(self.random.choice([0.01, 0.03, 0.1]))  # the pace of people, not a wait for anything
        with self.changed:
            self.is_ended = True
            self.changed.notify_all()

    def _submit(self, client, token):
        user = self.random.choice(sorted(USERS))
        cores = self.random.choice([1, 1, 1, 2, 2, 4])
        queue = self.random.choice(["batch", "batch", "debug"])
        cores = min(cores, PARTITIONS[queue])
        status = self.random.choice([0, 0, 0, 0, 3])
        seconds = self.random.choice([0.02, 0.05, 0.1, 0.4])
        command = ["sh", "-c", script(self.witness, token, seconds, status)]
        slot = {"type": "slot", "count": 1, "label": "task", "with": [{"type": "core", "count": cores}]}
        system = {"duration": 0, "queue": queue, "cwd": self.tree.folder, "environment": {"PATH": os.environ["PATH"]},
                  "job": {"name": token}}
        jobspec = {"version": 1, "resources": [slot], "attributes": {"system": system},
                   "tasks": [{"command": command, "slot": "task", "count": {"per_slot": 1}}]}
        urgency = self.random.choice([16, 16, 16, 10, 20])
        header = b"version\0i1\0userid\0i%d\0mechanism\0snone\0" % USERS[user]
        signed = ".".join([base64.b64encode(header).decode(), base64.b64encode(json.dumps(jobspec).encode()).decode(), "none"])
        request = {"J": signed, "urgency": urgency, "flags": 0}
        client.cred = {"userid": USERS[user], "rolemask": 3}  # the owner, who submits for a user
        try:
            answer = json.loads(client.rpc("job-ingest.submit", request))
        finally:
            client.cred = {"userid": 0xFFFFFFFF, "rolemask": 0}
        self._record(what="submit", token=token, id=answer["id"], user=user, cores=cores, status=status, queue=queue,
                     seconds=seconds)
        self.ids.append(answer["id"])
        with self.changed:
            self.count += 1
            self.changed.notify_all()

    def _sometimes(self, client):
        """An edit now and then, by who may: a cancel, a nice, a share."""
        draw = self.random.random()
        if draw > 0.25:
            return
        jobid = self.random.choice(self.ids[-12:])
        if draw < 0.1:
            self._job_edit(client, "cancel", "job-manager.raise", {"id": jobid, "type": "cancel", "severity": 0, "note": ""})
        elif draw < 0.2:
            urgency = self.random.randrange(1, 31)
            self._job_edit(client, "urgency", "job-manager.urgency", {"id": jobid, "urgency": urgency})
        else:
            path, shares = path_of(self.random.choice(sorted(USERS))), self.random.randrange(1, 9)
            code, text = self.tree.weir_command("share", "set", path, str(shares))
            self._record(what="share", path=path, shares=shares, ok=code == 0, said=text.strip()[-200:])

    def _job_edit(self, client, what, topic, payload):
        try:
            client.rpc(topic, payload)
        except wire.Failed as failure:
            if failure.errnum not in (2, 22):  # ENOENT, EINVAL: the job has ended or runs
                raise
            return
        self._record(what=what, **{key: payload[key] for key in payload if key in ("id", "urgency")})
