# SPDX-License-Identifier: LGPL-3.0-only
"""What a round's faults need around the tree: a small file system for the statedir, a wall clock that can be stepped.
Must not know what is done with either."""
import os
import shutil
import subprocess
import tempfile

TMPFS_SIZE = "24m"
FAKETIME = ("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
            "/usr/lib/faketime/libfaketimeMT.so.1")


def faketime_library():
    return next((path for path in FAKETIME if os.path.exists(path)), None)


def can_mount():
    """Only root of a machine that lets him: tried out, for no file says so."""
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(["mount", "-t", "tmpfs", "none", place], check=False, capture_output=True)
        return done.returncode == 0 and subprocess.run(["umount", place], check=False).returncode == 0


# key -> (is it here?, what to say if not)
NEEDS = {
    "tmpfs": (can_mount, "no right to mount a tmpfs: run as root"),
    "faketime": (lambda: faketime_library() is not None, "libfaketime is not installed (package faketime)"),
}


class Room:
    def __init__(self, folder, build, needs):
        self.folder, self.build, self.needs = folder, build, needs
        self.statedir = os.path.join(folder, "state")
        self.bin_folder = os.path.join(build, "bin")
        self.clock_file = os.path.join(folder, "clock")

    def __enter__(self):
        os.makedirs(self.statedir, mode=0o700)
        os.chmod(self.folder, 0o755)
        if "tmpfs" in self.needs:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={TMPFS_SIZE},mode=0700", "none", self.statedir], check=True)
        if "faketime" in self.needs:
            self._make_bin_folder()
        return self

    def __exit__(self, *failure):
        if "tmpfs" in self.needs:
            kept = self.statedir + ".kept"
            shutil.copytree(self.statedir, kept)
            subprocess.run(["umount", self.statedir], check=True)
            os.rmdir(self.statedir)
            os.rename(kept, self.statedir)

    def _make_bin_folder(self):
        """The same programs, but every broker, also those that run as jobs, reads the wall clock from a file."""
        self.step_clock(0)
        root = os.path.join(self.folder, "programs")
        self.bin_folder = os.path.join(root, "bin")
        os.makedirs(self.bin_folder)
        os.symlink(os.path.join(self.build, "lib"), os.path.join(root, "lib"))
        os.link(os.path.join(self.build, "bin", "weir"), os.path.join(self.bin_folder, "weir")) \
            if os.stat(self.build).st_dev == os.stat(root).st_dev \
            else shutil.copy2(os.path.join(self.build, "bin", "weir"), self.bin_folder)
        broker = os.path.join(self.bin_folder, "weir-broker")
        with open(broker, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n"
                       f"LD_PRELOAD={faketime_library()} FAKETIME_TIMESTAMP_FILE={self.clock_file} FAKETIME_NO_CACHE=1 \\\n"
                       "FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 \\\n"
                       f"exec {os.path.join(self.build, 'bin', 'weir-broker')} \"$@\"\n")
        os.chmod(broker, 0o755)

    def step_clock(self, offset_s):
        beside = self.clock_file + ".new"
        with open(beside, "w", encoding="utf-8") as file:
            file.write(f"{offset_s:+d}s\n")
        os.rename(beside, self.clock_file)
