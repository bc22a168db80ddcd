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


def digits(value):
    if 0 < value < 0.001:
        return "< 0.001"
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def device_name(document, threads=None):
    device = document["device"]
    if device["name"] != "cpu":
        return device["description"].split(",")[0]
    count = threads or document["threads"]
    variant = device["description"].split(", ", 1)[-1]
    return f"CPU, {count} thread{'' if count == 1 else 's'}, {variant}"


def provenance(documents):
    rows = []
    for name, document in documents:
        device = document["device"]
        processor = device.get("processor")
        where = f"{processor}, " if device["name"] == "cpu" and processor else ""
        command = " ".join(document["command"])
        rows.append([f"[`{name}`]({name})", where + device["description"], f"`{command}`",
                     document["kiln"], document["date"]])
    return table((["document", "device", "command", "version of Kiln", "start time"], []), rows)


def table(header, rows):
    """The first cells of a row are words, the others numbers."""
    words = header[0]
    cells = list(words) + list(header[1])
    lines = ["| " + " | ".join(cells) + " |",
             "|" + "---|" * len(words) + "---:|" * len(header[1])]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def kernel_label(row):
    replicas = row["replicas"]
    if not replicas:
        return row["shape"]
    return f"{row['shape']}, {replicas} replica{'' if replicas == 1 else 's'}"


def kernels_tables(documents):
    lines = []
    for _, document in documents:
        floors = document["floors"]
        lines += [f"**{device_name(document)}.** Floors: an empty launch takes "
                  f"{digits(floors['launch_microseconds'])} µs, and a large copy moves "
                  f"{digits(floors['copy_gb_per_s'])} GB/s.", ""]
        rows = []
        for row in document["rows"]:
            us = row["microseconds"]
            gate = row["gate_microseconds"]
            on_gpu = document["device"]["name"] != "cpu"
            rows.append([f"`{row['kernel']}`", kernel_label(row), digits(us["median"]),
                         f"{digits(us['lower_quartile'])} .. {digits(us['upper_quartile'])}",
                         digits(row["gb_per_s"]), f"{100 * row['floor_share']:.0f} %",
                         digits(row["attempts_per_ns"]) if row["attempts_per_ns"] else "",
                         f"≤ {gate:g}" if gate and on_gpu else ""])
        lines += table((["kernel", "shape"], ["µs", "quartiles", "GB/s", "floor/time", "attempts/ns",
                                            "gate, µs"]),
                       rows)
        lines.append("")
    return lines + provenance(documents)


def kernels_data(documents):
    """A line per kernel and shape; median, lower and upper quartile per device."""
    lines, order = {}, []
    for column, (_, document) in enumerate(documents):
        for row in document["rows"]:
            label = f"{row['kernel']}  {row['shape']}"
            if label not in lines:
                lines[label] = [["-"] * 3 for _ in documents]
                order.append(label)
            us = row["microseconds"]
            lines[label][column] = [f"{us[key]:g}"
                                    for key in ("median", "lower_quartile", "upper_quartile")]
    header = ["kernel"]
    for _, document in documents:
        header += [device_name(document)] * 3
    body = [[label] + sum(lines[label], []) for label in order]
    return [header] + body, len(documents)


def sweep_series(documents):
    """(name of the series, {instance: row}) per device and number of threads."""
    series = {}
    for _, document in documents:
        for row in document["rows"]:
            name = device_name(document, row["threads"])
            series.setdefault(name, {})[row["instance"]] = row
    return series


def instances_of(series):
    order = []
    for rows in series.values():
        order += [name for name in rows if name not in order]
    return order


def sweep_tables(documents):
    series = sweep_series(documents)
    rows = []
    for instance in instances_of(series):
        any_row = next(by[instance] for by in series.values() if instance in by)
        cells = [f"`{instance}`", str(any_row["n"]), str(any_row["m"])]
        for by in series.values():
            row = by.get(instance)
            if row is None:
                cells.append("")
                continue
            spread = row["attempts_per_ns_spread"]
            cells.append(f"{digits(spread['median'])} ({digits(spread['min'])} .. "
                         f"{digits(spread['max'])})")
        rows.append(cells)
    return table((["instance"], ["n", "m", *series]), rows) + [""] + provenance(documents)


