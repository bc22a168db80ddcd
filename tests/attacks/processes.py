# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that a run left behind, and their end."""
import os
import pathlib
import signal
import time


def looked_at(path):
    """Parent, session and environment of a process; None where it has ended."""
    try:
        # The name of a program may hold blanks and brackets.
        state, parent, _, session = (path / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[:4]
    except OSError:
        return None
    try:
        environment = (path / "environ").read_bytes()
    except OSError:  # of another user
        environment = b""
    return None if state in "ZX" else (int(parent), int(session), environment)


def processes_of(folder, sessions=()):
    """Processes of these sessions, processes whose TMPDIR lies in the folder, and descendants of both.

    The environment tells of those that left session and parents."""
    mark = f"\0TMPDIR={folder}/".encode()
    parents, found = {}, set()
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        seen = looked_at(path)
        if seen is None:
            continue
        pid, (parent, session, environment) = int(path.name), seen
        parents[pid] = parent
        if session in sessions or mark in b"\0" + environment:
            found.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def end_processes(folder, sessions=()):
    """Kills them, and those that they start meanwhile. How many there were."""
    ended, end = set(), time.monotonic() + 20
    while left := processes_of(folder, sessions):
        assert time.monotonic() < end, f"processes that cannot be killed: {sorted(left)}"
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        ended |= left
        time.sleep(0.01)
    return len(ended)
