# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Signals, pipes, limits and what is left when a run is cut off."""
import json
import os
import signal
import subprocess
import time

from harness import PATIENCE, expect, row

LONG = ["solve", "torus:20x20,1", "--time-limit", "1h", "-o", "out"]


def all_files(at, folder="out", lines=400):
    for name in ("run.json", "result.json", "solution.txt", "trace.csv", "events.ndjson"):
        expect(at.has(f"{folder}/{name}"), f"{name} is missing")
    expect(len(at.read(f"{folder}/solution.txt").split()) == lines, "solution.txt is cut off")
    return json.loads(at.read(f"{folder}/result.json"))


def call(seconds=0.1, mark=""):
    """A search that calls a program which sleeps."""
    return ["solve", f"command:sh -c 'sleep {seconds}{mark}; echo {{x}}'", "--var", "x=real:0:1"]


@row("A1-ctrl-c-tee", "Ctrl-C, TERM and HUP to `kiln | tee` keep the answer")
def _(at):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        at.folder.joinpath("log").unlink(missing_ok=True)
        process = at.begin(
            ["bash", "-c", f'"$K" {" ".join(LONG[:-1])} {number.name} 2>&1 | tee log; exit "${{PIPESTATUS[0]}}"'],
            at.environment({"K": at.kiln_path}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        at.wait_for(lambda: at.has("log") and "\n*" in at.read("log"))
        os.killpg(process.pid, number)
        process.wait(60)
        at.wait_for(lambda: at.has(f"{number.name}/result.json"))
        result = all_files(at, number.name)
        expect(result["stop"] in ("interrupted", "terminated"), result["stop"])


@row("A1-head", "`kiln | head -3` writes all files and ends with 141")
def _(at):
    outcome = at.shell('"$K" solve torus:20x20,1 --time-limit 1s -o out 2>&1 | head -3; exit "${PIPESTATUS[0]}"')
    expect(outcome.code == 141, outcome)
    expect(all_files(at)["stop"] == "time_limit", "stopped before its limit")


@row("A2-large-sweeps", "half a second is half a second for functions of 1000 to 100000 variables")
def _(at):
    for name in ("ackley-1000", "ackley-10000", "ackley-100000"):
        outcome = at.kiln("solve", f"function:{name}", "--time-limit", "500ms", "-q")
        expect(outcome.code == 0 and outcome.seconds < 0.5 + PATIENCE, f"{name}: {outcome}")


@row("A2-deaf", "TERM ends a run whose sweeps are long")
def _(at):
    process = at.start(["solve", "function:ackley-100000", "--time-limit", "1h"])
    time.sleep(1.5)
    process.send_signal(signal.SIGTERM)
    outcome = at.outcome(process, time.monotonic(), seconds=20)
    expect(outcome.code in (143, -15) and outcome.seconds < PATIENCE, outcome)


@row("A2-many-vertices", "a million vertices in a second")
def _(at):
    at.write("in.rud", "1000000 1\n1 2 1\n")
    outcome = at.kiln("solve", "in.rud", "--time-limit", "1s", "-q")
    expect(outcome.code == 0 and "cut 1 " in outcome.out and outcome.seconds < 2 * PATIENCE, outcome)


@row("A2-set-up", "set-up that takes long hears TERM", slow=True)
def _(at):
    import random
    choose = random.Random(1)
    edges = 3000000
    at.write("in.rud", f"600000 {edges}\n" + "\n".join(
        f"{choose.randrange(1, 300001)} {choose.randrange(300001, 600001)} 1" for _ in range(edges)) + "\n")
    process = at.start(["solve", "in.rud", "--time-limit", "3s"])
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    outcome = at.outcome(process, time.monotonic(), seconds=20)
    expect(outcome.code in (143, -15) and outcome.seconds < PATIENCE / 2, outcome)


@row("A2-slow-input", "set-up beyond a second is shown and counts in the limit, and there is an answer", slow=True)
def _(at):
    at.write("in.rud", "3 2\n1 2 1\n2 3 1\n")
    # A named pipe stands for a slow file. What waits for standard input does not set up.
    pipe = 'mkfifo p; (sleep {}; cat in.rud) >p & "$K" solve p --format rudy {}; r=$?; wait; rm p; exit $r'
    outcome = at.shell(pipe.format(3.5, "--time-limit 4s --json"))
    expect(outcome.code == 0 and "setting up" in outcome.err, outcome)
    result = json.loads(outcome.out)
    expect(result["time"]["run_s"] < 2.5 and result["objective"]["best"] == 2, result["time"])
    outcome = at.shell(pipe.format(2.5, "--time-limit 1s -q"))
    expect(outcome.code == 0 and "cut 2 " in outcome.out and not outcome.err, outcome)
    outcome = at.shell('(sleep 2.5; cat in.rud) | "$K" solve - --format rudy --time-limit 1s --json')
    expect(outcome.code == 0 and json.loads(outcome.out)["time"]["run_s"] > 0.5, outcome)


@row("A2-long-call", "a call of ten seconds ends with the limit of two")
def _(at):
    outcome = at.kiln(*call(10), "--schedule", "bayesian-optimization", "--time-limit", "1s")
    expect(outcome.seconds < 2.5 + PATIENCE / 2 and outcome.code != 0, outcome)
    expect("defect" not in outcome.err, outcome)


@row("A2-first-calls", "first calls count in limit, progress and clock of the default schedule")
def _(at):
    outcome = at.kiln(*call(0.3), "--time-limit", "1s")
    expect(outcome.code == 0 and outcome.seconds < 2.5 + PATIENCE / 2, outcome)
    expect("bayesian-optimization" in outcome.err and "first call" in outcome.err, outcome)


@row("A2-second-signal", "a second Ctrl-C ends at once with the best")
def _(at):
    process = at.start(["solve", "torus:200x200,1", "--time-limit", "1h", "-o", "out"])
    at.wait_for(lambda: at.has("out/trace.csv") and at.read("out/trace.csv").count("\n") > 2)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    outcome = at.outcome(process, time.monotonic(), seconds=20)
    expect(outcome.code == 130 and outcome.seconds < PATIENCE / 2, outcome)
    expect(at.has("out/result.json") and at.has("out/solution.txt"), "nothing was written")


@row("A3-start-fails", "a program that is gone after some calls loses no evaluation")
def _(at):
    at.write("van.sh", '#!/bin/sh\nsleep 0.05\necho "$1"\n', 0o755)
    process = at.start(["solve", "command:./van.sh {x}", "--var", "x=real:0:1", "-p", "evaluations=14", "-o", "out"])
    at.wait_for(lambda: at.has("out/evaluations.csv") and at.read("out/evaluations.csv").count("\n") > 6)
    at.folder.joinpath("van.sh").unlink()
    outcome = at.outcome(process, time.monotonic())
    rows = [line.split(",") for line in at.read("out/evaluations.csv").splitlines()[1:]]
    good = [float(line[3]) for line in rows if line[3]]
    expect(len(good) >= 6 and at.has("out/solution.txt"), outcome)
    expect(abs(float(at.read("out/solution.txt").split()[0]) - min(good)) < 1e-12, "the best is not the least value")
    expect("defect" not in outcome.err, outcome)


@row("A3-kill-9", "kill -9 keeps evaluations, and --past goes on")
def _(at):
    process = at.start([*call(0.05), "-p", "evaluations=1000", "-o", "out"])
    at.wait_for(lambda: at.has("out/evaluations.csv") and at.read("out/evaluations.csv").count("\n") > 4)
    process.kill()
    process.communicate()
    known = at.read("out/evaluations.csv").count("\n") - 1
    outcome = at.kiln(*call(0), "-p", "evaluations=3", "--past", "out/evaluations.csv", "-o", "more", "-q")
    expect(outcome.code == 0, outcome)
    expect(at.read("more/evaluations.csv").count("\n") - 1 >= known, "past evaluations are left out")


@row("A3-cut-off-call", "a call that Ctrl-C cuts off is no failed evaluation")
def _(at):
    process = at.start([*call(0.4), "-p", "evaluations=1000", "-o", "out"])
    at.wait_for(lambda: at.has("out/evaluations.csv") and at.read("out/evaluations.csv").count("\n") > 2)
    process.send_signal(signal.SIGINT)
    outcome = at.outcome(process, time.monotonic())
    expect(outcome.code == 130, outcome)
    expect(all(line.split(",")[3] for line in at.read("out/evaluations.csv").splitlines()[1:]),
           at.read("out/evaluations.csv"))


@row("A4-one-folder", "three runs into one folder: one has it, two are refused")
def _(at):
    runs = [at.start(["solve", "random:2000,5,1", "--seed", str(seed), "--time-limit", "1s", "-q", "-o", "race"])
            for seed in (1, 2, 3)]
    outcomes = [at.outcome(run, time.monotonic()) for run in runs]
    expect(sorted(one.code for one in outcomes) == [0, 6, 6], [str(one) for one in outcomes])
    expect(sum("error[io.exists]" in one.err for one in outcomes) == 2, [str(one) for one in outcomes])
    all_files(at, "race", 2000)


@row("A6-orphans", "no signal leaves a call behind, nor do programs that return")
def _(at):
    for tries, numbers in enumerate(([signal.SIGINT] * 3, [signal.SIGKILL], [signal.SIGQUIT], [signal.SIGUSR1],
                                     [signal.SIGPIPE, signal.SIGTERM])):
        mark = f"97{os.getpid()}{tries}"
        process = at.start(["solve", f"command:sh -c 'sleep {mark}; echo {{x}}'", "--var", "x=real:0:1"])
        at.wait_for(lambda: at.processes_with(mark) >= 2)
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.1)
        process.communicate(timeout=30)
        at.wait_for(lambda: at.processes_with(f"sleep\0{mark}") == 0, 10)
    mark = f"96{os.getpid()}"
    at.kiln("solve", f"command:sh -c 'sleep {mark} & setsid sleep {mark} & echo {{x}}'", "--var", "x=real:0:1",
            "-p", "evaluations=2", "--time-limit", "5s", "--timeout", "1s")
    at.wait_for(lambda: at.processes_with(f"sleep\0{mark}") == 0, 10)


@row("A16-early-ctrl-c", "Ctrl-C before the first evaluation has ended is 130, and not the program's fault")
def _(at):
    process = at.start(call(30))
    at.wait_for(lambda: at.processes_with("sleep\x0030") > 0)
    process.send_signal(signal.SIGINT)
    outcome = at.outcome(process, time.monotonic())
    expect(outcome.code == 130 and "no finite value" not in outcome.err, outcome)


@row("A16-ignored-int", "an INT that was ignored at the start stays ignored")
def _(at):
    outcome = at.shell('trap "" INT; "$K" solve torus:20x20,1 --time-limit 1s -q & sleep 0.4; kill -INT $!; wait $!')
    expect(outcome.code == 0 and "time limit" in outcome.out, outcome)


@row("B-kill-9", "no killed run leaves a torn file or a temporary one", slow=True)
def _(at):
    for tries in range(12):
        folder = f"out{tries}"
        process = at.start(["solve", "torus:30x30,1", "--time-limit", "1h", "-o", folder, "--checkpoint-every", "1ms"])
        time.sleep(0.05 + 0.06 * tries)
        process.kill()
        process.communicate()
        if not at.has(folder):
            continue
        for path in at.folder.joinpath(folder).iterdir():
            expect(path.suffix != ".tmp", path)
            if path.suffix == ".json":
                json.loads(path.read_text())
            if path.name == "solution.txt":
                expect(len(path.read_text().split()) == 900, path)


@row("B-early-signals", "INT, TERM and HUP at any time leave all files or none")
def _(at):
    for tries, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 2):
        process = at.start([*LONG[:-1], f"out{tries}"])
        time.sleep(0.03 + 0.15 * tries)
        process.send_signal(number)
        outcome = at.outcome(process, time.monotonic())
        expect(outcome.code in (130, 143, -number), outcome)
        if at.has(f"out{tries}/trace.csv") and at.read(f"out{tries}/trace.csv").count("\n") > 1:
            all_files(at, f"out{tries}")