def sweep_data(documents):
    series = sweep_series(documents)
    body = []
    for instance in instances_of(series):
        label = instance.removeprefix("gset:").removeprefix("palubeckis:")
        values = [f"{by[instance]['attempts_per_ns']:g}" if instance in by else "-"
                  for by in series.values()]
        body.append([label] + values)
    return [["instance", *series]] + body, len(series)


def scaling_tables(documents):
    lines = []
    for _, document in documents:
        series = {}
        for row in document["rows"]:
            series.setdefault((row["instance"], row["threads"]), []).append(row)
        saturation = {(one["instance"], one["threads"]): one for one in document["saturation"]}
        for (instance, threads), of_series in series.items():
            one = saturation[instance, threads]
            least = one["replicas"]
            found = ("no saturation up to " + f"{one['max_replicas']:,} replicas"
                     if least is None else f"saturated from {least:,} replicas on")
            lines += [f"**`{instance}`, {device_name(document, threads)}:** {found}; the default is "
                      f"{one['default_replicas']:,} replicas.", ""]
            rows = [[f"{row['replicas']:,}", digits(row["microseconds_per_sweep"]),
                     spread_text(row["attempts_per_ns_spread"], digits),
                     f"{100 * row['best_share']:.0f} %"] for row in of_series]
            lines += table(([], ["replicas", "µs per sweep", "attempts/ns", "of best"]), rows)
            lines.append("")
    return lines + provenance(documents)


def ticks_tables(documents):
    lines = []
    for _, document in documents:
        rows = []
        for row in document["rows"]:
            nodes = row["nodes_per_tick"]
            rows.append([f"`{row['case']}`", f"{row['replicas']:,}", f"{row['sweeps_per_tick']:g}",
                         str(row["launches_per_tick"]), "" if nodes is None else str(nodes),
                         spread_text(row["microseconds_per_tick"], digits),
                         digits(row["microseconds_per_node"]),
                         spread_text(row["idle_microseconds_per_tick"], digits),
                         f"{100 * row['idle_share']:.2g} %"])
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["case"], ["replicas", "sweeps", "launches", "nodes", "µs per tick",
                                   "µs per node", "idle µs", "idle"]), rows)
        lines.append("")
    return lines + provenance(documents)


def executors_tables(documents):
    """A row for each case and a column for each executor, in us a tick."""
    lines = []
    for _, document in documents:
        executors = list(dict.fromkeys(row["executor"] for row in document["rows"]))
        cases = {}
        for row in document["rows"]:
            cases.setdefault(row["case"], {})[row["executor"]] = row
        rows = []
        for case, by in cases.items():
            first = next(iter(by.values()))
            rows.append([f"`{case}`", f"{first['replicas']:,}",
                         *(digits(by[one]["microseconds_per_tick"]["median"]) for one in executors),
                         by["auto"]["chosen"],
                         " / ".join(digits(by[one]["launches_per_1000_sweeps"])
                                    for one in executors)])
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["case"], ["replicas", *(f"{one} µs" for one in executors), "auto took",
                                   "launches for 1000 sweeps: " + " / ".join(executors)]), rows)
        lines.append("")
    return lines + provenance(documents)


def share_text(row, name):
    """Empty where an older document has no such share."""
    return f"{100 * row[name]:.0f} %" if name in row else ""


