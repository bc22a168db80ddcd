# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Full disks, limits of the system, and what may be run, loaded or overwritten."""
import json
import os
import pathlib
import re
import resource
import shutil
import stat
import subprocess
import time

from harness import PATIENCE, Skipped, expect, refused, row


@row("A5-file-limit", "a limit of file sizes is error 6, and the solution is printed or kept")
def _(at):
    outcome = at.kiln("solve", "gset:G22", "--sweeps", "50", "-q", "-o", "uf", limits={resource.RLIMIT_FSIZE: 2048})
    refused(outcome, 6, "io.write")
    expect("content of solution.txt, which cannot be written to any folder:" in outcome.out, outcome)
    expect(len(re.findall(r"^[01]$", outcome.out, re.M)) == 2000, "the solution is not all there")
    expect(not list(at.folder.glob("uf/.*")), "a temporary file is left")
    refused(at.kiln("generate", "gset:G22", "-o", "g.rud", limits={resource.RLIMIT_FSIZE: 2048}), 6)


@row("A7-repeat", "--repeat runs no program without --allow-command, and says other versions")
def _(at):
    at.kiln("solve", "command:sh -c 'echo 1' {x}", "--var", "x=real:0:1", "-p", "evaluations=2", "--save", "run.json", "-q")
    run = json.loads(at.read("run.json"))
    text = json.dumps(run).replace("echo 1", "touch pwned; echo 1")
    at.write("evil.json", text)
    outcome = at.kiln("solve", "--repeat", "evil.json", "-q")
    refused(outcome, 2, "touch pwned", "--allow-command")
    expect(not at.has("pwned"), "the program ran")
    expect(at.kiln("solve", "--repeat", "evil.json", "-q", "--allow-command").code == 0, "it is not allowed")
    expect(at.has("pwned"), "the program did not run")
    at.kiln("solve", "torus:4x4,1", "--sweeps", "5", "--save", "t.json", "-q")
    other = json.loads(at.read("t.json"))
    other["kiln"] = "99.0.0"
    at.write("other.json", json.dumps(other))
    expect("99.0.0" in at.kiln("solve", "--repeat", "other.json").err, "the version is not said")


@row("A8-save", "--save overwrites no input and no device")
def _(at):
    at.write("in.rud", "3 2\n1 2 1\n2 3 1\n")
    words = ["solve", "in.rud", "--sweeps", "5", "-q", "--save"]
    refused(at.kiln(*words, "in.rud"), 6)
    expect(at.read("in.rud").startswith("3 2"), "the graph is gone")
    refused(at.kiln(*words, "/dev/full"), 6)
    expect(stat.S_ISCHR(os.stat("/dev/full").st_mode), "a device is gone")
    refused(at.kiln(*words, ""), 2)
    at.folder.joinpath("link").symlink_to("target")
    at.kiln(*words, "link")
    expect(not at.has("target"), "a link was followed")


@row("A9-long-key", "a configuration with long dotted keys is refused")
def _(at):
    for text in (".".join(["a"] * 50000) + " = 1\n", "[" + ".".join(["a"] * 200000) + "]\n", "a = " + "[" * 100000):
        at.write("c.toml", text)
        outcome = at.kiln("solve", "torus:4x4,1", "--sweeps", "5", "--config", "c.toml")
        expect(outcome.code in (2, 3) and "error[" in outcome.err and len(outcome.err) < 4000, outcome)


@row("A10-current-folder", "no library is loaded from the current folder")
def _(at):
    linked = re.findall(r"find library=(libkiln\S+)", at.kiln("--version", environment={"LD_DEBUG": "libs"}).err)
    for name in ("libgcc_s.so.1", "libstdc++.so.6", "libkiln_cuda.so", *linked):
        at.write(name, "no library\n", 0o755)
    expect(at.kiln("--version").code == 0, at.kiln("--version"))
    at.kiln("solve", "torus:4x4,1", "--sweeps", "5", environment={"KILN_DEVICE": "auto"})
    outcome = at.kiln("--version", environment={"LD_DEBUG": "libs"})
    tried = re.findall(r"trying file=(\S+)", outcome.err)
    expect(tried and all(path.startswith("/") for path in tried), tried)


@row("A10-module-path", "KILN_CUDA_MODULE is a path, of a file that nobody else may change")
def _(at):
    words = ["solve", "torus:4x4,1", "--sweeps", "5", "--device", "cuda"]
    at.write("libx.so", "no library\n", 0o755)
    outcome = at.kiln(*words, environment={"KILN_CUDA_MODULE": "libx.so", "KILN_DEVICE": "cuda"})
    refused(outcome, 7, "KILN_CUDA_MODULE", "./libx.so")


