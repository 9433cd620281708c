# SPDX-License-Identifier: LGPL-3.0-only
"""An instance tree as a site runs it: `weir start` with a statedir, started again by an operator when it has ended.
Owns the processes of one round: their start, their roles, their end. Must not know which faults there are."""
import os
import pwd
import signal
import subprocess
import threading
import time

import wire

PARTITIONS = {"debug": 2, "batch": 6}
CORES = sum(PARTITIONS.values())
START_PATIENCE_S = 60
LOST_AFTER_S = 2  # a partition that says nothing for that long counts as lost

# Users whom every broker here knows without being told. Each has one account, so that a user names a node of the tree.
USERS = {entry.pw_name: entry.pw_uid for entry in pwd.getpwall() if entry.pw_uid not in (0, os.geteuid())}
USERS = dict(list(USERS.items())[:4])
ACCOUNTS = dict(zip(USERS, ["physics", "physics", "chem", "chem"]))


def path_of(user):
    return f"{ACCOUNTS[user]}/@{user}"


def share_tree():
    owner = pwd.getpwuid(os.geteuid()).pw_name
    lines = ['"physics" = 60', '"chem" = 40', '"instances" = 0', f'"instances/@{owner}" = 1']
    return "\n".join(lines + [f'"{path_of(user)}" = 1' for user in USERS]) + "\n"


def processes(marker):
    """{pid: words of the command line} of every process whose command line names `marker`."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().decode(errors="replace").split("\0")[:-1]
        except OSError:
            continue
        if any(marker in word for word in words) and int(pid) != os.getpid():
            found[int(pid)] = words
    return found


class Tree:
    """One `weir start` after another on the same state. `log` takes a line of text; `environment` is what they get."""

    def __init__(self, folder, bin_folder, log, environment):
        self.folder, self.log, self.environment = folder, log, environment
        self.weir = os.path.join(bin_folder, "weir")
        self.rundir = os.path.join(folder, "run")
        self.statedir = os.path.join(folder, "state")
        self.lives = 0
        self.problem = None
        self.is_stopping = False
        self.away_s = 0  # how long the operator does not look, once
        self.up = threading.Event()
        self.process = None
        self.operator = threading.Thread(target=self._operate, daemon=True)

    def write_files(self):
        with open(os.path.join(self.folder, "shares.toml"), "w", encoding="utf-8") as file:
            file.write(share_tree())
        with open(os.path.join(self.folder, "weir.toml"), "w", encoding="utf-8") as file:
            file.write(f'[weir.route]\nlost-after = "{LOST_AFTER_S}s"\n')

    def start(self):
        self.operator.start()
        self.up.wait(START_PATIENCE_S)
        if self.problem or not self.up.is_set():
            raise TimeoutError(self.problem or "the tree did not come up")

    def _operate(self):
        failures = 0
        while not self.is_stopping:
            self._start_once()
            line = self.process.stdout.readline()  # written when every partition serves its queue
            if line:
                failures = 0
                self.log(f"tree up, life {self.lives}")
                self.up.set()
                self.process.stdout.read()
            self.process.wait()
            self.up.clear()
            with open(self._errors(), encoding="utf-8", errors="replace") as file:
                said = " | ".join(file.read().strip().splitlines()[-4:])
            self.log(f"weir start ended with {self.process.returncode}: {said}")
            failures += 0 if line else 1
            if failures > 40 and not self.is_stopping:
                self.problem = f"weir start fails again and again: {said}"
                self.up.set()  # nobody waits any longer
                return
            if not self.is_stopping:
                time.sleep(self.away_s if line else 0.25)  # nothing tells an operator when a disk has room
                self.away_s = 0

    def _errors(self):
        return os.path.join(self.folder, f"start.{self.lives}.err")

    def _start_once(self):
        self.lives += 1
        command = [self.weir, "start", "--cores", str(CORES), "--rundir", self.rundir, "--statedir", self.statedir,
                   "--tree", os.path.join(self.folder, "shares.toml"), "--config", os.path.join(self.folder, "weir.toml")]
        with open(self._errors(), "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL,
                                            env=self.environment, cwd=self.folder)

    def stop(self, patience_s):
        """Ctrl-C, once the tree is up: a start that is interrupted ends with 130. Returns the exit code, None if it did not
        end."""
        self.up.wait(patience_s)
        self.is_stopping = True
        self.process.send_signal(signal.SIGINT)
        self.operator.join(patience_s)
        return None if self.operator.is_alive() else self.process.returncode

    def destroy(self):
        """However the round went, nothing of it is left."""
        self.is_stopping = True
        deadline = time.monotonic() + 10
        while left := [self.process.pid] * (self.process.poll() is None) + list(processes(self.folder)):
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)

    def uri(self, partition=None):
        return "local://" + os.path.join(self.rundir, *([partition] if partition else []), "local-0")

    def client(self, partition=None, userid=None):
        return wire.Client(self.uri(partition)) if userid is None else wire.Client(self.uri(partition), userid, 2)

    def pids(self, role, partition=None):
        """Those of "starter", "parent", "partition" (its broker) or "script" (the process that runs the broker)."""
        if role == "starter":
            return [self.process.pid]
        rundir = self.rundir if role == "parent" else os.path.join(self.rundir, partition)
        found = []
        for pid, words in processes(rundir).items():
            is_launcher = "--launch-task" in words
            if rundir in words and words[0].endswith("weir-broker") and is_launcher == (role == "script"):
                found.append(pid)
        return found

    def weir_command(self, *words, timeout=15):
        """The command as people use it: (exit code, stdout)."""
        environment = dict(self.environment, FLUX_URI=self.uri())
        done = subprocess.run([self.weir, *words], env=environment, capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout if done.returncode == 0 else done.stderr
