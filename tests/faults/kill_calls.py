#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Kills a run at each of its system calls that write, resumes it, and compares it with an uninterrupted run.

usage: kill_calls.py --kiln PROGRAM --shim libkiln_fail_call.so [--every N] [--keep]

A run writes its first checkpoint, and a continuation its second one beside its predecessor. Each is killed before and
after its n-th call of write, fsync, rename, link, unlink and open. Half a write and a call that a signal cuts short
must change nothing. Ends with "N faults, N failed"; with --every N only each N-th call has its faults.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from continued import compare

CALLS = ("write", "fsync", "rename", "link", "unlink", "open")
SWEEPS = 96
SOLVE = f"solve sk:12,1 --schedule parallel-tempering --replicas 8 --sweeps {SWEEPS} --incumbent-solutions -o run"
EXTEND = f"resume run --sweeps {2 * SWEEPS}"
EQUAL = ("solution.txt",)


class Faults:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.stages = {"solve": (SOLVE, None), "extend": (EXTEND, self.kept("first", SOLVE, None))}
        self.whole = {"solve": self.kept("first-whole", SOLVE, None), "extend": None}
        self.whole["extend"] = self.kept("second-whole", EXTEND, self.whole["solve"])
        self.counts = {stage: self.calls_of(stage) for stage in self.stages}

    def start(self, words, folder, fault=None):
        environment = {"PATH": os.environ["PATH"], "KILN_DEVICE": "cpu", "KILN_THREADS": "1"}
        if fault:
            environment.update(LD_PRELOAD=self.options.shim, **fault)
        return subprocess.run([self.options.kiln, *words.split(), "--checkpoint-every", "0.0001s", "--quiet"], cwd=folder,
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    def prepared(self, before):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        if before:
            shutil.copytree(before, folder / "run")
        return folder

    def kept(self, name, words, before):
        """The run folder of a run without a fault."""
        folder = self.prepared(before)
        done = self.start(words, folder)
        if done.returncode != 0:
            sys.exit(f"{name}: fails without a fault (exit {done.returncode}):\n{done.stderr}")
        return folder / "run"

    def calls_of(self, stage):
        words, before = self.stages[stage]
        folder = self.prepared(before)
        self.start(words, folder, {"KILN_FAIL_COUNTS": str(folder / "counts")})
        counts = dict(line.split() for line in (folder / "counts").read_text().splitlines())
        return {call: int(counts[call]) for call in CALLS}

    def plan(self):
        """(stage, call, number, how it ends)"""
        return [(stage, call, number, how)
                for stage, counts in self.counts.items() for call in CALLS
                for number in range(1, counts[call] + 1, self.options.every)
                for how in ("before", "after", *(("short", "interrupt") if call == "write" else ()),
                            *(("interrupt",) if call == "fsync" else ()))]

    def inject(self, fault):
        """What is wrong after a fault: a text, or None."""
        stage, call, number, how = fault
        words, before = self.stages[stage]
        folder = self.prepared(before)
        chosen = {"KILN_FAIL_CALL": call, "KILN_FAIL_NTH": str(number), "KILN_FAIL_HOW": how}
        done = self.start(words, folder, chosen)
        killed = how in ("before", "after")
        complaint = self.complaint(stage, folder, done, killed)
        if complaint is None or not self.options.keep:
            shutil.rmtree(folder)
        return complaint and f"{stage}: {how}, {call} {number}: {complaint}"

    def complaint(self, stage, folder, done, killed):
        # A run may make a call fewer than the one that was counted.
        if done.returncode not in ((0, -9) if killed else (0,)):
            return f"exit {done.returncode}: {done.stderr[:300]}"
        if not killed and re.search("warning|error", done.stderr):
            return f"complains: {done.stderr[:300]}"
        if done.returncode == -9:
            if not (folder / "run" / "run.json").exists():
                return None  # nothing to continue
            again = self.start("resume run" if stage == "solve" else EXTEND, folder)
            if again.returncode != 0 and "resume.finished" not in again.stderr:
                return f"resume ends with exit {again.returncode}: {again.stderr[:300]}"
        found = compare(self.whole[stage], folder / "run", EQUAL)
        return "; ".join(found[:4]) or None


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--kiln", required=True, type=os.path.abspath)
    parser.add_argument("--shim", required=True, type=os.path.abspath)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="kiln-kill-calls-"))
    try:
        faults = Faults(options, work)
        plan = faults.plan()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            failures = [text for text in pool.map(faults.inject, plan) if text]
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    for text in failures:
        print(text)
    if options.keep:
        print(f"kept in {work}")
    for stage, counts in faults.counts.items():
        print(f"{stage}: " + ", ".join(f"{count} {call}" for call, count in counts.items()))
    print(f"{len(plan)} faults, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
