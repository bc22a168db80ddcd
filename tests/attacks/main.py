# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the rows; tests/attacks.sh --help tells how."""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time

import files  # noqa: F401  rows declare themselves
import first_steps  # noqa: F401
import signals  # noqa: F401
import systems  # noqa: F401
from harness import ROWS, At, Skipped, hear_all_signals


def main():
    hear_all_signals()
    root = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser()
    parser.add_argument("--kiln", default=str(root / "build/ci/bin/kiln"))
    parser.add_argument("--data", default=os.environ.get("KILN_SHARED_DATA"))
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    rows = [one for one in ROWS if not options.names or one.name.startswith(tuple(options.names))]
    if options.list:
        for one in rows:
            print(f"{one.name:24} {'slow ' if one.slow else '     '} {one.what}")
        return 0
    kiln = os.path.abspath(options.kiln)
    if not os.access(kiln, os.X_OK):
        print(f"{kiln} is no program: --kiln PROGRAM", file=sys.stderr)
        return 2
    data = os.path.abspath(options.data) if options.data else None
    passed = failed = skipped = 0
    work = pathlib.Path(tempfile.mkdtemp(prefix="kiln-attacks-"))
    try:
        for one in rows:
            if options.fast and one.slow:
                continue
            folder = work / one.name.replace("/", "-")
            folder.mkdir()
            began = time.monotonic()
            at = At(kiln, data, folder)
            try:
                one.body(at)
                passed += 1
                result = "ok"
            except Skipped as why:
                skipped += 1
                result = f"skipped: {why}"
            except Exception as why:  # whatever a row meets, the others are run
                failed += 1
                result = f"FAILED: {type(why).__name__}: {why}"
            finally:
                at.end()
            print(f"{time.monotonic() - began:6.1f} s  {one.name}: {one.what}: {result}", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
