#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-only
"""Commands of a stock flux on both brokers.

    stock_commands.py run COMMANDS RESULTS [WORDS]   runs the lines of COMMANDS (t/stock/commands.txt says their form) with
                                                     the instance of FLUX_URI; with WORDS only those whose name has it
    stock_commands.py table COMMANDS STOCK WEIR      the table of both results; status 1 if a difference is not explained
    stock_commands.py write TABLE DOCUMENT           puts the table between the marks of the document
    stock_commands.py missing COMMANDS               the commands of this flux that no line tries; status 1 if there are any
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

TIMEOUT_S = 20
PROLOGUE = """
id=$(flux submit -n1 --job-name=done true); flux job wait-event -q $id clean
run=$(flux submit -n1 --job-name=running sleep 3000); flux job wait-event -q $run start
held=$(flux submit -n1 --job-name=held --urgency=0 true)
"""


class Line:
    def __init__(self, name, script):
        self.name, self.script = name, script
        self.why = self.says = None

    def explain(self, note):
        kind, _, text = note.partition(":")
        if kind.strip() == "says":
            self.says = text.strip()
        else:
            self.why = note.strip()


def read_lines(path):
    lines = []
    with open(path, encoding="utf-8") as file:
        for text in file.read().splitlines():
            if not text.strip() or text.startswith("#"):
                continue
            if text.startswith("~"):
                lines[-1].explain(text[1:].strip())
            elif text[0].isspace():
                lines[-1].script += "\n" + text.strip()
            else:
                name, _, script = text.partition(" | ")
                lines.append(Line(name.strip(), script.strip()))
    return lines


def run_script(script, env, cwd):
    """Exit status, standard output and error; a script that does not end has the status "no end"."""
    process = subprocess.Popen(["bash", "-c", script], env=env, cwd=cwd, stdin=subprocess.DEVNULL, start_new_session=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=TIMEOUT_S)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        status = "no end"
    return {"status": status, "out": out.decode(errors="replace"), "err": err.decode(errors="replace")}


def run(commands, results, words=""):
    found = {}
    chosen = [line for line in read_lines(commands) if words in line.name]
    with tempfile.TemporaryDirectory() as cwd:
        env = dict(os.environ, LC_ALL="C.UTF-8")
        begun = run_script(PROLOGUE + 'echo "$id $run $held"', env, cwd)
        env.update(zip(("id", "run", "held"), begun["out"].split()))
        for line in chosen:
            found[line.name] = run_script(line.script, env, cwd)
            if found[line.name]["status"] == "no end":
                run_script("flux queue enable -q; flux queue start -q; flux cancel --all", env, cwd)
            print(line.name, found[line.name]["status"], flush=True)
    with open(results, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)


def is_same(stock, weir):
    return stock["status"] == weir["status"] and stock["out"] == weir["out"]


def standing(line, stock, weir):
    """The words for the table, and what is wrong with them if anything is."""
    said = " ".join((weir["out"] + weir["err"]).split())
    if is_same(stock, weir):
        wrong = "it is explained as a difference, but there is none" if line.why or line.says else None
        return "as in stock", wrong
    if line.says:
        return f"says: {line.says}", None if line.says in said else f"it says: {said[:300]}"
    if line.why:
        return f"differs: {line.why}", None
    return "DIFFERS", (f"status {stock['status']} and {weir['status']}; stock printed:\n{stock['out'][:400]}{stock['err'][:300]}\n"
                       f"and here:\n{weir['out'][:400]}{weir['err'][:300]}")


def table(commands, stock_file, weir_file):
    with open(stock_file, encoding="utf-8") as file:
        stock = json.load(file)
    with open(weir_file, encoding="utf-8") as file:
        weir = json.load(file)
    rows, wrongs = [], []
    for line in read_lines(commands):
        if line.name not in stock or line.name not in weir:
            continue
        words, wrong = standing(line, stock[line.name], weir[line.name])
        name = line.name.replace("|", "\\|")
        rows.append(f"| {name} | {words} |")
        if wrong:
            wrongs.append(f"{line.name}: {wrong}")
    print("| command | with the embedded broker |\n|---|---|")
    print("\n".join(rows))
    for wrong in wrongs:
        print(wrong + "\n", file=sys.stderr)
    return 1 if wrongs else 0


def write(table_file, document):
    with open(table_file, encoding="utf-8") as file:
        rows = file.read()
    with open(document, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"(<!-- commands:[^\n]*\n).*?(<!-- /commands)", lambda m: m.group(1) + rows + m.group(2), text, flags=re.S)
    with open(document, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


def commands_of_flux():
    """Builtin commands as flux itself lists them, and programs of its exec path; helpers that nobody types are left out."""
    internal = {"broker", "module-exec", "module-python-exec", "job-validator", "job-frobnicator", "run-epilog",
                "run-prolog", "run-housekeeping", "python3", "imp_exec_helper", "slurm-expiration-sync"}
    path = subprocess.run(["flux", "env", "printenv", "FLUX_EXEC_PATH"], stdout=subprocess.PIPE, text=True, check=True)
    names = set()
    for folder in path.stdout.strip().split(":"):
        if os.path.isdir(folder):
            for file in os.listdir(folder):
                if found := re.fullmatch(r"flux-([A-Za-z_-]+?)(\d[.\d]*)?(\.py)?", file):
                    names.add(found.group(1) + ("3" if found.group(1) == "python" else ""))
    return sorted(names - internal)


def missing(commands):
    tried = {word for line in read_lines(commands) for word in re.findall(r"flux ([A-Za-z_-]+)", line.script)}
    untried = [name for name in commands_of_flux() if name not in tried]
    print("\n".join(untried), end="\n" if untried else "")
    return 1 if untried else 0


if __name__ == "__main__":
    sys.exit({"run": run, "table": table, "write": write, "missing": missing}[sys.argv[1]](*sys.argv[2:]))
