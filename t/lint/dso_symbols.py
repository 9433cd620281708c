#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""Every DSO for Flux must load in brokers that we do not build: one exported symbol, no flux_* symbol that our headers do
not declare, no symbol of ours that it lacks, nothing that keeps it from being unloaded, and the C++ and JSON libraries of the process."""
import re
import subprocess
import sys
from pathlib import Path

BUILD, TOP = Path(sys.argv[1]), Path(sys.argv[2])
KINDS = {"lib/flux/modules": "mod_main", "lib/flux/job-manager/plugins": "flux_plugin_init"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def declared():
    text = "".join(p.read_text() for p in sorted((TOP / "broker/include/flux").glob("*.h")))
    return set(re.findall(r"\b(flux_\w+)\s*\(", text))


def complaints(dso, entry, known):
    exported = [line.split()[-2:] for line in output("nm", "-D", "--defined-only", dso).splitlines()]
    names = sorted(name.split("@")[0] for _, name in exported)
    if names != [entry]:
        yield f"exports {names or 'nothing'}: it must export {entry} alone (weir_add_module, weir_add_jobtap)"
    unique = [line.split()[-1] for line in output("nm", dso).splitlines() if re.search(r" u ", line)]
    if unique:
        yield f"unique symbols such as {unique[0]}: glibc never unloads it (link only weir_dso_safe targets)"
    undefined = {line.split()[-1].split("@")[0] for line in output("nm", "-D", "--undefined-only", dso).splitlines()}
    strangers = sorted(s for s in undefined if s.startswith("flux_") and s not in known)
    if strangers:
        yield f"uses {', '.join(strangers)}: not declared in broker/include/flux"
    ours = sorted(s for s in undefined if s.startswith(("_ZN4weir", "_ZNK4weir")))
    if ours:
        yield f"lacks {ours[0]}: no broker has it; link the target that does"
    needed = re.findall(r"\(NEEDED\).*\[(.+?)\]", output("readelf", "-d", dso))
    for library in ("libstdc++.so", "libjansson.so"):
        if not any(n.startswith(library) for n in needed):
            yield f"does not need {library}: a private copy breaks other users of it in the broker"
    if any(n.startswith("libflux") for n in needed):
        yield "is linked with libflux: the broker that loads it provides the symbols"


def main():
    known, count, failed = declared(), 0, False
    for folder, entry in KINDS.items():
        for dso in sorted((BUILD / folder).glob("*.so")):
            count += 1
            for complaint in complaints(str(dso), entry, known):
                print(f"[fail] {dso.name}: {complaint}")
                failed = True
    if count == 0:
        print(f"[fail] {BUILD}/lib/flux: no DSO there; build first")
        return 1
    if not failed:
        print(f"[ok] {count} DSOs export one symbol, use only declared flux_* symbols and can be unloaded")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
