# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
"""Files, options and outputs that are bad, odd or hostile."""
import json
import random
import re
import resource

from harness import conflicts_of, cut_of, expect, read_col, read_qubo, read_rudy, qubo_of, refused, row

GOOD = {
    "g.rud": "4 5\n1 2 1\n2 3 -2\n3 4 3\n4 1 1\n1 3 2\n",
    "q.qubo": "p qubo 0 3 3 2\n0 0 -2\n1 1 3\n2 2 -1\n0 1 4\n1 2 -5\n",
    "c.col": "p edge 4 4\ne 1 2\ne 2 3\ne 3 4\ne 4 1\n",
}
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")


def value_of(name, text, solution):
    if name.endswith(".rud"):
        return cut_of(read_rudy(text), solution)
    return qubo_of(read_qubo(text), solution) if name.endswith(".qubo") else conflicts_of(read_col(text), solution)


def mutants(choose, text):
    data = bytearray(text.encode())
    kind = choose.randrange(7)
    at = choose.randrange(len(data))
    if kind == 0:
        return bytes(data[:at])
    if kind == 1:
        data[at] ^= 1 << choose.randrange(8)
        return bytes(data)
    if kind == 2:
        return bytes(data[:at]) + choose.choice([b"\0", b"\x1b[31m", b"\xff\xfe", b"9" * 40, b"-", b"1e999", b"%s%n"]) + bytes(data[at:])
    if kind == 3:
        return bytes(data).replace(b"\n", choose.choice([b"\r\n", b"\r", b"\n\n\n", b" \n"]))
    if kind == 4:
        words = text.split(" ")
        words[choose.randrange(len(words))] = choose.choice(["nan", "inf", "0x10", "2147483648", "-1", "", "1e400", "٣"])
        return " ".join(words).encode()
    if kind == 5:
        return choose.choice([b"\xef\xbb\xbf", b"\x1f\x8b\x08", b"\x7fELF", text.encode("utf-16")]) + bytes(data)
    lines = text.splitlines(True)
    choose.shuffle(lines)
    return "".join(lines).encode()


@row("B-readers", "mutated graphs are read or refused with file, line and form")
def _(at):
    choose = random.Random(7)
    for number in range(120):
        name = choose.choice(sorted(GOOD))
        at.write(name, mutants(choose, GOOD[name]))
        outcome = at.kiln("check", name, *(["--colors", "2"] if name.endswith(".col") else []))
        expect(outcome.code in (0, 2, 3), f"{at.folder / name} {number}: {outcome}")
        expect(not CONTROL.search(outcome.err.replace("\n", "")), f"{number}: a control character reaches the terminal")
        if outcome.code == 3:
            expect("error[" in outcome.err and name in outcome.err, outcome)


@row("B-recount", "what is read is solved: values are counted again")
def _(at):
    for name, text in GOOD.items():
        at.write(name, text)
        outcome = at.kiln("solve", name, "--sweeps", "200", "-o", f"out-{name}", "--json",
                          *(["--colors", "2"] if name.endswith(".col") else []))
        expect(outcome.code == 0, outcome)
        told = json.loads(outcome.out)["objective"]["best"]
        expect(told == value_of(name, text, at.read(f"out-{name}/solution.txt")), f"{name}: {told}")
    graph = read_rudy(GOOD["g.rud"])
    greatest = max(cut_of(graph, " ".join(f"{side:04b}")) for side in range(16))
    expect(json.loads(at.read("out-g.rud/result.json"))["objective"]["best"] == greatest, f"{greatest} was not found")


@row("B-options", "odd values of options are refused in words, none is taken wrongly")
def _(at):
    odd = ["", "-1", "1e999", "nan", "0x10", "18446744073709551616", "٣", "a" * 5000, "1;2", "--", "1e-400"]
    for option in ("--sweeps", "--replicas", "--seed", "--time-limit", "--target", "--top", "--threads", "--device",
                   "--schedule", "-p", "--initial", "--config"):
        for value in odd[:: 1 if option in ("--seed", "--time-limit") else 3]:
            outcome = at.kiln("solve", "torus:4x4,1", "--sweeps=3" if option != "--sweeps" else "-q", option, value)
            expect(outcome.code in (0, 2, 3, 4, 5), f"{option} {value[:20]}: {outcome}")
            expect(outcome.code == 0 or "error[" in outcome.err, f"{option} {value[:20]}: {outcome}")
            expect("defect" not in outcome.err, outcome)
    for seed in ("-1", "18446744073709551616"):
        refused(at.kiln("solve", "torus:4x4,1", "--sweeps", "3", "--seed", seed), 2)
    expect(at.kiln("solve", "torus:4x4,1", "--sweeps", "3", "--seed", "18446744073709551615").code == 0, "2^64 - 1")
    refused(at.kiln("solve", "torus:4x4,1", "--sweps", "3"), 2, "--sweeps")


