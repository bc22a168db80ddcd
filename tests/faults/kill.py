#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Kills runs (SIGKILL) at random instants, resumes them, and compares all that they leave with an uninterrupted run.

usage: kill.py --kiln PROGRAM [--kills N] [--case NAME,...] [--device DEVICE] [--seed N] [--keep]

A kill takes one case, lets the run live for a random part of its time, sends SIGUSR1 now and then (a checkpoint each)
and SIGKILL at the end. Three times in ten, or as often as the case says, the continued run is killed again, and so on.
The last `kiln resume` ends the run. Kills go round the cases in order. Ends with "N kills, N failed".
"""
import argparse
import dataclasses
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from continued import compare


@dataclasses.dataclass
class Case:
    """A run: its words, and the files beside result.json that must be equal byte for byte."""

    words: str
    equal: tuple = ("solution.txt",)
    again: float = 0.3  # how often a continued run is killed again
    life: float = 1.0  # which part of the run's time such a run lives at most


ANNEAL = "solve gset:G11 --schedule simulated-annealing --replicas 64 --sweeps"
CHAINS = ("draws.npy", "summary.csv", *(f"chain_{chain}.csv" for chain in (1, 2, 8)))
FRONT = ("front.csv",)

# Schedules first, each once; then layouts and methods. All end by work, so that two runs are equal.
CASES = {
    "annealing": Case(f"{ANNEAL} 20000"),
    "tempering": Case("solve gset:G11 --schedule parallel-tempering --replicas 64 --sweeps 5000"),
    "population": Case("solve gset:G11 --schedule population-annealing --replicas 256 --sweeps 1000"),
    "exchange": Case("solve gset:G11 --schedule replica-exchange --replicas 64 --sweeps 3000"),
    "sampling": Case("sample posterior:eight-schools --chains 8 --draws 3000 --warmup 1000", CHAINS),
    "search": Case("solve function:branin --schedule bayesian-optimization --evaluations 40",
                   ("solution.txt", "evaluations.csv")),
    "front": Case("solve zdt:1 --generations 600", FRONT),
    "amosa": Case("solve zdt:1 --schedule amosa --sweeps 800", FRONT),
    "expensive-front": Case("solve zdt:1 --schedule bayesian-front --evaluations 40", (*FRONT, "evaluations.csv")),
    "tabu": Case("solve coloring:queen8,8 --schedule tabu-coloring --replicas 32 --sweeps 300"),
    "random": Case("solve gset:G11 --schedule random-search --replicas 64 --sweeps 3000"),
    "default": Case("solve gset:G14 --replicas 128 --sweeps 4000"),
    "annealing-shared": Case("solve gset:G11 -p noise=shared --replicas 1024 --sweeps 20000"),
    "annealing-words": Case(f"{ANNEAL} 8000 --draw-naming words"),
    "annealing-rounds": Case(f"{ANNEAL} 20001 -p anneal_sweeps=2000"),
    "tempering-blocks": Case("solve torus:20x20,1 --schedule parallel-tempering -p rungs=32 --replicas 1024 "
                             "--sweeps 1500"),
    "potts": Case("solve potts:20x20,3,1 --replicas 64 --sweeps 1000"),
    "real": Case("solve function:ackley-20 --replicas 128 --sweeps 1000"),
    "mode": Case("solve posterior:eight-schools --sweeps 1500"),
    "indicator-front": Case("solve zdt:1 --generations 200 -p strategy=sms-emoa", FRONT),
    # An epoch of telemetry takes a fifth of the run: most of its checkpoints are in the epoch of the one before.
    "kills-of-an-epoch": Case("solve ea:10x10,1 --schedule population-annealing --replicas 512 --sweeps 6000", again=0.8,
                              life=0.15),
    "partition": Case("solve partition:40,20,1 --replicas 64 --sweeps 8000"),
}

class Killer:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.random = random.Random(options.seed)
        self.whole = {}  # case: (folder of the uninterrupted run, its seconds)
        self.early = self.resumed = 0

    def words(self, verb, folder):
        words = [self.options.kiln, *verb, "--quiet", "--device", self.options.device, "--threads", "1"]
        return words if verb[0] == "resume" else [*words, "-o", str(folder)]

    def uninterrupted(self, name):
        if name not in self.whole:
            folder = self.work / f"whole-{name}"
            begin = time.monotonic()
            done = subprocess.run(self.words(CASES[name].words.split(), folder), capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{name}: fails without a kill (exit {done.returncode}):\n{done.stderr}")
            self.whole[name] = folder, time.monotonic() - begin
        return self.whole[name]

    def let_live(self, words, seconds, folder=None):
        """Runs a program for a random part of a time, with checkpoints in between, and kills it.

        folder: of a run that begins. Nine of ten kills wait for it: a device takes long to open.
        """
        begin = time.monotonic()
        program = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if folder is not None and self.random.random() < 0.9:
            while program.poll() is None and not (folder / "run.json").exists():
                time.sleep(0.002)
        begun = min(time.monotonic() - begin, seconds)
        end = time.monotonic() + self.random.uniform(0.02, 1.02) * (seconds - begun)
        pauses = seconds / 20, seconds / 4
        while program.poll() is None and time.monotonic() < end:
            time.sleep(max(0, min(self.random.uniform(*pauses), end - time.monotonic())))
            # Before the program listens, this signal ends it: a kill like any other.
            if time.monotonic() < end and program.poll() is None:
                program.send_signal(signal.SIGUSR1)
        program.kill()
        program.wait()

    def kill(self, name):
        """What is wrong with a run that was killed and resumed: a list of texts."""
        whole, seconds = self.uninterrupted(name)
        folder = self.work / f"killed-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        verb, often = CASES[name].words.split(), ["--checkpoint-every", "1ms"]
        self.let_live(self.words(verb, folder) + often, seconds, folder)
        resume = self.words(["resume", str(folder)], folder)
        while self.random.random() < CASES[name].again:
            self.let_live(resume + often, seconds * CASES[name].life)
        if not (folder / "run.json").exists():
            self.early += 1  # nothing to continue
            return []
        self.resumed += (folder / "checkpoint.kiln").exists()
        result = folder / "result.json"
        ended = result.exists() and json.loads(result.read_text())["stop"] != "unfinished"
        done = subprocess.run(resume, capture_output=True, text=True)
        if done.returncode != 0 and not (ended and "resume.finished" in done.stderr):
            return [f"resume ends with exit {done.returncode}: {done.stderr.strip()[:300]}"]
        return compare(whole, folder, CASES[name].equal)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--kiln", required=True, type=os.path.abspath)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--case", type=lambda text: text.split(","), default=list(CASES))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    work = pathlib.Path(tempfile.mkdtemp(prefix="kiln-kill-"))
    killer, failed = Killer(options, work), 0
    try:
        for number in range(options.kills):
            name = options.case[number % len(options.case)]
            found = killer.kill(name)
            failed += bool(found)
            for text in found[:5]:
                print(f"{name}, kill {number + 1}: {text}", flush=True)
            if found and options.keep:
                shutil.copytree(work / f"killed-{name}", work / f"failed-{number + 1}-{name}")
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    if options.keep:
        print(f"kept in {work}")
    print(f"{killer.resumed} continued from a checkpoint, {killer.early} were killed before they had a folder")
    print(f"{options.kills} kills, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
