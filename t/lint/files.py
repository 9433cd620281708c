# SPDX-License-Identifier: LGPL-3.0-only
"""The project's own files: what git tracks, or, where there is no git (an unpacked archive), all but the build folders."""
import fnmatch
import subprocess
from pathlib import Path


def project_files(top, *patterns):
    done = subprocess.run(["git", "-C", str(top), "ls-files", *patterns], capture_output=True, text=True)
    if done.returncode == 0:
        return [Path(p) for p in done.stdout.splitlines() if (Path(top) / p).is_file()]
    files = (p.relative_to(top) for p in sorted(Path(top).rglob("*")) if p.is_file())
    return [p for p in files if p.parts[0] not in ("build", ".git") and any(fnmatch.fnmatch(p.name, x) for x in patterns)]
