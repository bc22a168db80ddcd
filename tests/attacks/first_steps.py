# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""What new users tried with data of their own."""
import csv
import json
import math
import re
import signal
import time

from harness import PATIENCE, conflicts_of, cut_of, expect, qubo_of, read_col, read_qubo, read_rudy, refused, row

TABLE = "temperature,pressure,yield\n" + "".join(
    f"{t},{p},{100 - (t - 70) ** 2 / 10 - (p - 3) ** 2}\n" for t in range(40, 101, 10) for p in range(1, 7))


def best_known(at, table, instance, column):
    with open(at.data(table), encoding="utf-8") as file:
        return next(float(line[column]) for line in csv.DictReader(file) if line["instance"] == instance)


@row("a-qubo", "public QUBO files reach their best known values, counted again")
def _(at):
    for name in ("bqp50_1", "bqp100_3", "bqp250_5"):
        path, target = at.data(f"qubo/{name}.qubo"), best_known(at, "qubo/best_known.csv", name, "best_known_max")
        outcome = at.kiln("solve", path, "--maximize", "--target", int(target), "--time-limit", "20s", "-q", "-o", name)
        expect(outcome.code == 0, outcome)
        with open(path, encoding="utf-8") as file:
            expect(qubo_of(read_qubo(file.read()), at.read(f"{name}/solution.txt")) == target, f"{name}: {outcome}")


@row("a-maxcut", "G1 reaches its best known cut, counted again")
def _(at):
    target = best_known(at, "maxcut/best_known.csv", "G1", "best_known")
    outcome = at.kiln("solve", at.data("maxcut/G1.txt"), "--target", int(target), "--time-limit", "30s", "-o", "out")
    expect(outcome.code == 0, outcome)
    with open(at.data("maxcut/G1.txt"), encoding="utf-8") as file:
        expect(cut_of(read_rudy(file.read()), at.read("out/solution.txt")) == target, outcome)


@row("b-coloring", "public graphs are coloured without conflicts, counted again")
def _(at):
    for name in ("myciel4", "queen5_5", "anna", "homer"):
        path, colors = at.data(f"coloring/{name}.col"), int(best_known(at, "coloring/best_known.csv", name, "best_known_k"))
        outcome = at.kiln("solve", path, "--colors", colors, "--target", "0", "--time-limit", "20s", "-o", name)
        expect(outcome.code == 0, outcome)
        with open(path, encoding="utf-8") as file:
            edges = read_col(file.read())
        solution = at.read(f"{name}/solution.txt")
        expect(conflicts_of(edges, solution) == 0 and len(set(solution.split())) <= colors, f"{name}: {outcome}")


@row("c-table", "a measured table: the best row within 60 look-ups")
def _(at):
    found = 0
    for name, sense in (("suzuki", max), ("agnp", max), ("crossed_barrel", max)):
        path = at.data(f"tables/olympus/{name}/data.csv")
        with open(path, encoding="utf-8") as file:
            rows = list(csv.reader(file))
        header = [f"x{k}" for k in range(len(rows[0]) - 1)] + ["y"]
        at.write(f"{name}.csv", "\n".join(",".join(line) for line in [header, *rows]) + "\n")
        outcome = at.kiln("solve", f"table:{name}.csv", "--objective", "y", "--maximize", "-p", "evaluations=60", "--json")
        expect(outcome.code == 0, outcome)
        values = [float(line[-1]) for line in rows]
        best = json.loads(outcome.out)["objective"]["best"]
        found += best >= sense(values) - 0.02 * (max(values) - min(values))
    expect(found >= 2, f"within 2 % of the optimum in {found} of 3")


@row("c-own-table", "a table of your own: its optimum, by the names of its columns")
def _(at):
    at.write("t.csv", TABLE)
    outcome = at.kiln("solve", "table:t.csv", "--objective", "yield", "--sense", "maximize", "-p", "evaluations=25")
    expect(outcome.code == 0 and re.search(r"yield 100\b", outcome.out), outcome)
    expect(re.search(r"temperature = 70\b", outcome.out) and re.search(r"pressure = 3\b", outcome.out), outcome)


@row("d-command", "a program with a log, an integer and a category: the optimum of a known function")
def _(at):
    at.write("f.py", "import math, sys\nlr, depth, kind = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]\n"
             "print((math.log10(lr) + 2.5) ** 2 + abs(depth - 6) + (kind != 'adam'))\n")
    outcome = at.kiln("solve", "command:python3 f.py {lr} {depth} {kind}", "--var", "lr=real:1e-5:1:log", "--var",
                      "depth=int:1:12", "--var", "kind=cat:sgd,adam,rms", "-p", "evaluations=40", "-p", "batch=2", "--json",
                      seconds=120)
    expect(outcome.code == 0 and json.loads(outcome.out)["objective"]["best"] < 0.1, outcome)


