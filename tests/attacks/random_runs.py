#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of all schedules with random limits, signals and pipes: results are on disk, and the end comes soon.

usage: random_runs.py --kiln PROGRAM [--runs N] [--seed N]

Each run has a folder. It gets a signal at a random time, or ends by its limit; its output goes to a file, to `head`,
to a reader that dies, or nowhere. Afterwards what was found is in the folder, unless SIGKILL came before the first
snapshot. An end is late if it comes more than 0.3 s after limit or signal, one second more where a program is called,
which may take its time; the 0.3 s are multiplied by how much longer than alone a sleeping process of this machine
waits for a core. No process is left. Ends with the distribution of these times and "N runs, N failed".
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from harness import hear_all_signals
from processes import end_processes, processes_of

GRACE_S = 0.3
# A call gets a TERM, and a second to end.
CALL_S = 1.0
# What a killed run leaves behind ends by itself in this time.
LEFT_S = 5.0
SNAPSHOT_S = 0.2

ON_GRAPH = ["torus:60x60,1", "random:1000,5,1", "gset:G11"]
CASES = {
    "simulated-annealing": lambda choose: ["solve", choose(ON_GRAPH)],
    "parallel-tempering": lambda choose: ["solve", choose(ON_GRAPH), "--schedule", "parallel-tempering"],
    "population-annealing": lambda choose: ["solve", choose(ON_GRAPH), "--schedule", "population-annealing"],
    "replica-exchange": lambda choose: ["solve", choose(ON_GRAPH), "--schedule", "replica-exchange"],
    "random-search": lambda choose: ["solve", choose(ON_GRAPH), "--schedule", "random-search"],
    "hmc": lambda choose: ["solve", choose(["function:rosenbrock-50", "function:ackley-200"]), "--schedule", "hmc"],
    "evolutionary": lambda choose: ["solve", choose(["zdt:1", "re:33", "dtlz:2"])],
    "amosa": lambda choose: ["solve", choose(["zdt:1", "re:33", "dtlz:2"]), "--schedule", "amosa"],
    "bayesian-optimization": lambda choose: [
        "solve", choose(["command:sh -c 'sleep 0.05; echo {x}'", "command:sh -c 'trap \"\" TERM; sleep 0.4; echo {x}'"]),
        "--var", "x=real:0:1", "-p", "evaluations=500"],
    "sampling": lambda choose: ["sample", choose(["posterior:eight-schools", "density:gaussian-20"]), "--draws", "10M",
                                "--chains", "4", "-p", "thin=1000"],
}
SIGNALS = [None, None, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXCPU, signal.SIGKILL]
PIPES = ["file", "file", "head", "dying reader", "closed stderr"]