@row("A13-words", "95%, 0,25 and `done in 3 s` are not taken for values")
def _(at):
    for said, allowed in (("step 10; echo accuracy 95%", ()), ("0,25", ()), ("value = 0.5; echo done in 3 s", (0.5,)),
                          ("loss: 7; echo value = 0.5; echo 3 epochs", (0.5,))):
        outcome = at.kiln("solve", f"command:sh -c 'echo {said}' {{x}}", "--var", "x=real:0:1", "-p", "evaluations=2",
                          "--json")
        if outcome.code == 0:
            expect(json.loads(outcome.out)["objective"]["best"] in allowed, f"{said}: {outcome}")
        else:
            expect(not allowed and "error[" in outcome.err, f"{said}: {outcome}")


@row("A16-failing-program", "what a program said that fails every time is told")
def _(at):
    outcome = at.kiln("solve", "command:sh -c 'echo no license >&2; exit 4' {x}", "--var", "x=real:0:1")
    expect(outcome.code == 9 and "no license" in outcome.err, outcome)


@row("F16-no-number", "what a program printed that is not a number is quoted")
def _(at):
    outcome = at.kiln("solve", "command:echo fine {x}", "--var", "x=cat:a,b")
    expect(outcome.code == 9 and "fine" in outcome.err, outcome)


@row("A16-spans", "spans that are not finite, and categories that split, are refused")
def _(at):
    for variable in ("x=real:-1e308:1e308", "x=real:1e-320:1:log"):
        refused(at.kiln("solve", "command:echo {x}", "--var", variable), 2)
    outcome = at.kiln("solve", "command:sh -c 'test \"$1\" = \"a;b\" && echo 1 || echo 2' sh {x}", "--var", "x=cat:a;b,c",
                      "-p", "evaluations=4", "--json")
    expect(outcome.code == 2 or json.loads(outcome.out)["objective"]["best"] == 1, outcome)


@row("A16-numbers", "numbers that are too large name their bound")
def _(at):
    outcome = at.kiln("sample", "posterior:eight-schools", "--draws", "1e18")
    expect(outcome.code in (2, 5) and ">= 1\n" not in outcome.err, outcome)
    outcome = at.kiln("sample", "posterior:eight-schools", "--draws", "1e9", "--time-limit", "1s", "-q",
                      limits={resource.RLIMIT_AS: 3 << 30})
    expect(outcome.code in (0, 5) and "defect" not in outcome.err, outcome)
    at.kiln("solve", "torus:4x4,1", "--sweeps", "5", "--save", "r.json", "-q")
    run = at.read("r.json")
    at.write("r2.json", re.sub(r'("replicas": *"?)\d+', r"\g<1>18446744073709551615", run))
    outcome = at.kiln("solve", "--repeat", "r2.json")
    expect(outcome.code in (2, 3, 5) and "-1 " not in outcome.err, outcome)


@row("A16-sums", "coefficients whose sums overflow are refused by check as by solve")
def _(at):
    at.write("big.qubo", "p qubo 0 2 2 1\n0 0 4e307\n1 1 9e307\n0 1 9e307\n")
    for words in (["check", "big.qubo"], ["solve", "big.qubo", "--sweeps", "5"]):
        refused(at.kiln(*words), 3, "4e307")


@row("B-names", "hostile names reach no terminal, no JSON and no picture")
def _(at):
    name = 'x\x1b[2J"<script>\u202e\x07.rud'
    at.write(name, GOOD["g.rud"])
    outcome = at.kiln("solve", name, "--format", "rudy", "--sweeps", "9", "-o", "out")
    expect(outcome.code == 0 and not CONTROL.search((outcome.out + outcome.err).replace("\n", "")), outcome)
    json.loads(at.read("out/result.json"))
    json.loads(at.read("out/run.json"))


@row("B-same-seed", "one and two threads and --repeat give the same solution")
def _(at):
    solutions = []
    for number, words in enumerate((["torus:20x20,3", "--threads", "1"], ["torus:20x20,3", "--threads", "2"],
                                    ["--repeat", "out0"])):
        outcome = at.kiln("solve", *words, *(["--sweeps", "100"] if number < 2 else []), "-q", "-o", f"out{number}")
        expect(outcome.code == 0, outcome)
        solutions.append(at.read(f"out{number}/solution.txt"))
    expect(len(set(solutions)) == 1, "they differ")
