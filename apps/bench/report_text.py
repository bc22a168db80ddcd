# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Words, numbers and tables of the reports of `kiln bench`."""


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


def share_text(row, name):
    """Empty where an older document has no such share."""
    return f"{100 * row[name]:.0f} %" if name in row else ""


def spread_text(spread, form):
    return f"{form(spread['median'])} ({form(spread['min'])} .. {form(spread['max'])})"