@row("A11-promises", "40 bytes do not get gigabytes")
def _(at):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    for name, text in (("a.rud", "2147483646 6\n1 2 1\n"), ("b.rud", "100000000 1\n1 2 1\n"),
                       ("c.col", "p edge 100000000 1\ne 1 2\n"), ("d.rud", "10 2147483647\n1 2 1\n")):
        at.write(name, text)
        for words in (["check", name], ["solve", name, "--colors", "3", "--dry-run"][:5 if name[2:] == "col" else 2]
                      + ["--time-limit", "1s"] * (name[2:] != "col")):
            outcome = at.kiln(*words, limits={resource.RLIMIT_AS: 4 << 30})
            expect(outcome.code == 3 and outcome.seconds < PATIENCE, f"{words}: {outcome}")
    expect(max(before, 600_000) >= resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, "600 MB were taken")


@row("A12-folder-removed", "a folder that is removed in a run costs no solution")
def _(at):
    process = at.start(["solve", "torus:20x20,1", "--time-limit", "2s", "-o", "out"])
    at.wait_for(lambda: at.has("out/trace.csv"))
    shutil.rmtree(at.folder / "out")
    outcome = at.outcome(process, time.monotonic())
    refused(outcome, 6)
    kept = list(at.folder.glob("tmp/*/solution.txt"))
    expect(len(kept) == 1 and len(kept[0].read_text().split()) == 400, outcome)


@row("A12-full-disk", "a full file system costs no solution")
def _(at):
    disk = at.folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], capture_output=True)
    if mounted.returncode != 0:
        raise Skipped("no file system may be mounted")
    try:
        process = at.start(["solve", "torus:100x100,1", "--time-limit", "2s", "-o", "disk/a"])
        at.wait_for(lambda: at.has("disk/a/trace.csv"))
        with open(disk / "fill", "wb", buffering=0) as fill:
            try:
                while True:
                    fill.write(b"x" * 512)
            except OSError:
                pass
        outcome = at.outcome(process, time.monotonic())
        refused(outcome, 6)
        expect(len(next(at.folder.glob("tmp/*/solution.txt")).read_text().split()) == 10000, outcome)
        refused(at.kiln("solve", "torus:4x4,1", "--sweeps", "5", "-o", "disk/b"), 6)
    finally:
        subprocess.run(["umount", str(disk)], check=False)


@row("A14-threads", "threads that the system does not grant are fewer threads, or error 5")
def _(at):
    words = ["solve", "torus:20x20,1", "--sweeps", "50", "-q"]
    outcome = at.kiln(*words, "--threads", "4096", limits={resource.RLIMIT_AS: 16 << 30})
    expect(outcome.code in (0, 2, 5) and "defect" not in outcome.err and outcome.seconds < 10 + PATIENCE, outcome)
    outcome = at.kiln(*words, "--threads", "64", limits={resource.RLIMIT_AS: 400 << 20})
    expect(outcome.code in (0, 5) and "defect" not in outcome.err, outcome)
    if os.geteuid() == 0 and shutil.which("setpriv"):
        at.folder.chmod(0o755)
        outcome = at.shell('ulimit -u 20; setpriv --reuid 65534 --clear-groups "$K" solve torus:4x4,1 --sweeps 5 -q '
                           '--threads 64')
        expect(outcome.code in (0, 5, 126) and "defect" not in outcome.err, outcome)


@row("A15-read-errors", "a disk that cannot be read is said, and no defect")
def _(at):
    for words in (["check", "/proc/self/mem"], ["solve", "/proc/self/mem"], ["solve", "--repeat", "/proc/self/mem"],
                  ["solve", "torus:4x4,1", "--config", "."], ["solve", "torus:4x4,1", "--config", "/proc/self/mem"]):
        outcome = at.kiln(*words)
        expect(outcome.code in (2, 3) and "error[" in outcome.err and "defect" not in outcome.err, f"{words}: {outcome}")


@row("A15-endless", "side files without an end are refused in little memory")
def _(at):
    search = ["solve", "table:t.csv", "--objective", "y"]
    at.write("t.csv", "x,y\n1,2\n2,3\n3,1\n")
    for words in (["solve", "torus:4x4,1", "--initial", "/dev/zero"], [*search, "--past", "/dev/zero"],
                  ["solve", "torus:4x4,1", "--config", "/dev/zero"], ["solve", "--repeat", "/dev/zero"],
                  ["diagnose", "/dev/zero"]):
        outcome = at.kiln(*words, limits={resource.RLIMIT_AS: 3 << 30}, seconds=30)
        expect(outcome.code in (2, 3) and "error[" in outcome.err and "memory.host" not in outcome.err,
               f"{words}: {outcome}")


