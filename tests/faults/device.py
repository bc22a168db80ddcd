#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Ends runs as if a call into CUDA had failed, and looks at what is left and what is said.

usage: device.py --kiln PROGRAM --shim libkiln_fail_device.so

Needs no GPU: the shim throws what the CUDA backend throws. Where no further call can succeed, the program must not ask
for anything. The run folder must then hold the last checkpoint, from which the run ends as one without a fault. Ends
with "N faults, N failed".
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from continued import compare

RUN = "solve sk:40,1 --schedule parallel-tempering --replicas 32 --sweeps 60000 --device cpu --threads 1 -o run".split()
EVERY = ["--report-interval", "10ms", "--checkpoint-every", "1ms", "--quiet"]

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
    2: (5, "error[memory.device]", False),
    46: (4, "error[device.busy]", False),
    802: (4, "error[device.busy]", False),
    1: (70, "error[device.cuda]", False),
}
TEXTS = {"error[device.engine_bug]": "engine bug", "error[device.hardware]": "cpu (1 thread"}


class Faults:
    def __init__(self, options, work):
        self.options, self.work = options, work
        done = self.start(work, RUN + EVERY)
        if done.returncode != 0:
            sys.exit(f"fails without a fault (exit {done.returncode}):\n{done.stderr}")

    def start(self, folder, words, **more):
        environment = {"PATH": os.environ["PATH"], **more}
        return subprocess.run([self.options.kiln, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    def inject(self, error):
        """What is wrong after a fault: a text, or None."""
        code, said, lost = FAULTS[error]
        folder = self.work / str(error)
        folder.mkdir()
        done = self.start(folder, RUN + EVERY, LD_PRELOAD=self.options.shim, KILN_FAIL_DEVICE=str(error),
                          KILN_FAIL_REPORTS="6")
        if done.returncode != code or said not in done.stderr or TEXTS.get(said, "") not in done.stderr:
            return f"exit {done.returncode}: {done.stderr}"
        stop = json.loads((folder / "run" / "result.json").read_text())["stop"]
        if stop != ("unfinished" if lost else "failed"):
            return f"result.json says {stop}"
        if not (folder / "run" / "solution.txt").exists() or not (folder / "run" / "checkpoint.kiln").exists():
            return "best or checkpoint is missing"
        again = self.start(folder, ["resume", "run", "--quiet"])
        if again.returncode != 0:
            return f"resume ends with exit {again.returncode}: {again.stderr}"
        return "; ".join(compare(self.work / "run", folder / "run", ("solution.txt",))[:4]) or None


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--kiln", required=True, type=os.path.abspath)
    parser.add_argument("--shim", required=True, type=os.path.abspath)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="kiln-device-") as work:
        faults = Faults(options, pathlib.Path(work))
        for error in FAULTS:
            complaint = faults.inject(error)
            failed += complaint is not None
            if complaint:
                print(f"error {error}: {complaint}")
    print(f"{len(FAULTS)} faults, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
