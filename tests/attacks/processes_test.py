#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that a row leaves no process behind, with programs that pretend to be kiln."""
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from harness import At
from processes import processes_of

# What a hung program may have started: children that are deaf, in a group or a session of their own, without a
# parent, or without the environment.
LEAVES = """#!/bin/bash
trap '' TERM INT HUP
(trap '' TERM INT HUP; sleep 600) &
setsid sleep 600 &
(setsid setsid sleep 600 &)
(env -i sleep 600 &)
(setsid bash -c 'sleep 600 & exec sleep 600' &)
touch started
"""


class Leaves(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kiln-processes-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.at = At(str(self.folder / "kiln"), None, self.folder)
        self.addCleanup(self.at.end)
        # One that is not the row's.
        self.other = subprocess.Popen(["sleep", "600"])
        self.addCleanup(self.other.wait)
        self.addCleanup(self.other.kill)

    def left(self):
        # The one without an environment has the session of the program.
        sessions = {process.pid for process in self.at.started}
        return len(processes_of(self.folder, sessions))

    def test_a_row_that_takes_too_long(self):
        self.at.write("kiln", LEAVES + "sleep 600\n", 0o755)
        with self.assertRaisesRegex(AssertionError, "no end within 2 s"):
            self.at.kiln("solve", seconds=2)
        self.assertTrue(self.at.has("started"))
        self.assertEqual(self.left(), 0)
        self.assertIsNone(self.other.poll())

    def test_a_line_of_a_shell(self):
        self.at.write("kiln", LEAVES, 0o755)
        with self.assertRaisesRegex(AssertionError, "no end within 2 s"):
            self.at.shell('"$K" | cat', seconds=2)
        self.assertEqual(self.left(), 0)

    def test_a_row_that_ends(self):
        self.at.write("kiln", LEAVES.replace("600 &", "600 >/dev/null 2>&1 &"), 0o755)
        self.at.start(["solve"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.at.wait_for(lambda: self.at.has("started"))
        self.at.wait_for(lambda: self.left() >= 6)
        self.assertGreaterEqual(self.at.end(), 6)
        self.assertEqual(self.left(), 0)
        self.assertIsNone(self.other.poll())

    def test_a_terminal_that_stays_open(self):
        self.at.write("kiln", LEAVES + "sleep 600\n", 0o755)
        began = time.monotonic()
        with self.assertRaisesRegex(AssertionError, "no end within 2 s"):
            self.at.terminal("solve", seconds=2)
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual(self.left(), 0)


if __name__ == "__main__":
    unittest.main()