@row("e-regression", "a regression on a table: posterior means within a tenth of a standard deviation of their formulas")
def _(at):
    x = [k / 10 for k in range(40)]
    y = [3 + 0.5 * k + (-1) ** k for k in range(40)]
    at.write("d.csv", "dose,weight\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y)))
    outcome = at.kiln("sample", "posterior:linear-regression,weight", "--data", "d.csv", "--draws", "500", "-o", "out")
    expect(outcome.code == 0, outcome)
    summary = {line["name"]: line for line in csv.DictReader(at.read("out/summary.csv").splitlines())}
    # Least squares; all priors are flat, that of sigma too, so that n - 3 degrees of freedom are left for it.
    mean_x, mean_y = sum(x) / 40, sum(y) / 40
    spread = sum((a - mean_x) ** 2 for a in x)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / spread
    squares = sum((b - mean_y - slope * (a - mean_x)) ** 2 for a, b in zip(x, y))
    sigma = math.sqrt(squares / 2) * math.exp(math.lgamma(18) - math.lgamma(18.5))
    width = math.sqrt(squares / 35)
    truths = {"alpha": (mean_y - slope * mean_x, width * math.sqrt(1 / 40 + mean_x ** 2 / spread)),
              "beta[dose]": (slope, width / math.sqrt(spread)),
              "sigma": (sigma, math.sqrt(squares / 35 - sigma ** 2))}
    expect(set(summary) - {"lp__"} == set(truths), set(summary))
    for name, (mean, deviation) in truths.items():
        told = summary[name]
        expect(abs(float(told["mean"]) - mean) < 0.1 * deviation, f"{told}, the mean is {mean}")
        expect(abs(float(told["sd"]) / deviation - 1) < 0.1, f"{told}, the standard deviation is {deviation}")


@row("F1-default", "a command is searched by few evaluations, and says how many calls it will make")
def _(at):
    outcome = at.kiln("solve", "command:sh -c 'sleep 0.02; echo {x}'", "--var", "x=real:0:1", "-p", "evaluations=12")
    expect(outcome.code == 0 and "bayesian-optimization" in outcome.err and "all 12 calls" in outcome.err, outcome)


@row("F5-front", "the front that is handed out is never worse than what was shown")
def _(at):
    for name in ("re:33", "re:24"):
        outcome = at.kiln("solve", name, "--time-limit", "2s")
        expect(outcome.code == 0, outcome)
        shown = [float(line.split()[3 if line.startswith("*") else 2]) for line in outcome.err.splitlines()
                 if re.match(r"\*?\s+[\d.]+s\s+\d", line)]
        told = float(re.search(r"hypervolume ([\d.]+)", outcome.out)[1])
        expect(shown and told >= max(shown) - 1e-5, f"{name}: {max(shown)} shown, {told} given")


@row("F6-sense", "minimise or maximise is said, and taken everywhere")
def _(at):
    at.write("q.qubo", "p qubo 0 3 3 1\n0 0 -2\n1 1 3\n2 2 -1\n0 1 4\n")
    at.write("t.csv", TABLE)
    for words, word in ((["q.qubo"], "minimi"), (["q.qubo", "--maximize"], "maximi"), (["q.qubo", "--minimize"], "minimi"),
                        (["q.qubo", "--sense", "maximize"], "maximi")):
        outcome = at.kiln("solve", *words, "--sweeps", "50")
        expect(outcome.code == 0 and word in outcome.out + outcome.err, f"{words}: {outcome}")
        expect(re.search(r"value -3\b" if word == "minimi" else r"value 5\b", outcome.out), outcome)
    outcome = at.kiln("check", "q.qubo")
    expect("minimi" in outcome.out + outcome.err, outcome)
    outcome = at.kiln("solve", "table:t.csv", "--objective", "yield", "-p", "evaluations=8")
    expect("maximi" in outcome.out + outcome.err, outcome)


@row("F7-target", "a target that is not reached is said, with exit 10, and conflicts are conflicts")
def _(at):
    at.write("k4.col", "p edge 4 6\n" + "".join(f"e {a} {b}\n" for a in range(1, 5) for b in range(a + 1, 5)))
    outcome = at.kiln("solve", "k4.col", "--colors", "3", "--target", "0", "--sweeps", "50")
    expect(outcome.code == 10 and "target" in outcome.out + outcome.err and "conflict" in outcome.out, outcome)


@row("F7-colors", "--colors min, and more than 127 colours")
def _(at):
    at.write("k4.col", "p edge 5 6\n" + "".join(f"e {a} {b}\n" for a in range(1, 5) for b in range(a + 1, 5)))
    outcome = at.kiln("solve", "k4.col", "--colors", "min", "--time-limit", "2s")
    expect(outcome.code == 0 and re.search(r"\b4\b", outcome.out), outcome)
    expect(at.kiln("solve", "k4.col", "--colors", "300", "--sweeps", "5", "-q").code == 0, "300 colours")


@row("F8-bill", "--replicas beside studies does not multiply the bill in silence")
def _(at):
    outcome = at.kiln("solve", "command:echo {x}", "--var", "x=real:0:1", "--replicas", "4", "-p", "evaluations=8",
                      "-o", "out")
    calls = at.read("out/evaluations.csv").count("\n") - 1 if outcome.code == 0 else 0
    expect(outcome.code == 2 or calls == 8 or f"{calls}" in outcome.err, outcome)


@row("F10-unknown", "files that it does not know get a fix")
def _(at):
    for name, text in (("a.csv", TABLE), ("a.tsp", "NAME: a\nTYPE: TSP\nDIMENSION: 3\nNODE_COORD_SECTION\n1 0 0\n"),
                       ("a.cnf", "p cnf 3 1\n1 -2 3 0\n")):
        at.write(name, text)
        refused(at.kiln("solve", name, "--time-limit", "1s"), 3, "fix:")
    expect("table:" in at.kiln("solve", "a.csv").err, "the table is not named")


@row("F11-columns", "the names of a table's columns are told where one has to be chosen")
def _(at):
    at.write("t.csv", TABLE)
    outcome = at.kiln("solve", "table:t.csv")
    expect(outcome.code == 2 and "temperature" in outcome.err and "pressure" in outcome.err, outcome)


@row("F13-options", "options and names that one expects are understood or lead to the right one")
def _(at):
    for option in ("--evaluations", "--generations"):
        outcome = at.kiln("solve", "zdt:1", option, "5")
        expect(outcome.code == 0 or "fix: --generations N" in outcome.err, outcome)
    for short, schedule in (("sa", "simulated-annealing"), ("pt", "parallel-tempering"), ("bo", "bayesian-optimization"),
                            ("annealing", "simulated-annealing")):
        outcome = at.kiln("solve", "torus:4x4,1", "--schedule", short, "--sweeps", "5", "--dry-run")
        expect(schedule in outcome.out + outcome.err, f"{short}: {outcome}")


@row("F14-best-known", "--target best-known stops at the best known value")
def _(at):
    outcome = at.kiln("solve", "gset:G1", "--target", "best-known", "--time-limit", "30s", "-q")
    expect(outcome.code == 0 and outcome.seconds < 5 + PATIENCE and "11624" in outcome.out, outcome)


@row("F15-eighty", "no line of a run is wider than a terminal of 80 columns")
def _(at):
    for words in (["torus:20x20,1"], ["zdt:1"], ["function:rosenbrock-4"], ["torus:8x8,1", "--schedule", "replica-exchange"]):
        code, screen = at.terminal("solve", *words, "--time-limit", "300ms")
        wide = [line for line in screen.splitlines() if len(line) > 80]
        expect(code == 0 and "done" in screen and not wide, wide or screen)


@row("F-diagnose", "diagnose reads every schedule's result, and is no dump")
def _(at):
    for number, words in enumerate((["torus:6x6,1"], ["torus:6x6,1", "--schedule", "parallel-tempering"],
                                    ["torus:6x6,1", "--schedule", "population-annealing"],
                                    ["torus:6x6,1", "--schedule", "replica-exchange"], ["zdt:1"],
                                    ["function:rosenbrock-3", "--schedule", "hmc"])):
        at.kiln("solve", *words, "--sweeps", "50", "-q", "-o", f"out{number}")
        outcome = at.kiln("diagnose", f"out{number}")
        expect(outcome.code == 0 and "{" not in outcome.out.replace("out", "") and outcome.out.strip(), f"{words}: {outcome}")


@row("h-screen", "Ctrl-C says that the result will be written; standard output has results only")
def _(at):
    process = at.start(["solve", "torus:20x20,1", "--time-limit", "1h", "--json"])
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    outcome = at.outcome(process, time.monotonic())
    expect(outcome.code == 130 and "will be written" in outcome.err, outcome)
    expect(json.loads(outcome.out)["stop"] == "interrupted", "no single document")
    expect("\x1b" not in outcome.err, "escapes in a pipe")
