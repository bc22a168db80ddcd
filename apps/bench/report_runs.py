# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the suites that measure whole runs."""
from report_text import digits, device_name, provenance, table, share_text, spread_text

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
