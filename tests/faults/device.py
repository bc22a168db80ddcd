#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Acts out faults of a device, and looks at what is left and what is said.

usage: device.py --kiln PROGRAM --shim libkiln_fail_device.so --fake-cuda libcuda.so.1

Needs no GPU: the shim throws what the CUDA backend throws, and the fake stands for driver and CUDA module.
* In the middle of a run: where no further call can succeed, the program must not ask for anything, and after a hang it
  must not run handlers of exit(). The run folder must hold the last checkpoint, from which the run ends as one without
  a fault.
* At the beginning: less memory than planned halves the default number of replicas and no given number, and under
  --device auto a busy device is passed over.
Ends with "N faults, N failed".
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from continued import compare

SOLVE = "solve sk:40,1 --schedule parallel-tempering --device cpu --threads 1 -o run".split()
RUN = SOLVE + "--replicas 32 --sweeps 60000".split()
EVERY = ["--report-interval", "10ms", "--checkpoint-every", "1ms", "--quiet"]
# States are most of its memory.
SHORT = "solve torus:600x600,1 --schedule simulated-annealing --sweeps 16 --threads 1 -o run".split()
TIMEOUT_S = 2

# error: exit code, what is said, whether the device is lost with its states
FAULTS = {
    700: (70, "error[device.engine_bug]", True),
    710: (70, "error[device.engine_bug]", True),
    714: (70, "error[device.engine_bug]", True),
    719: (70, "error[device.engine_bug]", True),
    214: (70, "error[device.hardware]", True),
    220: (70, "error[device.hardware]", True),
    226: (70, "error[device.hardware]", True),
    702: (70, "error[device.lost]", True),
    "hang": (70, "error[device.no_answer]", True),
    2: (5, "error[memory.device]", False),
    46: (4, "error[device.busy]", False),
    802: (4, "error[device.busy]", False),
    1: (70, "error[device.cuda]", False),
}
TEXTS = {"error[device.engine_bug]": "engine bug", "error[device.hardware]": "cpu (1 thread",
         "error[device.no_answer]": f"the device has not answered for {TIMEOUT_S} s: wait for a summary"}


class Faults:
    def __init__(self, options, work):
        self.options, self.work = options, work
        done = self.start(work, RUN + EVERY)
        if done.returncode != 0:
            sys.exit(f"fails without a fault (exit {done.returncode}):\n{done.stderr}")

    def start(self, folder, words, **more):
        environment = {"PATH": os.environ["PATH"], **more}
        command = [self.options.kiln, *words]
        try:
            return subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=60)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, "no end within a minute", "", "")

    def begin(self, name, words, **more):
        """A run with faults at its beginning: its folder, and how it ended."""
        folder = self.work / name
        folder.mkdir()
        return folder, self.start(folder, words, LD_PRELOAD=self.options.shim, **more)

    def inject(self, error):
        """What is wrong after a fault in the middle of a run: a text, or None."""
        code, said, lost = FAULTS[error]
        begin = time.monotonic()
        folder, done = self.begin(str(error), RUN + EVERY, KILN_FAIL_DEVICE=str(error), KILN_FAIL_REPORTS="6",
                                  KILN_DEVICE_TIMEOUT=f"{TIMEOUT_S}s")
        seconds = time.monotonic() - begin
        if done.returncode != code or said not in done.stderr or TEXTS.get(said, "") not in done.stderr:
            return f"exit {done.returncode}: {done.stderr}"
        if error == "hang" and seconds < TIMEOUT_S:
            return f"ends after {seconds:.1f} s"
        result = json.loads((folder / "run" / "result.json").read_text())
        if result["stop"] != ("unfinished" if lost else "failed"):
            return f"result.json says {result['stop']}"
        if not result["verified"]:
            return "the best is not verified"
        if not (folder / "run" / "solution.txt").exists() or not (folder / "run" / "checkpoint.kiln").exists():
            return "best or checkpoint is missing"
        if lost and f'"code":"{said[6:-1]}"' not in (folder / "run" / "events.ndjson").read_text():
            return "events.ndjson does not say why"
        again = self.start(folder, ["resume", "run", "--quiet"])
        if again.returncode != 0:
            return f"resume ends with exit {again.returncode}: {again.stderr}"
        return "; ".join(compare(self.work / "run", folder / "run", ("solution.txt",))[:4]) or None

    def plan(self, *words):
        """Bytes of the states of a plan, and its replicas."""
        plan = json.loads(self.start(self.work, [*SHORT[:-2], *words, "--device", "cpu", "--dry-run", "--json"]).stdout)
        return plan["memory"]["batch_bytes"], plan["replicas"]

    def halve_default(self, name, share):
        """Memory for a share of the default number of replicas, and not for twice as many."""
        _, wanted = self.plan()
        half = wanted // share
        more, _ = self.plan("--replicas", str(2 * half))
        folder, done = self.begin(name, SHORT + ["--device", "cpu"], KILN_FAIL_ABOVE=str(more - 1))
        said = f"warning[memory.replicas]: the run has {half} replicas instead of {wanted}"
        if done.returncode != 0 or said not in done.stderr:
            return f"exit {done.returncode}, without '{said}': {done.stderr}"
        run, result = (json.loads((folder / "run" / name).read_text()) for name in ("run.json", "result.json"))
        events = [json.loads(line) for line in (folder / "run" / "events.ndjson").read_text().splitlines()]
        if run["replicas"] != half or result["work"]["replicas"] != half:
            return f"run.json and result.json say {run['replicas']} and {result['work']['replicas']} replicas"
        if not any("instead of" in text for text in result["advice"]):
            return f"result.json advises {result['advice']}"
        if not any(event.get("code") == "memory.replicas" for event in events):
            return "events.ndjson has no warning"
        # What repeats the run gives the number: the same answer, where there is memory.
        for name, words in (("repeated", ["solve", "--repeat", "run", "-o", "again", "-q"]),
                            ("given", [*SHORT[:-1], "given", "--device", "cpu", "--replicas", str(half)])):
            again = self.start(folder, words)
            path = folder / words[words.index("-o") + 1] / "result.json"
            if again.returncode != 0:
                return f"{name}: exit {again.returncode}: {again.stderr}"
            other = json.loads(path.read_text())
            for member in ("objective", "work", "draws"):
                if other.get(member) != result.get(member):
                    return f"{name}: {member} is {other.get(member)} and was {result.get(member)}"
        return None

    def refuse_given(self):
        """A number that the user gave is refused as a whole."""
        most, wanted = self.plan()
        folder, done = self.begin("given", SHORT + ["--device", "cpu", "--replicas", str(wanted)],
                                  KILN_FAIL_ABOVE=str(most - 1))
        if done.returncode != 5 or "error[memory.device]" not in done.stderr:
            return f"exit {done.returncode}: {done.stderr}"
        if f"fix: --replicas {wanted // 2}" not in done.stderr:
            return f"names no number: {done.stderr}"
        return "a result was written" if (folder / "run" / "result.json").exists() else None

    def refuse_at_least(self):
        """Where not even the least fits the run ends as one with a given number."""
        _, done = self.begin("least", SHORT + ["--device", "cpu"], KILN_FAIL_ABOVE="1")
        if done.returncode != 5 or "error[memory.device]" not in done.stderr or "--replicas" in done.stderr:
            return f"exit {done.returncode}: {done.stderr}"
        return None

    def busy(self, name, codes, device, code, said, expected=None, **more):
        """Devices that open with these codes of CUDA."""
        fake = self.options.fake_cuda
        folder, done = self.begin(name, SHORT + ["--device", device], KILN_CUDA_MODULE=fake,
                                  LD_LIBRARY_PATH=os.path.dirname(fake), KILN_FAKE_DEVICES=codes, **more)
        if done.returncode != code or said not in done.stderr:
            return f"exit {done.returncode}, without '{said}': {done.stderr}"
        if code != 0:
            return None
        now = json.loads((folder / "run" / "result.json").read_text())["device"]
        then = json.loads((folder / "run" / "run.json").read_text())["device"]
        if now["name"] != expected or then["name"] != expected:
            return f"result.json says {now['name']}, and run.json {then['name']}"
        if not now["fallback_reason"] or now["fallback_reason"] != then["fallback_reason"]:
            return f"result.json says '{now['fallback_reason']}', and run.json '{then['fallback_reason']}'"
        return None