@row("A16-documents", "the error for a large or deep document is short")
def _(at):
    at.write("long.json", '{"schema": "' + "x" * 50_000_000 + '"}')
    at.write("deep.json", "[" * 5_000_000)
    for name in ("long.json", "deep.json"):
        for words in (["solve", "--repeat", name], ["diagnose", name]):
            outcome = at.kiln(*words)
            expect(outcome.code == 3 and len(outcome.err) < 2000 and outcome.seconds < PATIENCE, f"{words}: {outcome}")


@row("A16-stale-files", "temporary files of a killed process are in nobody's way")
def _(at):
    for number in range(1, 3000):
        at.folder.joinpath(f".t.json.{number}.tmp").touch()
    expect(at.kiln("solve", "torus:4x4,1", "--sweeps", "5", "-q", "--save", "t.json").code == 0, "refused")


@row("B-full-devices", "/dev/full and a closed output are exit 6 or 141 for every verb")
def _(at):
    for verb in ("solve torus:4x4,1 --sweeps 5", "check torus:4x4,1", "list problems", "describe sk", "doctor",
                 "generate torus:4x4,1", "solve --help", "--version"):
        outcome = at.shell(f'"$K" {verb} >/dev/full')
        expect(outcome.code == 6, f"{verb}: {outcome}")
        outcome = at.shell(f'"$K" {verb} >&-')
        expect(outcome.code == 6, f"{verb} >&-: {outcome}")


@row("B-existing", "an existing run is never overwritten, and symbolic links are not followed")
def _(at):
    words = ["solve", "torus:4x4,1", "--sweeps", "5", "-q", "-o", "out"]
    expect(at.kiln(*words).code == 0, "the first run")
    was = {path.name: path.read_bytes() for path in at.folder.joinpath("out").iterdir()}
    refused(at.kiln(*words), 6, "never overwritten")
    expect(was == {path.name: path.read_bytes() for path in at.folder.joinpath("out").iterdir()}, "files changed")


@row("B-shell", "no shell reads the words of a command")
def _(at):
    at.write("args.sh", '#!/bin/sh\nprintf "%s\\n" "$#" >>count\necho "$1"\n', 0o755)
    outcome = at.kiln("solve", "command:./args.sh {x} $(touch\u00a0pwned) `touch` * | ;", "--var", "x=real:0:1",
                      "-p", "evaluations=3", "-q")
    expect(outcome.code == 0 and set(at.read("count").split()) == {"6"}, f"{outcome} {at.read('count')}")
    expect(not at.has("pwned"), "a shell ran")


@row("B-floods", "a program that prints without an end costs no memory")
def _(at):
    outcome = at.kiln("solve", "command:sh -c 'head -c 100000000 /dev/zero; echo {x}'", "--var", "x=real:0:1",
                      "-p", "evaluations=2", "--time-limit", "20s", limits={resource.RLIMIT_AS: 3 << 30})
    expect("defect" not in outcome.err and outcome.code in (0, 9), outcome)


@row("B-answers", "NaN, infinity and failures of a program are failed evaluations with the reason")
def _(at):
    at.write("odd.sh", '#!/bin/sh\nn=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n\ncase $n in 1) echo 0.5;; '
             '2) echo nan;; 3) echo inf;; 4) echo 1e400;; 5) exit 3;; 6) kill -9 $$;; *) echo 0.25;; esac\n', 0o755)
    outcome = at.kiln("solve", "command:./odd.sh {x}", "--var", "x=real:0:1", "-p", "evaluations=8", "--threads", "1",
                      "-o", "out")
    expect(outcome.code == 0, outcome)
    values = [line.split(",")[3] for line in at.read("out/evaluations.csv").splitlines()[1:]]
    expect([bool(value) for value in values][:6] == [True, False, False, False, False, False], values)
    expect(float(min(value for value in values if value)) == 0.25, values)


@row("B-without-home", "it runs without HOME and with four open files")
def _(at):
    outcome = at.shell('unset HOME; ulimit -n 6; "$K" solve torus:4x4,1 --sweeps 5 -q')
    expect(outcome.code == 0, outcome)


@row("B-hardened", "program and library are position-independent, with read-only relocations")
def _(at):
    if not shutil.which("readelf"):
        raise Skipped("no readelf")
    libraries = pathlib.Path(at.kiln_path).parent.parent / "lib"
    for path in [at.kiln_path, *libraries.glob("libkiln.so")]:
        text = subprocess.run(["readelf", "-dWlh", str(path)], capture_output=True, text=True).stdout
        expect("DYN" in text and "GNU_RELRO" in text and "BIND_NOW" in text, f"{path} is not hardened")
