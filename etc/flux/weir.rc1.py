# SPDX-License-Identifier: LGPL-3.0-only
# Installed as PREFIX/libexec/flux/modprobe/rc1.d/weir.py. A site that wants no default priority to leak in the moment
# between a restart and the module's first pass loads the plugin from [job-manager] plugins instead; then this does nothing.
from flux.modprobe import task


def setup(context):
    context.load_modules(["job-priority"])


@task("job-priority-tap", ranks="0", after=["job-manager", "job-priority"], needs=["job-priority"])
def load_tap(context):
    loaded = context.rpc("job-manager.jobtap", {"query_only": True}).get()
    if "job-priority-tap.so" not in loaded.get("plugins", []):
        context.rpc("job-manager.jobtap", {"load": "job-priority-tap.so"}).get()
