#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Compares Kiln's draws with reference posteriors.

usage: posteriors.py KILN FOLDER [options of kiln sample ...]

FOLDER has posteriordb/data/*.json and posteriordb/reference/*.json (summaries of 10,000 draws). Prints
one line per posterior: the largest |difference| in joint standard errors over means and standard deviations, the least bulk
effective draws, the largest R-hat, the divergences and the seconds of sampling. Fails if a z is 4 or more.
"""
import json
import math
import pathlib
import subprocess
import sys


def run(kiln, name, data, options):
    command = [kiln, "sample", f"posterior:{name}", "--data", str(data), "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def worst(summary, reference):
    """Largest z over means and standard deviations of all quantities both know."""
    z, where = 0.0, ""
    for q in summary:
        r = reference.get(q["name"])
        if r is None:
            continue
        for own, error, theirs, their_error in (
            (q["mean"], q["mcse_mean"], r["mean"], r["mcse_mean"]),
            (q["sd"], q["mcse_sd"], r["sd"], r["mcse_sd"]),
        ):
            one = abs(own - theirs) / math.hypot(error or 0.0, their_error)
            if one > z:
                z, where = one, q["name"]
    return z, where


def main():
    kiln, folder, options = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    bad = 0
    for path in sorted((folder / "posteriordb" / "reference").glob("*.json")):
        reference = json.loads(path.read_text())
        model = reference["model"].replace("_noncentered", "")
        result = run(kiln, model, folder / "posteriordb" / "data" / f"{reference['data']}.json", options)
        z, where = worst(result["summary"], reference["summary"])
        sample = result["sample"]
        bad += z >= 4
        print(
            f"{model:24s} z {z:5.2f} ({where}), ess {sample['ess_bulk_min']['value']:9.0f}, "
            f"r_hat {sample['r_hat_max']['value']:.4f}, divergences {sample['divergences']}, "
            f"{sample['time']['sampling_s'] or 0:.3f} s",
            flush=True,
        )
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
