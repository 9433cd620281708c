# SPDX-License-Identifier: LGPL-3.0-only
"""Who may include whom: LAYERS is the truth. `tree.py` holds every #include to it, an entry that nobody uses is an error,
and doc/architecture.md has the table that table_of_layers() writes."""
import re

PAGE = "doc/architecture.md"
BEGIN = "<!-- includes: written by `t/lint/tree.py . --write` -->"
END = "<!-- /includes -->"

# folder -> the folders that it includes from beside itself and BASE; each entry is in use
BASE = "libfairshare/base"
JSON = "libfairshare/base/json"
TEXT = "libfairshare/base/text"
FLUX = "broker/include"  # <flux/core.h>: the API that a stock Flux has, too
LAYERS = {
    BASE: set(),
    JSON: set(),
    TEXT: {JSON},
    "libfairshare": set(),
    "libfairshare/toml": {"libfairshare"},
    "libfairshare/json": {"libfairshare", JSON},
    "libsched": set(),
    "libsched/json": {"libsched", JSON},
    "libsched/config": {"libfairshare", "libsched", JSON, TEXT},
    "libsched/order": {"libfairshare", "libsched", "libsched/config"},
    "libsched/sim": {"libfairshare", "libsched", "libsched/json", "libsched/config", "libsched/order", JSON},
    FLUX: set(),
    "broker/api": {FLUX},
    "broker/services": {FLUX, "broker/api", JSON},
    "broker/services/job-manager": {FLUX, "broker/api", "broker/services", JSON},
    "broker/core": {FLUX, "broker/api", "broker/services", JSON, TEXT},
    "modules/common": {FLUX, JSON},
    "modules/sched": {FLUX, "modules/common", "libsched", "libsched/json", JSON},
    "modules/job-priority": {FLUX, "modules/common", "libfairshare", "libfairshare/toml", "libsched", "libsched/config",
                             "libsched/order", JSON, TEXT},
    "modules/job-route": {FLUX, "libsched/config", "modules/common", "modules/sched", JSON},
    "modules/replay": {"libsched/sim", "modules/job-route"},
    "modules/world": {"broker/core", "broker/services/job-manager", "libsched", "libsched/json", "libsched/sim",
                      "modules/job-priority", "modules/job-route", JSON},
    "cmd": {FLUX, "broker/api", "libfairshare", "libfairshare/json", "libfairshare/toml", "libsched", "libsched/config",
            "libsched/json", "libsched/sim", "modules/job-route", "modules/replay", JSON, TEXT},
}
BY_LENGTH = sorted(LAYERS, key=len, reverse=True)


def layer_of(path):
    """The folder of LAYERS that a path is in, or None."""
    return next((name for name in BY_LENGTH if str(path).startswith(name + "/")), None)


def layer_of_include(line):
    """The folder of LAYERS that an #include line names, or None."""
    if line.startswith("#include <flux/"):
        return FLUX
    found = re.match(r'#include "([^"]+)"', line)
    return layer_of(found.group(1)) if found else None


def edges(top, paths):
    """(folder, folder) of every #include between two folders of LAYERS."""
    used = set()
    for path in paths:
        layer = layer_of(path)
        if layer:
            for line in (top / path).read_text(errors="replace").splitlines():
                target = layer_of_include(line)
                if target and target not in (layer, BASE):
                    used.add((layer, target))
    return used


def order():
    """Folders, each behind all that it includes; an error names a circle."""
    done = []
    while len(done) < len(LAYERS):
        ready = [name for name in LAYERS if name not in done and LAYERS[name] <= set(done)]
        if not ready:
            raise ValueError("LAYERS has a circle among " + ", ".join(sorted(set(LAYERS) - set(done))))
        done += ready
    return done


def table_of_layers():
    rows = [f"| `{name}` | {', '.join(f'`{other}`' for other in order() if other in LAYERS[name]) or 'nothing else'} |"
            for name in order()]
    return "\n".join([BEGIN, "| folder | includes, beside itself and the base |", "|---|---|", *rows, END])


def wrong_in(top, paths):
    """(file, line, what) for entries of LAYERS without use, and for a page that has another table."""
    used = edges(top, paths)
    for name, targets in LAYERS.items():
        for target in sorted(targets):
            if (name, target) not in used:
                yield "t/lint/layers.py", 1, f"no file in {name} includes {target}: take the entry out of LAYERS"
    if table_of_layers() not in (top / PAGE).read_text():
        yield PAGE, 1, "the table of includes is not that of LAYERS: run t/lint/tree.py . --write"


def write(top):
    page = (top / PAGE).read_text()
    (top / PAGE).write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: table_of_layers(), page, flags=re.S))
