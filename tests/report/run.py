#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a report of every schedule, and a comparison, in a headless Chromium at the widths of a
desk and of a telephone, in both themes. Fails on anything in the console, on a request, on a page
that is wider than its window, and on a chart without a line or mark. Exit status 77: no browser."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import Browser, Page, find_chromium

SKIPPED = 77
WIDTHS = (1280, 390)
MAX_BYTES = 500_000
COOKED = {
    "incumbents": {"count": 3, "primal_integral": 0.25, "time_to_gap": [
        {"gap": 0.1, "time_s": 0.01, "sweeps": 4}, {"gap": 0, "time_s": None, "sweeps": None}]},
    "memory": {"peak_bytes": 3 << 20, "planned_bytes": 4 << 20, "owners": [
        {"owner": "batch", "bytes": 1 << 20, "peak_bytes": 2 << 20},
        {"owner": "problem", "bytes": 1 << 20, "peak_bytes": 1 << 20}]},
    "profile": {"device_s": 1.5, "busy_share": 0.97, "gaps_s": 0.04, "host_s": 0.1, "kernels": [
        {"name": "metropolis_sweep", "launches": 100, "time_s": 1.4, "share": 0.93,
         "bytes": 4e12, "floor_s": 0.9},
        {"name": "end_tick", "launches": 100, "time_s": 0.1, "share": 0.07, "bytes": None,
         "floor_s": None}]},
    "hardware": {"energy_j": 420.5, "power_w": {"mean": 310, "max": 395},
                 "sm_clock_mhz": {"min": 1200, "mean": 1700, "max": 1980},
                 "temperature_c": {"max": 61}, "throttled": ["power"]},
}
# What each schedule runs here: short, with every section that it can have.
RUNS = {
    "simulated-annealing": ["solve", "torus:20x20,1", "--sweeps", "400"],
    "simulated-bifurcation": ["solve", "torus:20x20,1", "--sweeps", "400"],
    "parallel-tempering": ["solve", "torus:20x20,1", "--sweeps", "3000", "-p", "burn_in=500"],
    "replica-exchange": ["solve", "torus:20x20,1", "--sweeps", "2000"],
    "population-annealing": ["solve", "torus:16x16,1", "--sweeps", "2000"],
    "random-search": ["solve", "torus:8x8,1", "--sweeps", "200"],
    "tabu-coloring": ["solve", "GRAPH", "--colors", "3", "--sweeps", "200"],
    "hmc": ["sample", "posterior:eight-schools", "--draws", "500", "--chains", "8"],
    "bayesian-optimization": ["solve", "function:branin", "--evaluations", "30"],
    "bayesian-front": ["solve", "zdt:1", "--evaluations", "24"],
    "evolutionary": ["solve", "zdt:1", "--generations", "60"],
    "amosa": ["solve", "zdt:1", "--sweeps", "60"],
}

CHECK = r"""
(() => {
  const found = [], root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.push(`the page is ${root.scrollWidth} pixels wide`);
  for (const svg of document.querySelectorAll("figure svg.chart")) {
    const name = svg.getAttribute("aria-label");
    const drawn = [...svg.querySelectorAll(".line > *, .mark > *")].filter((one) => {
      const box = one.getBBox();
      return box.width > 0 || box.height > 0;
    });
    if (drawn.length === 0) found.push(`chart '${name}' is empty`);
    const box = svg.getBoundingClientRect();
    if (!svg.closest("details:not([open])") && (box.width < 250 || box.height < 100)) {
      found.push(`chart '${name}' is ${box.width} x ${box.height} pixels`);
    }
    for (const text of svg.querySelectorAll("text")) {
      if (/nan|inf|undefined/i.test(text.textContent)) found.push(`chart '${name}' has a label ${text.textContent}`);
    }
  }
  if (!document.querySelector("section")) found.push("there are no sections");
  if (/\bnan\b|undefined|\[object/i.test(document.querySelector("main").textContent)) {
    found.push("a text says nan or undefined");
  }
  return found;
})()
"""
# The switch changes the ground, and a tip appears where there are some.
USE = r"""
(() => {
  const found = [], ground = () => getComputedStyle(document.body).backgroundColor;
  const before = ground();
  document.getElementById("theme").click();
  if (ground() === before) found.push("the switch of themes does nothing");
  document.getElementById("theme").click();
  if (ground() !== before) found.push("the switch of themes does not go back");
  const svg = document.querySelector("svg[data-tips]"), tip = document.getElementById("tip");
  if (svg) {
    const box = svg.getBoundingClientRect(), first = JSON.parse(svg.dataset.tips)[0];
    const scale = box.width / svg.viewBox.baseVal.width;
    svg.dispatchEvent(new PointerEvent("pointermove", {
      clientX: box.left + first[0] * scale, clientY: box.top + first[1] * scale, bubbles: true}));
    if (tip.hidden || tip.textContent === "") found.push("no tip appears");
    svg.dispatchEvent(new PointerEvent("pointerleave"));
    if (!tip.hidden) found.push("a tip stays");
  }
  return found;
})()
"""
# Pages with one mistake each: the checks above must find it.
PLANTED = {
    "the console": "<script>console.error('planted')</script>",
    "an exception": "<script>throw new Error('planted')</script>",
    "a request": "<img src='http://127.0.0.1:9/planted.png' alt=''>",
    "pixels wide": "<div style='width:3000px'>wide</div>",
    "is empty": "<figure><svg class='chart' aria-label='planted' viewBox='0 0 460 248' width='460'>"
                "<g class='line'></g></svg></figure>",
    "has a label": "<figure><svg class='chart' aria-label='planted' viewBox='0 0 460 248' width='460'>"
                   "<g class='line'><path d='M0 0L9 9'/></g><text>-inf</text></svg></figure>",
}