def tempering_tables(documents):
    lines = []
    for _, document in documents:
        rows = []
        for row in document["rows"]:
            spread = row["attempts_per_ns_spread"]
            trips = row["round_trips_per_phase"]
            predicted = row["round_trips_predicted"]
            rows.append([f"`{row['instance']}`", f"{row['rungs']:.0f} x {row['ladders']:,.0f}",
                         f"{row['sweeps']:,}", digits(row["seconds"]),
                         f"{digits(spread['median'])} ({digits(spread['min'])} .. "
                         f"{digits(spread['max'])})",
                         digits(row["barrier"]), "" if trips is None else digits(trips),
                         "" if predicted is None else digits(predicted),
                         share_text(row, "cluster_share"), share_text(row, "exchange_share")])
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["instance"], ["rungs x ladders", "sweeps", "s", "attempts/ns", "barrier",
                                       "trips/phase", "predicted", "clusters", "exchange"]), rows)
        lines.append("")
    return lines + provenance(documents)


def schedules_tables(documents):
    lines = []
    for _, document in documents:
        rows = [[f"`{row['instance']}`", f"{row['groups']:,}", f"{row['anneals']:,}",
                 digits(row["seconds"]), spread_text(row["schedules_per_s_spread"], digits),
                 digits(row["attempts_per_ns"]), share_text(row, "best_share")]
                for row in document["rows"]]
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["instance"], ["groups", "anneals", "s", "anneals/s", "attempts/ns",
                                       "best found"]), rows)
        lines.append("")
    return lines + provenance(documents)


def latency_text(latency):
    return f"{digits(latency['median'])} / {digits(latency['p99'])}"


def latency_tables(documents):
    lines = []
    for _, document in documents:
        rows = [[f"`{row['device']}`", f"{row['runs']:,}",
                 latency_text(row["setup_microseconds"]), latency_text(row["ticks_microseconds"]),
                 latency_text(row["result_microseconds"]), latency_text(row["microseconds"]),
                 str(row["driver_calls_of_a_run"])] for row in document["rows"]]
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["device"], ["runs", "set-up µs", "ticks µs", "result µs", "all µs",
                                     "driver calls"]), rows)
        lines.append("")
    return lines + provenance(documents)


def goal_text(row):
    if row["goal"] is None:
        return ""
    return f"{row['goal_is']} {row['goal']:g}"


def targets_tables(documents):
    lines = []
    for _, document in documents:
        rows = [[row["case"], row["unit"], f"{row['replicas']:,}", f"{row['sweeps']:,}",
                 f"{row['figure']:.3g}", goal_text(row),
                 {True: "yes", False: "no", None: ""}[row["met"]]] for row in document["rows"]]
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["case", "unit"], ["replicas", "sweeps", "figure", "goal", "met"]), rows)
        lines.append("")
    return lines + provenance(documents)


def telemetry_tables(documents):
    lines = []
    for _, document in documents:
        rows = [[row["case"], f"{row['replicas']:,}", f"{row['sweeps']:,}",
                 f"{row['epochs']:,}", f"{row['records']:,}", f"{row['lost']:,}",
                 digits(row["on_s"]["median"]), f"{100 * row['overhead']:+.2f} %"]
                for row in document["rows"] if "overhead" in row]
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["case"], ["replicas", "sweeps", "epochs", "records", "lost", "s",
                                   "overhead"]), rows)
        for ring in (row for row in document["rows"] if row["case"] == "ring"):
            lines += ["", f"Ring: {ring['records']:,} records, {ring['lost']:,} overwritten before "
                          f"they were read, {ring['torn']:,} torn."]
        lines.append("")
    return lines + provenance(documents)


def api_tables(documents):
    lines = []
    for _, document in documents:
        rows = [[row["case"], f"{row['replicas']:,}", f"{row['sweeps']:,}",
                 digits(row["direct_microseconds_per_sweep"]["median"]),
                 digits(row["api_microseconds_per_sweep"]["median"]),
                 f"{100 * row['overhead']:+.2f} %", f"{100 * row['whole_overhead']:+.2f} %"]
                for row in document["rows"]]
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["case"], ["replicas", "sweeps", "by hand µs", "interface µs", "overhead",
                                   "whole"]), rows)
        lines.append("")
    return lines + provenance(documents)


def spread_text(spread, form):
    return f"{form(spread['median'])} ({form(spread['min'])} .. {form(spread['max'])})"


