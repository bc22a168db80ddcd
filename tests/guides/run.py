#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a page and compiles and runs its C++, in the order in which they stand there.

    ```console        each line that begins with "$ " is a command; the lines below it are its output
    ```sh             a script, which must succeed
    ```cpp            with main(): a program, compiled to ./app, which later commands may run.
                      Else a fragment: all fragments of a page are one function, each in a scope inside
                      that of the fragment before it
    ```cpp namespace  a fragment at namespace scope
    ```cpp file=NAME  a file, which a block below includes
    ```cpp plugin=NAME  a plug-in, compiled to ./NAME
    ```c              a program in C11, compiled to ./app like one in C++
    ```cuda           compiled by nvcc (--only cuda)
    ```cmake          configured against an installed Kiln (--only cmake, --only cuda)

Comments that readers do not see, on lines of their own before the block that they are about:

    <!-- cpp          a fragment that is not shown, up to the line "-->"; expect(...) is an assertion
    <!-- numbers vary -->    numbers of the output are not compared, words are
    <!-- not run: REASON --> the block is counted as skipped

Output is compared word by word, so that it may be broken into lines anywhere; "..." stands for any
words. Never compared: durations and rates, the line "device", and rows of progress. A command must end with
status 0, or with another one if the output shown has a line that begins with "error[".
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LIMIT_S = 120

PREAMBLE = """#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <kiln/kiln.hpp>
#include <memory>
#include <numbers>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>
"""
EXPECT = """#define expect(...) \\
  do if (!(__VA_ARGS__)) { std::printf("%s:%d: not so: %s\\n", __FILE__, __LINE__, #__VA_ARGS__); std::exit(1); } while (0)
"""
MAIN = """int main() {
  try {
    page();
  } catch (const kiln::Error& error) {
    std::printf("%s\\n", error.what());
    return 1;
  }
}
"""


class Block:
    def __init__(self, words, line):
        self.language = words[0] if words else ""
        self.words = words[1:]
        self.line = line  # of the first line inside it
        self.text = ""
        self.numbers_vary = False
        self.reason = None  # why it is not run

    def named(self, what):
        """NAME of the word WHAT=NAME, or None."""
        return next((word.partition("=")[2] for word in self.words if word.startswith(what + "=")), None)


def blocks_of(text):
    """All blocks of a page, hidden ones included."""
    found, block, end, vary, reason = [], None, "", False, None
    for number, line in enumerate(text.splitlines(), 1):
        if block is not None:
            if line.strip() == end:
                found.append(block)
                block = None
            else:
                block.text += line + "\n"
            continue
        if line == "<!-- numbers vary -->":
            vary = True
        elif match := re.fullmatch(r"<!-- not run: (.+) -->", line):
            reason = match[1]
        elif match := re.fullmatch(r"(```+|<!-- )([a-z].*)", line):
            block = Block(match[2].split(), number + 1)
            end = "-->" if line.startswith("<!--") else match[1]
            block.numbers_vary, block.reason = vary, reason
            vary, reason = False, None
    if block is not None:
        raise SystemExit(f"line {block.line - 1}: the block does not end")
    return found


class Failure(Exception):
    pass


# --- output ------------------------------------------------------------------------------------------
def compared_words(lines, numbers_vary):
    """The words of an output that must be the same each time."""
    kept, skipping = [], None
    for line in lines:
        if skipping == "device" and line.startswith(" " * 13):
            continue
        if skipping == "rows" and (not line.strip() or line[0] in " *"):
            continue
        skipping = None
        if re.match(r" +time +\S", line):
            skipping = "rows"
        elif re.match(r"device +", line):
            skipping = "device"
        else:
            kept.append(line)
    text = re.sub(r"(?<![\w.])\d[\d.]* ?(?:ns|us|µs|ms|s)\b", "# s", " ".join(" ".join(kept).split()))
    text = re.sub(r"/s \d[\d.]*[kMG]?(?= |$)", "/s #", text)
    if numbers_vary:
        text = re.sub(r"-?\d[\d.,]*(?:e[-+]?\d+)?[kMG]?(?=$|[^\w])", "#", text)
    return text.split()


def difference(expected, actual):
    """None if the words agree, else a sentence."""
    parts, part = [], []
    for word in expected:
        if word == "...":
            parts.append(part)
            part = []
        else:
            part.append(word)
    parts.append(part)
    at = 0
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        places = [at] if number == 0 else range(at, len(actual) - len(part) + 1)
        if last and number > 0:
            places = [len(actual) - len(part)] if len(actual) - len(part) >= at else []
        place = next((p for p in places if actual[p:p + len(part)] == part), None)
        if place is None:
            same = 0
            while number == 0 and part[:same + 1] == actual[:same + 1]:
                same += 1
            begin = max(0, same - 5)
            there = actual[begin:begin + 12] if number == 0 else actual[at:]
            return f"expected: {' '.join(part[begin:begin + 12])}\n  actual:   {' '.join(there)}"
        at = place + len(part)
    if at != len(actual):
        return f"more than expected: {' '.join(actual[at:])}"
    return None