def run(kiln, words, folder):
    command = [kiln, *words, "--device", "cpu", "-q", "-o", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          cwd=Path(folder).parent)
    if done.returncode not in (0, 10):
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")


def reports(kiln, work):
    """Runs everything and gives the reports by name."""
    listed = json.loads(subprocess.run([kiln, "list", "schedules", "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    names = {one["name"] for one in (listed if isinstance(listed, list) else listed["schedules"])}
    if names != set(RUNS):
        raise RuntimeError(f"RUNS of this script differ from the schedules: {names ^ set(RUNS)}")
    (work / "GRAPH.col").write_text("p edge 6 7\ne 1 2\ne 2 3\ne 3 1\ne 3 4\ne 4 5\ne 5 6\ne 6 4\n")
    made = {}
    for name, words in RUNS.items():
        run(kiln, [w.replace("GRAPH", "GRAPH.col") for w in words]
            + ["--schedule", name], str(work / name))
        made[name] = work / name / "report.html"
    cooked = work / "cooked"
    shutil.copytree(work / "simulated-annealing", cooked)
    result = json.loads((cooked / "result.json").read_text())
    (cooked / "result.json").write_text(json.dumps({**result, **COOKED}))
    subprocess.run([kiln, "report", str(cooked)], check=True, stdout=subprocess.DEVNULL)
    made["cooked"] = cooked / "report.html"
    folders = []
    for schedule in ("simulated-annealing", "parallel-tempering"):
        for seed in range(1, 8):
            folders.append(str(work / f"{schedule}-{seed}"))
            run(kiln, ["solve", "torus:30x30,1", "--schedule", schedule, "--sweeps", "150",
                       "--seed", str(seed)], folders[-1])
    made["comparison"] = work / "comparison.html"
    subprocess.run([kiln, "report", *folders, "-o", str(made["comparison"])], check=True,
                   stdout=subprocess.DEVNULL)
    return made


def check_page(page, url, width, theme):
    page.open(url, width, theme)
    found = page.evaluate(CHECK)
    if page.evaluate("!!document.getElementById('theme')"):
        found += page.evaluate(USE)
    return page.complaints(url) + found


def check_report(page, name, path, shots):
    size = path.stat().st_size
    failures = [] if size <= MAX_BYTES else [f"{name}: {size} bytes"]
    for width in WIDTHS:
        for theme in ("light", "dark"):
            found = check_page(page, path.as_uri(), width, theme)
            failures += [f"{name} at {width} pixels, {theme}: {one}" for one in found]
            if theme == "dark" and not shots:
                failures += [f"{name}: {one}" for one in check_print(page)]
            if shots:
                page.screenshot(shots / f"{name}-{width}-{theme}.png")
    return failures


def check_print(page):
    """Paper is white, whether the screen or the switch of the page is dark."""
    page.print_in("dark")
    failures = []
    for choice in ("delete root.theme", "root.theme = 'dark'"):
        ground = page.evaluate(f"(() => {{ const root = document.documentElement.dataset; {choice};"
                               "return getComputedStyle(document.body).backgroundColor; })()")
        if ground != "rgb(255, 255, 255)":
            failures.append(f"the printed ground is {ground} after {choice}")
    return failures


def check_planted(page, work):
    """Whether each planted mistake is found."""
    failures = []
    for expected, markup in PLANTED.items():
        path = work / "planted.html"
        path.write_text("<!DOCTYPE html><main><section></section><section></section>"
                        f"{markup}</main>")
        found = check_page(page, path.as_uri(), 1280, "light")
        if not any(expected in one for one in found):
            failures.append(f"the planted mistake '{expected}' was not found: {found}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", required=True)
    parser.add_argument("--shots", type=Path, help="folder for a picture of each page")
    arguments = parser.parse_args()
    chromium = find_chromium()
    if not chromium:
        print("skipped: no chromium; apt-get install chromium brings it")
        return SKIPPED
    begin = time.monotonic()
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    for name in [name for name in os.environ if name.startswith("KILN_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="kiln-report-") as folder:
        work = Path(folder)
        made = reports(arguments.kiln, work)
        made_s = time.monotonic() - begin
        browser = Browser(chromium, work / "profile")
        try:
            page = Page(browser)
            failures = check_planted(page, work)
            for name, path in made.items():
                failures += check_report(page, name, path, arguments.shots)
        finally:
            browser.close()
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(made)} reports at {len(WIDTHS)} widths in 2 themes, {len(PLANTED)} planted mistakes: "
          f"{len(failures)} failures ({made_s:.0f} s for the runs, "
          f"{time.monotonic() - begin - made_s:.0f} s in the browser)")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
