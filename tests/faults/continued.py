# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""What a run that was killed and resumed must have in common with one that was not: all but clock times."""
import json

# Members of result.json, at any depth, that two runs of the same path may have different, and why.
LEFT_OUT = {
    "time": "clock times",
    "time_s": "clock times",
    "primal_integral": "an integral over the clock",
    "device_s": "clock times",
    "queue": "launches and copies: a continued run loads its state, and repeats what the kill cut off",
    "graph_capture": "a GPU captures no ticks where few are left",
    "memory": "a continued run allocates for its checkpoint",
    "hardware": "readings of sensors",
    "profile": "clock times",
}
RATE = "_per_s"  # work of a second: a clock time in the divisor
READINGS = ("The host is busy",)  # beginnings of advice that is a reading of the machine, like "hardware"


def differences(one, other, place=""):
    """Where two documents differ, apart from what is left out."""
    if isinstance(one, dict) and isinstance(other, dict):
        found = []
        for name in sorted(set(one) | set(other)):
            if name in LEFT_OUT or RATE in name:
                continue
            if name not in one or name not in other:
                found.append(f"{place}{name} is in one of them")
            else:
                found += differences(one[name], other[name], f"{place}{name}.")
        return found
    if isinstance(one, list) and isinstance(other, list):
        one, other = ([x for x in both if not str(x).startswith(READINGS)] for both in (one, other))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [text for i, both in enumerate(zip(one, other)) for text in differences(*both, f"{place}{i}.")]
    return [] if one == other else [f"{place.rstrip('.')}: {str(one)[:60]} and {str(other)[:60]}"]


def json_lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def compare(whole, continued, equal):
    """What differs between the folder of an uninterrupted run and that of a continued one.

    equal: files beside result.json that must be equal byte for byte.
    """
    found = differences(json.loads((whole / "result.json").read_text()),
                        json.loads((continued / "result.json").read_text()), "result.json ")
    # A run for a front has neither incumbents nor telemetry.
    if (whole / "incumbents.ndjson").exists():
        found += differences(json_lines(whole / "incumbents.ndjson"), json_lines(continued / "incumbents.ndjson"),
                             "incumbents.ndjson ")
    # Records of telemetry have no time. A trace has a row for each report, and reports follow the clock.
    for name in ("telemetry.bin", *equal):
        if not (whole / name).exists() and name not in equal:
            continue
        if not (continued / name).exists():
            found.append(f"{name} is missing")
        elif (whole / name).read_bytes() != (continued / name).read_bytes():
            found.append(f"{name} has other bytes")
    json_lines(continued / "events.ndjson")
    rows = (continued / "trace.csv").read_text().splitlines()
    if any(row.count(",") != rows[0].count(",") for row in rows):
        found.append("trace.csv has a torn row")
    found += [f"{path.name} was left behind" for path in continued.glob(".*.tmp")]
    return found