def pareto_tables(documents):
    lines = []
    for _, document in documents:
        rows = []
        for row in document["rows"]:
            share = row["true_share"]
            igd = row["igd"]
            cost = row["constraint_cost_spread"]
            rows.append([f"`{row['case']}`", f"{row['islands']:,} x {row['population']:,}",
                         f"{row['generations']:,}", str(row["seeds"]), digits(row["seconds"]),
                         digits(row["generations_per_s"]),
                         spread_text(row["hypervolume_spread"], lambda value: f"{value:.5f}"),
                         "" if share is None else f"{100 * share:.2f} %",
                         "" if igd is None else f"{igd:.5f}",
                         "" if cost is None else spread_text(
                             cost, lambda value: f"{100 * value:+.1f} %")])
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["case"], ["islands x members", "generations", "seeds", "s",
                                   "generations/s", "hypervolume", "share of the true front", "IGD",
                                   "added time of the constraint"]), rows)
        lines.append("")
    return lines + provenance(documents)


def bayes_gate(gate):
    sign = "≥" if gate["at_least"] else "≤"
    return f"{gate['what']} {gate['value']:.4g} (required {sign} {gate['limit']:g})"


def bayes_tables(documents):
    lines = []
    for _, document in documents:
        rows = []
        for row in document["rows"]:
            spread = row["value_spread"]
            rows.append([f"`{row['case']}`", str(row["dimension"]), f"{row['evaluations']:,}",
                         str(row["batch"]), f"{row['studies']:,}",
                         "" if row["milliseconds"] is None else digits(row["milliseconds"]),
                         "" if spread is None else spread_text(
                             spread, lambda value: f"{value:.5g}"),
                         row["failure"] or "; ".join(map(bayes_gate, row["gates"])),
                         {None: "", True: "yes", False: "no"}[row["met"]]])
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["case"], ["dimensions", "evaluations", "batch", "studies",
                                   "ms per iteration", "best value", "measured value (required)",
                                   "met"]), rows)
        lines.append("")
    return lines + provenance(documents)


def information_tables(documents):
    lines = []
    for _, document in documents:
        milliseconds = lambda spread: "" if spread is None else f"{spread['median'] * 1e3:.3g}"
        rows = [[row["case"], f"{row['links']:,}", milliseconds(row["device_seconds"]),
                 milliseconds(row["seconds"])] for row in document["rows"]]
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["case"], ["links", "device ms", "call ms"]), rows)
        lines.append("")
    return lines + provenance(documents)


def products_tables(documents):
    """A row for each size and a column for each path, in TFLOP/s, with cuBLAS after a slash."""
    lines = []
    for _, document in documents:
        rates = {row["case"]: row["tflops"] for row in document["rows"]}
        paths = list(dict.fromkeys(row["path"] for row in document["rows"] if row["path"]))
        sizes = sorted({row["n"] for row in document["rows"]})
        text = lambda case: f"{rates[case]:.3g}" if case in rates else ""
        both = lambda n, path: " / ".join(
            filter(None, [text(f"{n}: {path}"), text(f"{n}: cuBLAS {path}")]))
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["n"], paths), [[f"{n:,}", *(both(n, path) for path in paths)]
                                        for n in sizes])
        lines.append("")
    return lines + provenance(documents)


# A new suite adds its functions here: tables, and data for a plot or None.
REPORTS = {"kernels": (kernels_tables, kernels_data), "sweep": (sweep_tables, sweep_data),
           "ticks": (ticks_tables, None), "executors": (executors_tables, None),
           "scaling": (scaling_tables, None),
           "schedules": (schedules_tables, None), "latency": (latency_tables, None),
           "targets": (targets_tables, None), "telemetry": (telemetry_tables, None),
           "api": (api_tables, None),
           "tempering": (tempering_tables, None), "pareto": (pareto_tables, None),
           "bayes": (bayes_tables, None), "information": (information_tables, None),
           "products": (products_tables, None)}


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
