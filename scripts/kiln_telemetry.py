#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Reads telemetry.bin of a run folder of Kiln. Needs numpy and no other package.

    import kiln_telemetry
    header, records = kiln_telemetry.read("out/run/telemetry.bin")
    run = records[kiln_telemetry.kind(records) == kiln_telemetry.RUN]
    value = header["value_slope"] * run["energy"] + header["value_offset"]

As a program it prints the records as CSV: kiln_telemetry.py FILE [run|group|replica]
"""
import argparse
import struct
import sys

try:
    import numpy as np
except ImportError:  # the help needs no package
    if __name__ != "__main__":
        raise
    np = None

RUN, GROUP, REPLICA = 0, 1, 2
MAGIC = b"KILNTEL\n"
VERSION = 1
HEADER = struct.Struct("<8sIIII7Qdd4Q")
FIELDS = [
    ("seq", "<u8"),
    ("step", "<u8"),
    ("subject", "<u4"),
    ("rung", "<i4"),
    ("energy", "<f8"),
    ("best", "<f8"),
    ("beta", "<f8"),
    ("deviation", "<f4"),
    ("acceptance", "<f4"),
    ("not_finite", "<u4"),
    ("flags", "<u4"),
]
RECORD = np.dtype(FIELDS) if np else None


class FormatError(ValueError):
    """The file is no telemetry file, or one of another version."""


def kind(records):
    """RUN, GROUP or REPLICA of each record."""
    return records["flags"] & 3


def improved(records):
    """Whether the best of all replicas fell in the epoch of each record."""
    return (records["flags"] & 4) != 0


def epoch(header, records):
    """The epoch of each record, from 0."""
    return (records["seq"] - 1) // np.uint64(header["records_per_epoch"])


def parse(data):
    """The header as a dict and the records as an array; a torn record at the end is left out."""
    if len(data) < HEADER.size:
        raise FormatError(f"byte {len(data)}: the file ends within the header")
    names = ("magic version header_bytes record_bytes level replicas groups variables ticks_per_epoch "
             "sweeps_per_tick records_per_epoch all_of_first value_slope value_offset").split()
    header = dict(zip(names, HEADER.unpack_from(data)))
    if header["magic"] != MAGIC:
        raise FormatError("byte 0: the file does not begin like a telemetry file")
    if header["version"] != VERSION:
        raise FormatError(f"byte 8: version {header['version']} is not known")
    if header["record_bytes"] != RECORD.itemsize or header["records_per_epoch"] == 0:
        raise FormatError("byte 16: records have another size")
    begin = header["header_bytes"]
    if not HEADER.size <= begin <= len(data):
        raise FormatError("byte 12: the header has an impossible size")
    count = (len(data) - begin) // RECORD.itemsize
    records = np.frombuffer(data, dtype=RECORD, count=count, offset=begin)
    if count > 0 and (records["seq"][0] == 0 or not np.all(records["seq"][1:] > records["seq"][:-1])):
        raise FormatError("the numbers of the records do not rise")
    return header, records


def read(path):
    """parse() of a file."""
    with open(path, "rb") as file:
        return parse(file.read())


def main(words):
    kinds = {"run": RUN, "group": GROUP, "replica": REPLICA}
    parser = argparse.ArgumentParser(
        prog="kiln_telemetry.py", allow_abbrev=False,
        description="Prints the records of telemetry.bin of a run folder of Kiln as CSV.")
    parser.add_argument("file", metavar="FILE", help="telemetry.bin of a run folder")
    parser.add_argument("kind", metavar="KIND", nargs="?", choices=kinds,
                        help="print only these records: run (all replicas together), group or replica")
    given = parser.parse_args(words)
    if np is None:
        sys.exit("error: kiln_telemetry.py needs the package numpy\n  fix: python3 -m pip install numpy")
    header, records = read(given.file)
    if given.kind:
        records = records[kind(records) == kinds[given.kind]]
    print("epoch,kind," + ",".join(RECORD.names[1:-1]))
    for number, of, record in zip(epoch(header, records), kind(records), records):
        print(f"{number},{of}," + ",".join(repr(record[name].item()) for name in RECORD.names[1:-1]))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (OSError, FormatError) as error:
        sys.exit(f"error: {error}")