class Run:
    def __init__(self, options, choose, folder):
        self.folder = folder
        self.schedule = choose.choice(sorted(CASES))
        self.limit_s = choose.choice([0.2, 0.5, 1.0, 2.0])
        self.signal = choose.choice(SIGNALS)
        self.signal_s = choose.uniform(0.05, 2.0)
        self.pipe = choose.choice(PIPES)
        words = CASES[self.schedule](choose.choice)
        # What does nothing leaves the limit in charge.
        if self.signal not in (None, signal.SIGPIPE):
            self.limit_s = 3600
        self.words = [options.kiln, *words, "--device", "cpu", "--threads", "2", "--time-limit", f"{self.limit_s}s",
                      "-o", "run", "--checkpoint-every", f"{SNAPSHOT_S}s"]

    def __str__(self):
        name = self.signal.name if self.signal else "no signal"
        return f"{' '.join(self.words[1:])} | {self.pipe}, {name} at {self.signal_s:.2f} s"

    def start(self):
        (self.folder / "tmp").mkdir()
        environment = dict(os.environ, TMPDIR=str(self.folder / "tmp"))
        arguments = dict(cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
        if self.pipe == "closed stderr":
            words = ["sh", "-c", 'exec "$@" 2>&-', "sh", *self.words]
            self.reader = None
            with open(self.folder / "out.txt", "wb") as out:
                return subprocess.Popen(words, stdout=out, **arguments)
        if self.pipe == "file":
            self.reader = None
            with open(self.folder / "out.txt", "wb") as out, open(self.folder / "err.txt", "wb") as err:
                return subprocess.Popen(self.words, stdout=out, stderr=err, **arguments)
        reader = ["head", "-n", "3"] if self.pipe == "head" else ["cat"]
        read, write = os.pipe()
        self.reader = subprocess.Popen(reader, stdin=read, stdout=subprocess.DEVNULL)
        process = subprocess.Popen(self.words, stdout=write, stderr=write, **arguments)
        os.close(read)
        os.close(write)
        return process

    def end_reader(self):
        if self.reader:
            self.reader.kill()
            self.reader.wait()

    def execute(self):
        began = time.monotonic()
        process = self.start()
        due = began + self.limit_s
        if self.signal or self.pipe == "dying reader":
            try:
                process.wait(self.signal_s)
            except subprocess.TimeoutExpired:
                if self.pipe == "dying reader":
                    self.end_reader()
                if self.signal:
                    process.send_signal(self.signal)
                if self.signal not in (None, signal.SIGPIPE):
                    due = time.monotonic()
        try:
            self.code = process.wait(60)
        except subprocess.TimeoutExpired:
            self.code = "no end"
        self.late_s = time.monotonic() - due
        self.end_reader()
        end = time.monotonic() + LEFT_S
        while time.monotonic() < end and processes_of(self.folder, {process.pid}):
            time.sleep(0.02)
        self.left = end_processes(self.folder, {process.pid})
        process.wait()

    def rows(self, name):
        path = self.folder / "run" / name
        return max(0, path.read_bytes().count(b"\n") - 1) if path.exists() else 0

    def complaint(self, slowness):
        if self.code == "no end":
            return "did not end within a minute"
        if self.left:
            return f"left {self.left} processes"
        allowed = {0, 130, 141, 143, 10}
        if self.signal:
            allowed.add(-self.signal)
        if self.first_call_was_cut():
            allowed.add(9)
        if self.code not in allowed:
            return f"exit {self.code}"
        grace = GRACE_S * slowness + (CALL_S if self.schedule == "bayesian-optimization" else 0)
        if self.late_s > grace and self.signal != signal.SIGKILL:
            return f"ended {self.late_s:.2f} s late, {grace:.2f} s are granted"
        return self.missing()

    def first_call_was_cut(self):
        """Whether the limit came before there was any evaluation, and the program says so where it can be read."""
        if self.schedule != "bayesian-optimization" or self.late_s < 0 or self.rows("evaluations.csv") > 0:
            return False
        said = self.folder / "err.txt"
        return not said.exists() or "run.no_evaluation" in said.read_text(errors="replace")

    def missing(self):
        folder = self.folder / "run"
        left = [path.name for path in folder.glob(".*.tmp")] if folder.exists() else []
        if left:
            return f"left {left}"
        if self.schedule == "bayesian-optimization":
            found = self.rows("evaluations.csv") > 0
            needed = [] if self.signal == signal.SIGKILL else ["solution.txt", "result.json"]
        else:
            found = self.rows("trace.csv") > 0
            needed = ["result.json"] if self.schedule == "sampling" else ["solution.txt", "result.json"]
            if self.signal == signal.SIGKILL:
                times = [float(row.split(",")[0]) for row in (folder / "trace.csv").read_text().splitlines()[1:-1]] \
                    if found else []
                found = any(at > SNAPSHOT_S for at in times) and self.schedule != "sampling"
        if not found:
            return None
        for name in needed:
            if not (folder / name).exists():
                return f"{name} is missing"
        if "result.json" in needed:
            stop = json.loads((folder / "result.json").read_text())["stop"]
            if self.code in (130, 143) and stop not in ("interrupted", "terminated"):
                return f"stop is {stop}"
        return None


def slowness():
    """How many times longer than a millisecond a millisecond takes, at most, but no less than once."""
    worst = 0.0
    for _ in range(20):
        began = time.monotonic()
        time.sleep(0.001)
        worst = max(worst, time.monotonic() - began)
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return max(1.0, load) + worst / 0.02


def main():
    hear_all_signals()
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--kiln", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="kiln-runs-"))
    choose = random.Random(options.seed)
    runs, failures, late, lock = [], [], [], threading.Lock()
    for number in range(options.runs):
        folder = work / str(number)
        folder.mkdir()
        runs.append(Run(options, choose, folder))

    def work_off():
        while True:
            with lock:
                if not runs:
                    return
                run = runs.pop()
            run.execute()
            complaint = run.complaint(slowness())
            with lock:
                if run.signal != signal.SIGKILL and run.pipe != "head":
                    late.append(run.late_s)
                if complaint:
                    failures.append(f"{run}: {complaint}")
            shutil.rmtree(run.folder)

    try:
        workers = [threading.Thread(target=work_off) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for text in failures:
        print(text)
    late.sort()
    if late:
        print("ended after limit or signal, seconds: " +
              ", ".join(f"{name} {late[int(part * (len(late) - 1))]:.3f}"
                        for name, part in (("median", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("greatest", 1))) +
              f"; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{options.runs} runs, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
