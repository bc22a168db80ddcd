#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Compares Kiln's draws with reference posteriors.

usage: posteriors.py KILN FOLDER [options of kiln sample ...]

FOLDER has posteriordb/data/*.json and posteriordb/reference/*.json (summaries of 10,000 draws), and may have
german_credit/german_numeric.csv with logistic.ground_truth.json. Prints one line per posterior: the largest |difference| in
joint standard errors over means and standard deviations, the least bulk effective draws, the largest R-hat, the divergences,
the gradients per second and the seconds of sampling. Fails if a z is 4 or more.
"""
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile


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


def report(name, result, z, where):
    sample = result["sample"]
    # Of the quantities of the model, on the chains that were kept; all chains have several times as many.
    ess = min(q["ess_bulk"] or 0.0 for q in result["summary"] if q["name"] != "lp__")
    print(
        f"{name:24s} z {z:5.2f} ({where}), ess {ess:9.0f}, "
        f"r_hat {sample['r_hat_max']['value']:.4f}, divergences {sample['divergences']}, "
        f"{sample['rates']['gradients_per_s'] or 0:.3g} gradients/s, {sample['time']['sampling_s'] or 0:.3f} s",
        flush=True,
    )
    return z >= 4


def standardised(path):
    """The credit table as a CSV with its 24 columns in units of their spread, and 1 for a bad credit."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    rows = [[float(v) for v in line.split(",")] for line in lines]
    columns = list(zip(*rows))
    scaled = []
    for column in columns[:24]:
        mean, spread = statistics.fmean(column), statistics.pstdev(column)
        scaled.append([(v - mean) / spread for v in column])
    scaled.append([int(v == 2) for v in columns[24]])
    head = ",".join(f"x{j + 1:02d}" for j in range(24)) + ",bad"
    return "\n".join([head, *(",".join(repr(v) for v in row) for row in zip(*scaled))]) + "\n"


def german_credit(kiln, folder, options):
    truth = json.loads((folder / "logistic.ground_truth.json").read_text())
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as table:
        table.write(standardised(folder / "german_numeric.csv"))
        table.flush()
        result = run(kiln, "logistic-regression,bad", table.name, options)
    means = truth["identity_mean"]["values"]
    errors = truth["identity_mean_standard_error"]["values"]
    # Both have the constant last.
    summary = [q for q in result["summary"] if q["name"] != "lp__"]
    z, where = max(
        (abs(q["mean"] - mean) / math.hypot(q["mcse_mean"], error), q["name"])
        for q, mean, error in zip(summary, means, errors)
    )
    return report("german_credit", result, z, where)


def main():
    kiln, folder, options = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    bad = 0
    for path in sorted((folder / "posteriordb" / "reference").glob("*.json")):
        reference = json.loads(path.read_text())
        model = reference["model"].replace("_noncentered", "")
        result = run(kiln, model, folder / "posteriordb" / "data" / f"{reference['data']}.json", options)
        z, where = worst(result["summary"], reference["summary"])
        bad += report(model, result, z, where)
    if (folder / "german_credit").is_dir():
        bad += german_credit(kiln, folder / "german_credit", options)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
