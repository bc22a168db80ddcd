# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Tables and plot data of the suites that measure kernels, ticks and products."""
from report_text import digits, device_name, provenance, table, spread_text

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
                         *(digits(by[one]["microseconds_per_tick"]["median"])
                           if one in by else "" for one in executors),
                         by["auto"]["chosen"],
                         " / ".join(digits(by[one]["launches_per_1000_sweeps"])
                                    if one in by else "-" for one in executors)])
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["case"], ["replicas", *(f"{one} µs" for one in executors), "auto took",
                                   "launches for 1000 sweeps: " + " / ".join(executors)]), rows)
        lines.append("")
    return lines + provenance(documents)


def executors_data(documents):
    """A line per number of replicas of the case with the shortest ticks; a column per executor."""
    _, document = documents[-1]
    instance = document["rows"][0]["instance"]
    executors, lines = [], {}
    for row in document["rows"]:
        if row["instance"] != instance or row["executor"] == "auto":
            continue
        if row["executor"] not in executors:
            executors.append(row["executor"])
        us = row["microseconds_per_tick"]["median"]
        lines.setdefault(row["replicas"], {})[row["executor"]] = f"{us:g}"
    body = [[str(replicas), *(by.get(one, "-") for one in executors)]
            for replicas, by in sorted(lines.items())]
    return [["replicas", *executors]] + body, len(executors)


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


def forecast_tables(documents):
    """A row for each family and model; the chosen model is bold."""
    lines = []
    percent = lambda share: "" if share is None else f"{100 * share:.1f}"
    for _, document in documents:
        rows = [[row["family"], f"**{row['model']}**" if row["chosen"] else row["model"],
                 percent(row["coverage"]), *map(percent, row["coverage_by_stage"]),
                 percent(row["coverage_between"]), f"{row['width']:.3g}",
                 f"{row['crps_ratio']:.3f}"] for row in document["rows"]]
        lines += [f"**{device_name(document)}**", ""]
        lines += table((["family", "model"], ["in band %", "from 1/8", "1/4", "1/2", "3/4",
                                              "between", "width", "CRPS / last"]), rows)
        lines.append("")
    return lines + provenance(documents)


# A new suite adds its functions here: tables, and data for a plot or None.
