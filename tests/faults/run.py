#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Fails the n-th call of write, fsync, rename, open, malloc, thread and process creation in runs of every schedule.

usage: run.py --kiln PROGRAM --shim libkiln_fail_call.so [--faults N] [--case NAME] [--keep]

Each case is run once to count its calls and then once for each fault. A run may refuse, go on or end early; it must
not crash, call the fault a defect, claim success without its files, or lose a solution as good as progress has shown:
the solution that is in the folder, in TMPDIR or on standard output is valued here, not by the program.
Ends with "N faults, N failed"; --faults is how many there are in all at least (2000).
"""
import argparse
import concurrent.futures
import errno
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

GRAPH = [(i, j, 1 if (i * 7 + j) % 3 else -1) for i in range(1, 17) for j in range(i + 1, 17) if (i + 2 * j) % 4 == 0]


def cut(solution):
    side = [int(word) for word in solution.split()[:16]]
    return float(sum(w for i, j, w in GRAPH if side[i - 1] != side[j - 1]))


def rosenbrock(solution):
    x, y = (float(line.split("#")[0]) for line in solution.splitlines()[:2])
    return (1 - x) ** 2 + 100 * (y - x * x) ** 2


def first_number(solution):
    return float(solution.split("#")[0])


class Case:
    """A run: its words, the file with what it found, and how good that is (None: that it is there is all)."""

    def __init__(self, words, found="solution.txt", value=None, maximize=False, files=()):
        self.words, self.found, self.value, self.maximize = words, found, value, maximize
        self.files = ["run.json", "result.json", "trace.csv", "events.ndjson", found, *files]


def on_graph(schedule, sweeps=64, replicas=8):
    words = ["solve", "graph.rud", "--schedule", schedule, "--sweeps", str(sweeps), "--replicas", str(replicas)]
    return Case(words, value=cut, maximize=True)


CASES = {
    "simulated-annealing": on_graph("simulated-annealing"),
    # A thread writes checkpoints of so much state.
    "many replicas": on_graph("simulated-annealing", sweeps=16, replicas=150000),
    "parallel-tempering": on_graph("parallel-tempering"),
    "population-annealing": on_graph("population-annealing"),
    "replica-exchange": on_graph("replica-exchange"),
    "random-search": on_graph("random-search"),
    "hmc": Case("solve function:rosenbrock-2 --schedule hmc --sweeps 64 --replicas 8".split(), value=rosenbrock),
    "evolutionary": Case("solve zdt:1,4 --schedule evolutionary --generations 20 -p population=8".split(),
                            found="front.csv"),
    "bayesian-optimization": Case(["solve", "command:echo {x}", "--var", "x=real:0.25:1", "--schedule",
                                   "bayesian-optimization", "-p", "evaluations=7"],
                                  value=first_number, files=["evaluations.csv"]),
    "command annealed": Case(["solve", "command:echo {x}", "--var", "x=real:0.25:1", "--schedule", "simulated-annealing",
                              "--sweeps", "2", "--replicas", "2"], value=first_number),
    "sampling": Case("sample posterior:eight-schools --draws 20 --chains 2 -p warmup=40".split(), found="draws.npy",
                     files=["summary.csv", "chain_1.csv", "chain_2.csv"]),
}

# What fails, with which error, and whether all later calls fail, too. Of memory then a little is left, as it is where
# memory ends: what asks for less than LITTLE is granted.
LITTLE = 2048
FAULTS = [("write", errno.ENOSPC, 0), ("write", errno.EIO, 0), ("write", errno.ENOSPC, 1), ("fsync", errno.EIO, 0),
          ("fsync", errno.ENOSPC, 1), ("rename", errno.EACCES, 0), ("rename", errno.EROFS, 1), ("link", errno.EPERM, 0),
          ("link", errno.EROFS, 1), ("unlink", errno.EACCES, 1), ("open", errno.EMFILE, 0),
          ("open", errno.EMFILE, 1), ("malloc", errno.ENOMEM, 0),
          ("malloc", errno.ENOMEM, 1), ("pthread_create", errno.EAGAIN, 0),
          ("pthread_create", errno.EAGAIN, 1), ("posix_spawn", errno.EAGAIN, 0), ("posix_spawn", errno.ENOMEM, 1),
          ("pipe", errno.EMFILE, 0), ("pipe", errno.EMFILE, 1)]

# A row of the table that shows progress: time, how far, best.
ROW = re.compile(r"^\*?\s+[\d.]+s\s+\S+\s+(\S+)", re.M)
ANYWHERE = re.compile(r"^content of (\S+), which cannot be written to any folder:\n", re.M)


class Run:
    def __init__(self, options, case, folder, fault=None):
        self.case, self.folder = case, folder
        (folder / "tmp").mkdir()
        (folder / "graph.rud").write_text(f"16 {len(GRAPH)}\n" + "".join(f"{i} {j} {w}\n" for i, j, w in GRAPH))
        environment = {"PATH": os.environ["PATH"], "TMPDIR": str(folder / "tmp"), "KILN_DEVICE": "cpu",
                       "KILN_THREADS": "2", "LD_PRELOAD": options.shim,
                       "KILN_FAIL_COUNTS": str(folder / "counts")}
        if fault:
            name, reason, all_later, nth = fault
            environment.update(KILN_FAIL_CALL=name, KILN_FAIL_NTH=str(nth), KILN_FAIL_ERRNO=str(reason),
                               KILN_FAIL_FROM=str(all_later),
                               KILN_FAIL_SIZE=str(LITTLE if name == "malloc" and all_later else 0))
        try:
            done = subprocess.run([options.kiln, *case.words, "-o", "run", "--checkpoint-every", "0.0001s"], cwd=folder, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60)
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as hung:
            self.code, self.out, self.err = "no end within a minute", "", (hung.stderr or b"").decode(errors="replace")

    def solutions(self):
        """What was found, wherever it is kept."""
        for path in sorted(self.folder.rglob(self.case.found)):
            yield path.read_bytes()
        for match in ANYWHERE.finditer(self.out):
            if match[1] == self.case.found:
                yield self.out[match.end():].encode()

    def best_shown(self):
        shown = []
        for word in ROW.findall(self.err):
            try:
                shown.append(float(word.replace("k", "e3")))
            except ValueError:
                pass
        return max(shown, default=None) if self.case.maximize else min(shown, default=None)

    def lost(self):
        """Why what was shown is lost, or None."""
        shown = self.best_shown()
        if shown is None:
            return None
        kept = [one for one in self.solutions() if one.strip()]
        if self.case.found == "draws.npy" and "lp__" in self.out:
            return None  # the summary of the draws
        if not kept:
            return f"{shown} was shown and {self.case.found} is nowhere"
        if self.case.value is None:
            return None
        values = []
        for one in kept:
            try:
                values.append(self.case.value(one.decode()))
            except (ValueError, IndexError):
                pass  # a line of a file in place of which other text stands
        best = (max if self.case.maximize else min)(values, default=None)
        if best is None:
            return f"{shown} was shown and no solution can be read"
        worse = best < shown if self.case.maximize else best > shown
        return f"{shown} was shown and {best} is kept" if worse and abs(best - shown) > 1e-5 * abs(shown) else None

    def complaint(self):
        """What is wrong with how it ended, or None."""
        if isinstance(self.code, str):
            return self.code
        if self.code < 0 or self.code >= 128:
            return f"ended by signal {-self.code if self.code < 0 else self.code - 128}"
        if re.search("defect|internal|please report", self.err):
            return "calls the fault a defect"
        missing = [name for name in self.case.files if not (self.folder / "run" / name).exists()]
        if self.code == 0 and missing:
            return f"claims success without {missing}"
        if self.code == 0 and "stop" not in json.loads((self.folder / "run" / "result.json").read_text()):
            return "claims success with half a result"
        return self.lost()


def counts_of(options, name, work):
    folder = pathlib.Path(tempfile.mkdtemp(dir=work))
    run = Run(options, CASES[name], folder)
    complaint = run.complaint()
    if run.code != 0 or complaint or run.best_shown() is None:
        sys.exit(f"{name}: fails without a fault ({run.code}, {complaint}):\n{run.out}{run.err}")
    counts = dict(line.split() for line in (folder / "counts").read_text().splitlines())
    shutil.rmtree(folder)
    return {call: int(count) for call, count in counts.items()}


def plan(options, work):
    """Every call of what is called rarely, and a spread of the rest so that there are enough."""
    counts = {name: counts_of(options, name, work) for name in CASES if options.case in (None, name)}
    every = [(case, call, reason, later, counts[case][call]) for case in counts for call, reason, later in FAULTS]
    each = 1
    while sum(min(count, each) for *_, count in every) < options.faults and each < 10**6:
        each += 1
    chosen = random.Random(1)
    faults = []
    for case, call, reason, later, count in every:
        for k in range(min(count, each)):
            low, high = k * count // min(count, each), (k + 1) * count // min(count, each)
            faults.append((case, (call, reason, later, 1 + chosen.randrange(low, high))))
    return faults


def inject(options, work, case, fault):
    folder = pathlib.Path(tempfile.mkdtemp(dir=work))
    run = Run(options, CASES[case], folder, fault)
    complaint = run.complaint()
    if complaint is None or not options.keep:
        shutil.rmtree(folder)
    if complaint is None:
        return None
    call, reason, later, nth = fault
    what = f"{case}: {call} {nth}{' and all later' if later else ''} with {errno.errorcode[reason]}: {complaint}"
    return f"{what} (exit {run.code})\n    " + "\n    ".join(run.err.splitlines()[-4:])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--kiln", required=True, type=os.path.abspath)
    parser.add_argument("--shim", required=True, type=os.path.abspath)
    parser.add_argument("--faults", type=int, default=2000)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="kiln-faults-"))
    try:
        faults = plan(options, work)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failures = [text for text in pool.map(lambda one: inject(options, work, *one), faults) if text]
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    for text in failures:
        print(text)
    if options.keep:
        print(f"kept in {work}")
    print(f"{len(faults)} faults, {len(failures)} failed")
    sys.exit(1 if failures or len(faults) < options.faults else 0)


if __name__ == "__main__":
    main()
