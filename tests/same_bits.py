#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Shows that a change of the code changes no answer.

usage: same_bits.py record --kiln PROGRAM [--device cpu|cuda] [--only TEXT] FILE.json
       same_bits.py compare BEFORE.json AFTER.json

`record` makes fixed runs, which cover every schedule and every kind of problem, and writes the states,
energies, counters, draws, fronts and evaluations of each. Times, counts of launches and the words on
the screen are left out: they may change. So may the names of a schedule and of its parameters; a parameter
that both sides name must have the same value. `compare` lists the runs that differ and ends with 1 if any does.

Runs of class E ("exact") have the same bits on the CPU and on a GPU, so a record of one device may be
compared with a record of the other: runs of other classes are then left out. On the CPU all runs have the
same bits under one compiler. That a run which is saved and loaded equals one in a piece is shown by
`ScheduleSuite.ResumeEqualsUninterrupted` for each schedule, not here.
"""
import argparse
import hashlib
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

# Fields of result.json that depend on the clock, on the machine or on how work is launched.
FREE = {"time", "rates", "device", "queue", "schema"}
FILES = ("solution.txt", "front.csv", "draws.npy", "summary.csv")

EXACT = [
    # Packed spins and bits, sparse and dense, weights of one bit and of many.
    ("annealing-sparse", "solve gset:G1 --sweeps 300 --replicas 64"),
    ("annealing-geometric", "solve gset:G22 --sweeps 100 --replicas 33 -p cooling=geometric"),
    ("annealing-adaptive", "solve torus:20x15,1 --sweeps 300 -p cooling=adaptive --replicas 32"),
    ("annealing-pid", "solve random:200,10,3 --sweeps 300 -p cooling=pid --replicas 32"),
    ("annealing-restarts", "solve sk:64,1 --sweeps 400 -p anneal_sweeps=50 -p restart=best --replicas 40"),
    ("annealing-dense", "solve k2000 --sweeps 20 --replicas 16"),
    ("annealing-qubo", "solve palubeckis:200,50,2 --sweeps 200 --replicas 32"),
    ("annealing-heat-bath", "solve potts:12x12,5,1 --sweeps 200 -p moves=heat-bath --replicas 24"),
    ("annealing-potts", "solve potts:12x12,3,2 --sweeps 200 --replicas 24"),
    ("annealing-coloring", "solve coloring:queen8,10 --sweeps 300 --replicas 24"),
    ("tempering-sparse", "solve gset:G1 --schedule parallel-tempering --sweeps 200"),
    ("tempering-potts", "solve potts:10x10,4,1 --schedule parallel-tempering --sweeps 200"),
    ("exchange-sk", "solve sk:60,3 --schedule replica-exchange --sweeps 200"),
    ("population-sparse", "solve gset:G1 --schedule population-annealing --replicas 256 --sweeps 300"),
    ("population-potts", "solve potts:8x8,3,1 --schedule population-annealing --replicas 128 --sweeps 200"),
    ("tabu-queen", "solve coloring:queen8,min --sweeps 3000 --replicas 16"),
    ("tabu-random", "solve coloring:60,50,min,1 --sweeps 2000 --replicas 8"),
    ("fronts-knapsack", "solve knapsack:60,2,1 --generations 40 -p population=60"),
    ("fronts-cut", "solve cutpair:80,30,1 --generations 40 -p population=40 -p islands=2 -p migration_interval=5"),
]
# Real numbers: functions of the mathematical library and sums whose order a device may choose.
OTHER = [
    ("annealing-reals", "solve function:ackley-8 --schedule simulated-annealing --sweeps 200 --replicas 32"),
    ("annealing-scalarized", "solve zdt:1,8 --schedule simulated-annealing --scalarize chebyshev --sweeps 100"),
    ("tempering-density", "solve density:gaussian-4 --schedule parallel-tempering --sweeps 200"),
    ("exchange-density", "solve density:gaussian-4 --schedule replica-exchange --sweeps 200"),
    ("population-density", "solve density:gaussian-4 --schedule population-annealing --replicas 128 --sweeps 100"),
    ("hmc-chees", "sample density:gaussian-5 --draws 50 --warmup 100 --chains 64"),
    ("hmc-nuts", "sample density:gaussian-5 -p sampler=nuts --draws 50 --warmup 100 --chains 16"),
    ("hmc-schools", "sample posterior:eight-schools --draws 50 --warmup 100 --chains 64"),
    ("hmc-rungs", "sample density:funnel-5 -p rungs=4 --draws 50 --warmup 100 --chains 32"),
    ("hmc-anneals", "solve function:rosenbrock-6 --schedule hmc --sweeps 60 --replicas 16"),
    ("bayes-branin", "solve function:branin --schedule bayesian-optimization --evaluations 24"),
    ("bayes-batch", "solve function:branin --schedule bayesian-optimization --evaluations 24 -p batch=4"),
    ("bayes-studies", "solve function:hartmann3 --schedule bayesian-optimization --evaluations 12 -p studies=2"),
    ("bayes-constrained", "solve constrained:gramacy --schedule bayesian-optimization --evaluations 20"),
    ("fronts-zdt", "solve zdt:1,10 --generations 40 -p population=40"),
    ("fronts-three", "solve dtlz:2 --generations 30 --replicas 92 -p strategy=nsga3"),
    ("fronts-volume", "solve re:33 --generations 20 -p population=40 -p strategy=sms-emoa"),
    ("fronts-decomposed", "solve wfg:4 --generations 30 -p population=40 -p strategy=moead"),
    ("fronts-constrained", "solve cdtlz:c2-dtlz2 --generations 30 -p population=60"),
    # By former names, which the program of version 0.1 knows as well.
    ("fronts-archive", "solve zdt:2,8 -p strategy=amosa --sweeps 40"),
    ("fronts-surrogate", "solve zdt:1,4 -p strategy=surrogate --generations 20"),
]


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def number(value):
    """Bits of a number, so that equal texts are equal numbers; JSON has no infinity."""
    return value.hex() if isinstance(value, float) and math.isfinite(value) else value


def flat(value, path=""):
    if isinstance(value, dict):
        for key in sorted(value.keys() - FREE):
            yield from flat(value[key], f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        yield path, digest(json.dumps([number(item) for item in value]).encode())
    else:
        yield path, number(value)


def evaluations(path):
    """Evaluations less the columns that hold times."""
    rows = [line.split(",") for line in path.read_text().splitlines()]
    kept = [i for i, name in enumerate(rows[0]) if not name.endswith("_s")]
    return "\n".join(",".join(row[i] for i in kept) for row in rows).encode()


def run(kiln, device, words):
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place) / "out"
        command = [kiln, *words.split(), "--seed", "7", "--device", device, "-q", "-o", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=place,
                              env=dict(os.environ, NO_COLOR="1"))
        if done.returncode != 0:
            return {"exit": done.returncode, "said": done.stderr.strip().splitlines()[-3:]}
        result = json.loads((out / "result.json").read_text())
        facts = dict(flat(result))
        for name in FILES:
            if (out / name).exists():
                facts[name] = digest((out / name).read_bytes())
        if (out / "evaluations.csv").exists():
            facts["evaluations.csv"] = digest(evaluations(out / "evaluations.csv"))
        return facts


def record(arguments):
    runs = {}
    for kind, rows in (("E", EXACT), ("other", OTHER)):
        for name, words in rows:
            if arguments.only and arguments.only not in name:
                continue
            facts = run(os.path.abspath(arguments.kiln), arguments.device, words)
            runs[name] = {"class": kind, "command": "kiln " + words, "facts": facts}
            said = f"exit {facts['exit']}: {' '.join(facts['said'])}" if "exit" in facts else "ok"
            print(f"{name:22} {said}", flush=True)
    text = json.dumps({"device": arguments.device, "runs": runs}, indent=1)
    pathlib.Path(arguments.file).write_text(text + "\n")
    failed = [name for name in runs if "exit" in runs[name]["facts"]]
    print(f"{len(runs)} runs, {len(failed)} failed")
    return 1 if failed or not runs else 0


def without_names(entry, other):
    """Facts of a run, less prose, names of its schedule, and parameters that the other side does not name."""
    return {key: value for key, value in entry["facts"].items()
            if key not in ("schedule.name", "schedule.step", "advice", "problem.notes")
            and (not key.startswith("schedule.parameters.") or key in other["facts"])}


def compare(arguments):
    before, after = (json.loads(pathlib.Path(name).read_text()) for name in
                     (arguments.before, arguments.after))
    same_device = before["device"] == after["device"]
    differ, equal, left_out = [], 0, 0
    for name in sorted(before["runs"].keys() | after["runs"].keys()):
        pair = [side["runs"].get(name) for side in (before, after)]
        if None in pair:
            differ.append((name, ["is in one of the two only"]))
            continue
        if not same_device and pair[0]["class"] != "E":
            left_out += 1
            continue
        one, other = (without_names(side, other_side) for side, other_side in
                      (pair, reversed(pair)))
        fields = [f"{key}: {one.get(key)} -> {other.get(key)}"
                  for key in sorted(one.keys() | other.keys()) if one.get(key) != other.get(key)]
        if fields or "exit" in one:
            differ.append((name, fields or ["failed"]))
        else:
            equal += 1
    for name, fields in differ:
        print(f"{name} differs:")
        for field in fields[:6]:
            print(f"  {field}")
    print(f"{equal} runs equal, {len(differ)} differ, {left_out} left out")
    return 1 if differ or equal == 0 else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("--kiln", required=True)
    recording.add_argument("--device", default="cpu")
    recording.add_argument("--only", default="")
    recording.add_argument("file")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before")
    comparing.add_argument("after")
    arguments = parser.parse_args()
    return record(arguments) if arguments.verb == "record" else compare(arguments)


if __name__ == "__main__":
    sys.exit(main())
