# SPDX-License-Identifier: LGPL-3.0-only
# Installed as PREFIX/libexec/flux/modprobe/rc3.d/weir.py: a module that was loaded by hand must also be gone before the
# job-manager, or the broker calls the shutdown improper and exits 1.
from flux.modprobe import task


@task("job-priority-remove", ranks="0", before=["job-manager"])
def remove(context):
    for name in ("job-route", "job-priority"):
        try:
            context.rpc("module.remove", {"name": name}).get()
        except OSError:
            pass  # was not loaded
