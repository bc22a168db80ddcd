# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of attacks: how they are declared, and what they run."""
import fcntl
import os
import pathlib
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import termios
import time

from processes import end_processes

ROWS = []

# Machines are shared: a time that a page names is multiplied by this.
PATIENCE = 8


def hear_all_signals():
    """A run in the background inherits ignored signals, and so would the program."""
    for ignored in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(ignored, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Skipped(Exception):
    """What a row needs is not here."""


class Row:
    def __init__(self, name, what, slow, body):
        self.name, self.what, self.slow, self.body = name, what, slow, body


def row(name, what, slow=False):
    """Declares a row; its body takes an At and raises AssertionError."""
    def keep(body):
        ROWS.append(Row(name, what, slow, body))
        return body
    return keep


class Outcome:
    def __init__(self, code, out, err, seconds, peak_kib):
        self.code, self.out, self.err, self.seconds, self.peak_kib = code, out, err, seconds, peak_kib

    def __str__(self):
        return f"exit {self.code} after {self.seconds:.1f} s\n{self.out[-400:]}{self.err[-800:]}"


class At:
    """A folder of its own, and the program."""

    def __init__(self, kiln, data, folder):
        self.kiln_path, self.data_path, self.folder = kiln, data, folder
        self.started = []
        (folder / "tmp").mkdir()

    # --- files ---------------------------------------------------------------------------------------
    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return str(path)

    def read(self, name):
        return (self.folder / name).read_text(errors="replace")

    def has(self, name):
        return (self.folder / name).exists()

    def data(self, name):
        """A file of others."""
        if self.data_path is None or not (pathlib.Path(self.data_path) / name).exists():
            raise Skipped(f"no {name}")
        return str(pathlib.Path(self.data_path) / name)

    # --- runs ----------------------------------------------------------------------------------------
    def environment(self, more=None):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KILN_")}
        return {**kept, "KILN_DEVICE": "cpu", "KILN_THREADS": "2", "TMPDIR": str(self.folder / "tmp"), **(more or {})}

    def start(self, words, environment=None, limits=None, **more):
        """The program in a session of its own."""
        def set_limits():
            for kind, value in (limits or {}).items():
                resource.setrlimit(kind, (value, value))
        return self.begin([self.kiln_path, *words], self.environment(environment), preexec_fn=set_limits, **more)

    def begin(self, words, environment, **more):
        """Any program, likewise. What it leaves behind ends with the row."""
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        self.started.append(subprocess.Popen(words, cwd=self.folder, env=environment, start_new_session=True, **more))
        return self.started[-1]

    def end(self):
        """Kills what the row has started and what that has started. How many processes there were."""
        count = end_processes(self.folder, {process.pid for process in self.started})
        for process in self.started:
            process.wait()
        return count

    def kiln(self, *words, text=None, environment=None, limits=None, seconds=60):
        """Runs the program to its end."""
        began = time.monotonic()
        process = self.start([str(word) for word in words], environment, limits,
                             stdin=subprocess.PIPE if text is not None else subprocess.DEVNULL)
        return self.outcome(process, began, text, seconds)

    def outcome(self, process, began, text=None, seconds=60):
        try:
            out, err = process.communicate(text.encode() if text is not None else None, seconds)
        except subprocess.TimeoutExpired:
            self.end()
            out, err = process.communicate()
            raise AssertionError(f"no end within {seconds} s: {err.decode(errors='replace')[-400:]}") from None
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        return Outcome(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"),
                       time.monotonic() - began, peak)

    def terminal(self, *words, columns=80, seconds=60):
        """Runs the program in a terminal: its exit code and what it wrote, without colours."""
        here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = self.start(words, stdin=there, stdout=there, stderr=there)
        os.close(there)
        text, end = b"", time.monotonic() + seconds
        while True:
            if not select.select([here], [], [], max(0, end - time.monotonic()))[0]:
                self.end()
                raise AssertionError(f"no end within {seconds} s: {text.decode(errors='replace')[-400:]}")
            try:
                block = os.read(here, 65536)
            except OSError:  # the other end is closed
                break
            if not block:
                break
            text += block
        os.close(here)
        return process.wait(), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.decode(errors="replace")).replace("\r\n", "\n")

    def shell(self, text, seconds=60):
        """A line of bash, in which $K is the program."""
        began = time.monotonic()
        process = self.begin(["bash", "-c", text], self.environment({"K": self.kiln_path}))
        return self.outcome(process, began, None, seconds)

    def wait_for(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "what the row waits for did not come"
            time.sleep(0.01)

    def processes_with(self, mark):
        """How many processes have this in their command line."""
        count = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                count += mark.encode() in path.read_bytes() and int(path.parent.name) != os.getpid()
            except OSError:
                pass
        return count


def expect(condition, message):
    assert condition, str(message)


def refused(outcome, code, *words):
    """An error block with these words, and this exit code."""
    expect(outcome.code == code, f"expected exit {code}: {outcome}")
    expect("error[" in outcome.err and "defect" not in outcome.err, outcome)
    for word in words:
        expect(word in outcome.err, f"'{word}' is not said: {outcome}")


# --- values, counted again -----------------------------------------------------------------------------
def read_rudy(text):
    rows = [line.split() for line in text.splitlines() if line.strip()]
    return int(rows[0][0]), [(int(a) - 1, int(b) - 1, int(w[0]) if w else 1) for a, b, *w in rows[1:]]


def cut_of(graph, solution):
    side = [int(word) for word in solution.split()]
    return sum(w for a, b, w in graph[1] if side[a] != side[b])


def read_qubo(text):
    rows = [line.split() for line in text.splitlines() if line.strip() and line[0] not in "c#p"]
    return [(int(a), int(b), float(value)) for a, b, value in rows]


def qubo_of(entries, solution):
    x = [int(word) for word in solution.split()]
    return sum(value * x[a] * x[b] for a, b, value in entries)


def conflicts_of(edges, solution):
    color = [int(word) for word in solution.split()]
    return sum(color[a] == color[b] for a, b in edges)


def read_col(text):
    edges = {tuple(sorted((int(line.split()[1]) - 1, int(line.split()[2]) - 1)))
             for line in text.splitlines() if line.startswith("e ")}
    return [(a, b) for a, b in edges if a != b]