# --- commands ----------------------------------------------------------------------------------------
def commands_of(text):
    """(line within the block, command, lines of output) for each command of a console block."""
    found, goes_on = [], False
    for number, line in enumerate(text.splitlines()):
        if goes_on:
            found[-1][1] += "\n" + line
        elif line.startswith("$ "):
            found.append([number, line[2:], []])
        elif found:
            found[-1][2].append(line)
            continue
        goes_on = line.endswith("\\")
    return found


class Page:
    def __init__(self, path, tools, folder):
        self.path, self.tools, self.folder = path, tools, folder
        self.blocks = blocks_of(path.read_text(encoding="utf-8"))
        for block in self.blocks:
            if name := block.named("file"):
                (folder / name).write_text(f'#line {block.line} "{path.name}"\n{block.text}', encoding="utf-8")
        self.done, self.skipped, self.failures = 0, [], []

    def shell(self, script):
        environment = dict(os.environ, KILN_DEVICE="cpu", LC_ALL="C.UTF-8", NO_COLOR="1")
        environment["PATH"] = f"{self.tools.kiln.parent}:{environment['PATH']}"
        for name in ("KILN_SEED", "KILN_REPLICAS", "KILN_CHAINS"):
            environment.pop(name, None)
        try:
            run = subprocess.run(["bash", "-o", "pipefail", "-c", script], cwd=self.folder, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            raise Failure(f"takes longer than {LIMIT_S} s") from None
        return run.returncode, run.stdout.decode("utf-8", "replace")

    def console(self, block):
        for number, command, lines in commands_of(block.text):
            self.at = block.line + number
            status, output = self.shell(command)
            wants_error = any(line.startswith("error[") for line in lines)
            if (status != 0) != wants_error:
                raise Failure(f"{command}\n  ended with status {status}\n{output}")
            if lines:
                vary = block.numbers_vary
                found = difference(compared_words(lines, vary), compared_words(output.splitlines(), vary))
                if found:
                    raise Failure(f"{command}\n  {found}")

    def script(self, block):
        status, output = self.shell("set -e\n" + block.text)
        if status != 0:
            raise Failure(f"the script ended with status {status}\n{output}")

    # --- C++ -------------------------------------------------------------------------------------------
    def compile(self, source, program, language="c++", flags=()):
        file = f"{program}.{'c' if language == 'c' else 'cpp'}"
        (self.folder / file).write_text(source, encoding="utf-8")
        words = self.tools.compile.read_text(encoding="utf-8").split("\n")
        words = [word for word in words if word not in ("", "-I", "-D")]
        at = words.index("SOURCE")
        before = words[:at]
        if language == "c":
            before = [word if word != "-std=c++20" else "-std=c11" for word in before]
            before += ["-Wall", "-Wextra", "-pedantic", "-Werror"]
        command = before + [*flags, "-x", language, file, "-x", "none", "-o", program] + words[at + 1:]
        run = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode != 0:
            raise Failure("does not compile\n" + run.stdout.decode("utf-8", "replace"))

    def whole_program(self, block):
        self.compile(f'#line {block.line} "{self.path.name}"\n{block.text}', "app")

    def c_program(self, block):
        self.compile(f'#line {block.line} "{self.path.name}"\n{block.text}', "app", "c")

    def plugin(self, block):
        self.compile(f'#line {block.line} "{self.path.name}"\n{block.text}', block.named("plugin"),
                     flags=("-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"))

    def included_file(self, block):
        line = f'#include "{block.named("file")}"'
        if not any(line in other.text for other in self.blocks):
            raise Failure(f"no block has the line {line}")

    def fragments(self, blocks):
        """All fragments as one program: those at namespace scope first, then the others as one function."""
        includes, outside, inside = [], "", ""
        for block in blocks:
            text = f'#line {block.line} "{self.path.name}"\n'
            for line in block.text.splitlines():
                include = line.startswith("#include")
                if include:
                    includes.append(line)
                text += ("" if include else line) + "\n"
            if "namespace" in block.words:
                outside += text
            else:
                inside += "{\n" + text
        ends = "}" * sum("namespace" not in block.words for block in blocks)
        source = PREAMBLE + "\n".join(includes) + "\n" + EXPECT + outside
        self.compile(source + "static void page() {\n" + inside + ends + "\n}\n" + MAIN, "fragments")
        status, output = self.shell("./fragments")
        if status != 0:
            raise Failure(f"the fragments ended with status {status}\n{output}")

    # --- the page --------------------------------------------------------------------------------------
    def attempt(self, what, block, action, *arguments, blocks=1):
        self.at = block.line
        try:
            action(*arguments)
            self.done += blocks
        except Failure as failure:
            self.failures.append(f"{self.path.name}:{self.at}: {what}: {failure}")

    def run(self):
        actions = {"console": self.console, "sh": self.script, "cpp": self.whole_program,
                   "c": self.c_program}
        fragments = []
        for block in self.blocks:
            if block.language in actions and block.reason:
                self.skipped.append(f"line {block.line}: {block.reason}")
            elif block.named("file"):
                self.attempt("file", block, self.included_file, block)
            elif block.named("plugin"):
                self.attempt("plugin", block, self.plugin, block)
            elif block.language == "cpp" and "int main(" not in block.text:
                fragments.append(block)
            elif block.language in actions:
                self.attempt(block.language, block, actions[block.language], block)
        if fragments:
            self.attempt("cpp", fragments[0], self.fragments, fragments, blocks=len(fragments))


# --- what needs more than a compiler -------------------------------------------------------------------
def needs_cuda(block):
    return block.language == "cuda" or "cuda" in block.text


def configure(page, block, prefix):
    """Configures a project of the lines that are shown."""
    folder = page.folder / "project"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "main.cpp").write_text("int main() {}\n")
    lines = block.text.split("\n")
    package = [line for line in lines if line.startswith("find_package")]
    rest = [line for line in lines if not line.startswith("find_package")]
    text = ["cmake_minimum_required(VERSION 3.25)", "project(app CXX)", *package,
            "add_executable(app main.cpp)", *rest]
    (folder / "CMakeLists.txt").write_text("\n".join(text))
    run = subprocess.run(["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != 0:
        raise Failure(run.stdout.decode("utf-8", "replace"))


def compile_cuda(page, block, nvcc, words):
    source = page.folder / "block.cu"
    includes = "#include <kiln/kiln.hpp>\n#include <kiln/cuda/device_objective.cuh>\n"
    source.write_text(f'{includes}#line {block.line} "{page.path.name}"\n{block.text}', encoding="utf-8")
    flags = [word for word in words if re.match("-I.|-D.", word)] + ["-I", str(page.folder)]
    run = subprocess.run([nvcc, "-std=c++20", "-arch=sm_90", "--expt-relaxed-constexpr", *flags, "-c", source,
                          "-o", page.folder / "block.o"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode != 0:
        raise Failure(run.stdout.decode("utf-8", "replace"))


def run_others(pages, arguments):
    """The CMake and CUDA blocks of all pages."""
    if arguments.only == "cuda" and not arguments.nvcc:
        print(f"skipped: {arguments.no_cuda or 'this build has no CUDA backend'}")
        return SKIPPED
    prefix = pages[0].folder / "prefix"
    install = subprocess.run(["cmake", "--install", arguments.build, "--prefix", prefix],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if install.returncode != 0:
        print(install.stdout.decode("utf-8", "replace"))
        return 1
    words = arguments.compile.read_text(encoding="utf-8").split("\n")
    for page in pages:
        for block in page.blocks:
            if needs_cuda(block) != (arguments.only == "cuda"):
                continue
            if block.language == "cmake":
                page.attempt("cmake", block, configure, page, block, prefix)
            elif block.language == "cuda":
                page.attempt("cuda", block, compile_cuda, page, block, arguments.nvcc, words)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    parser.add_argument("--kiln", type=pathlib.Path, required=True, help="the program")
    parser.add_argument("--compile", type=pathlib.Path, required=True,
                        help="a file with the words of a command that compiles SOURCE, one per line")
    parser.add_argument("--only", choices=("cmake", "cuda"))
    parser.add_argument("--build", type=pathlib.Path, help="the build that --only cmake|cuda installs")
    parser.add_argument("--nvcc", default="")
    parser.add_argument("--no-cuda", default="", help="why there is no CUDA backend")
    parser.add_argument("--keep", action="store_true", help="leave the folder with sources and files")
    arguments = parser.parse_args()
    arguments.kiln = arguments.kiln.resolve()
    status = 0
    root = pathlib.Path(tempfile.mkdtemp(prefix="kiln-guides-"))
    try:
        pages = []
        for number, path in enumerate(arguments.pages):
            folder = root / f"{path.stem}-{number}"
            folder.mkdir()
            pages.append(Page(path, arguments, folder))
        if arguments.only:
            status = run_others(pages, arguments)
        for page in pages if not status else []:
            if not arguments.only:
                page.run()
            for line in page.skipped + page.failures:
                print(line if line in page.failures else f"{page.path.name}: skipped: {line}")
            if arguments.only and page.done + len(page.failures) == 0:
                continue
            print(f"{page.path.name}: {page.done} blocks, {len(page.skipped)} skipped, "
                  f"{len(page.failures)} failed")
            status = status or int(bool(page.failures))
    finally:
        if arguments.keep:
            print(root)
        else:
            shutil.rmtree(root, ignore_errors=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