# MPS: its daemon is busy, too.
BUSY = {
    "next device": ("46,0", "auto", 0, "cuda:0 is busy", "cuda:1"),
    "third device": ("802,803,0", "auto", 0, "cuda:0 is not ready", "cuda:2"),
    "MPS": ("810,0", "auto", 0, "the MPS daemon does not grant cuda:0", "cuda:1"),
    "no device is free": ("46,810", "auto", 0, "no usable GPU (cuda:0 is busy", "cpu"),
    "the named one": ("46,0", "cuda:0", 4, "error[device.busy]: cuda:0 is busy"),
    "the named one, system": ("802,0", "cuda:0", 4, "error[device.not_ready]"),
    "the named one, MPS": ("810,0", "cuda:0", 4, "error[device.busy]: the MPS daemon"),
}
FIRST_WORK = {"KILN_FAIL_DEVICE": "46", "KILN_FAIL_FIRST": "1"}
BUSY_LATER = {
    "next device, later": ("0,0", "auto", 0, "warning[device.fallback]: cuda:0: allocate", "cuda:1"),
    "no device, later": ("0", "auto", 0, "warning[device.fallback]: no usable GPU (cuda:0: allocate", "cpu"),
    "the named one, later": ("0,0", "cuda:0", 4, "error[device.busy]"),
}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--kiln", required=True, type=os.path.abspath)
    parser.add_argument("--shim", required=True, type=os.path.abspath)
    parser.add_argument("--fake-cuda", required=True, type=os.path.abspath)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kiln-device-") as work:
        faults = Faults(options, pathlib.Path(work))
        complaints = {f"error {error}": faults.inject(error) for error in FAULTS}
        for name, share in (("memory for half", 2), ("memory for a quarter", 4)):
            complaints[name] = faults.halve_default(name, share)
        complaints["memory for half of a given number"] = faults.refuse_given()
        complaints["no memory"] = faults.refuse_at_least()
        for name, case in BUSY.items():
            complaints[name] = faults.busy(name, *case)
        for name, case in BUSY_LATER.items():
            complaints[name] = faults.busy(name, *case, **FIRST_WORK)
    failed = {name: text for name, text in complaints.items() if text}
    for name, text in failed.items():
        print(f"{name}: {text}")
    print(f"{len(complaints)} faults, {len(failed)} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
