#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Tables and plot data from the documents of `kiln bench`.

usage: report.py FOLDER DATA

Reads FOLDER/*.json, puts tables between the markers `<!-- table: SUITE -->` and `<!-- end -->` of
FOLDER/README.md, and writes DATA/SUITE.dat with columns for gnuplot and DATA/SUITE.series with the
number of series, for the suites that have a plot. Standard library only.
"""
import json
import pathlib
import re
import sys

import report_rates as rates
import report_runs as runs


def load(folder):
    """The documents by suite, CPUs first."""
    suites = {}
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        if document.get("schema") != "kiln.bench/1":
            raise SystemExit(f"{path}: not a document of schema kiln.bench/1")
        suites.setdefault(document["suite"], []).append((path.name, document))
    for documents in suites.values():
        documents.sort(key=lambda item: (item[1]["device"]["name"] != "cpu", item[0]))
    return suites


REPORTS = {"kernels": (rates.kernels_tables, rates.kernels_data),
           "sweep": (rates.sweep_tables, rates.sweep_data),
           "ticks": (rates.ticks_tables, None),
           "executors": (rates.executors_tables, rates.executors_data),
           "scaling": (rates.scaling_tables, None),
           "telemetry": (rates.telemetry_tables, None),
           "api": (rates.api_tables, None),
           "information": (rates.information_tables, None),
           "products": (rates.products_tables, None),
           "forecast": (rates.forecast_tables, None),
           "schedules": (runs.schedules_tables, None),
           "latency": (runs.latency_tables, None),
           "targets": (runs.targets_tables, None),
           "tempering": (runs.tempering_tables, None),
           "pareto": (runs.pareto_tables, None),
           "bayes": (runs.bayes_tables, None)}


def put_table(page, suite, lines):
    pattern = re.compile(rf"(<!-- table: {suite} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"README.md has no markers for suite {suite}")
    return pattern.sub(lambda match: match[1] + "\n".join(lines) + "\n" + match[2], page)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    folder, data = map(pathlib.Path, sys.argv[1:])
    readme = folder / "README.md"
    page = readme.read_text()
    for suite, documents in load(folder).items():
        if suite not in REPORTS:
            print(f"no table for suite {suite} yet", file=sys.stderr)
            continue
        make_tables, make_data = REPORTS[suite]
        page = put_table(page, suite, make_tables(documents))
        if make_data is None:
            continue
        rows, series = make_data(documents)
        (data / f"{suite}.dat").write_text("".join("\t".join(row) + "\n" for row in rows))
        (data / f"{suite}.series").write_text(str(series))
    readme.write_text(page)


if __name__ == "__main__":
    main()
