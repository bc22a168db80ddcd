// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Errors that say what mends them, and what they say does.
#include <cstdio>

#include "program.hpp"

namespace kiln::test::fixes_test {
namespace {

using Words = std::vector<std::string>;

class Fixes : public ProgramTest {
 protected:
  /// Of a call that is refused.
  std::string fix_of(const Words& words, int exit_code) const {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    const std::string label = "\n  fix: ";
    const std::size_t at = outcome.err.find(label);
    if (at == std::string::npos) return "none: " + outcome.err;
    const std::size_t begin = at + label.size();
    return outcome.err.substr(begin, outcome.err.find('\n', begin) - begin);
  }
};

TEST_F(Fixes, OfFilesThatCannotBeOpened) {
  const std::string path = "check the path, relative to the current folder";
  EXPECT_EQ(fix_of({"solve", "posterior:linear-regression", "--data", "none.csv"}, 3), path);
  EXPECT_EQ(fix_of({"solve", "table:none.csv", "--objective", "y"}, 3), path);
  EXPECT_EQ(fix_of({"solve", "torus:8x8,1", "--initial", "none.txt"}, 3), path);
  EXPECT_EQ(fix_of({"solve", "route:none"}, 3), path);
  EXPECT_EQ(fix_of({"solve", "function:branin", "--schedule", "bayesian-optimization", "--past",
                    "none.csv"},
                   3),
            path);
  EXPECT_EQ(fix_of({"solve", "torus:8x8,1", "--initial", "."}, 3), "name a file in this folder");
  const Outcome none = run({"solve", "table:none.csv", "--objective", "y"});
  EXPECT_EQ(first_line(none),
            "error[input.open]: cannot open the table none.csv: No such file or directory");
}

TEST_F(Fixes, OfSharedNoise) {
  const Words annealing{"solve",    "torus:8x8,1", "--device", "cpu",
                        "--sweeps", "5",           "-p",       "noise=shared"};
  const auto with = [&](const Words& more) {
    Words all = annealing;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::string other = "--schedule simulated-annealing, or ";
  EXPECT_EQ(fix_of(with({"--schedule", "parallel-tempering"}), 2),
            other + "kiln describe parallel-tempering lists the parameters");
  EXPECT_EQ(fix_of(with({"--schedule", "population-annealing"}), 2),
            other + "kiln describe population-annealing lists the parameters");
  EXPECT_EQ(fix_of({"sample", "posterior:eight-schools", "-p", "noise=shared"}, 2),
            "kiln describe hmc lists the parameters");
  EXPECT_EQ(fix_of(with({"--replicas", "40"}), 2), "--replicas 64, or -p noise=independent");
  EXPECT_EQ(run(with({"--replicas", "64", "--json", "-q"})).exit_code, 0);
  EXPECT_EQ(fix_of(with({"--draw-naming", "words"}), 2),
            "leave the naming of draws to Kiln, or -p noise=independent");
  EXPECT_EQ(fix_of({"solve", "sk:40,1", "-p", "noise=shared"}, 2), "-p noise=independent");
  EXPECT_EQ(fix_of({"solve", "function:rastrigin-4", "-p", "noise=shared"}, 2),
            "-p noise=independent");
  EXPECT_EQ(fix_of(with({"-p", "moves=heat-bath"}), 2),
            "kiln describe simulated-annealing lists the parameters");
}

// |h| + sum |J| of vertex 1 is 300, and counters of planes hold 255.
TEST_F(Fixes, OfDegreesBeyondTheCounters) {
  std::string star = "301 300\n";
  for (int v = 2; v <= 301; ++v) star += "1 " + std::to_string(v) + " 1\n";
  write("star.txt", star);
  const Words planes{"solve",    "star.txt", "--draw-naming", "planes",
                     "--sweeps", "5",        "--device",      "cpu"};
  EXPECT_EQ(fix_of(planes, 2), "leave the naming of draws to Kiln");
  EXPECT_EQ(
      first_line(run(planes)),
      "error[run.draw_naming]: this run cannot draw by planes: a variable has |h| + sum |J| = "
      "300, and counters hold at most 255");
  EXPECT_EQ(run({"solve", "star.txt", "--sweeps", "5", "-q"}).exit_code, 0);
}

TEST_F(Fixes, OfProgramsThatCannotBeStarted) {
  write("my run.sh", "#!/bin/sh\necho 1\n");
  write("lost.sh", "#!/no/such/shell\necho 1\n");
  std::filesystem::permissions(folder_ / "lost.sh", std::filesystem::perms::owner_all);
  const auto fix = [&](const std::string& program) {
    return fix_of({"solve", "command:" + program + " {x}", "--var", "x=real:0:1", "-p",
                   "evaluations=1", "--device", "cpu"},
                  9);
  };
  EXPECT_EQ(fix("lost.sh"), "to run the file in the current folder, write ./lost.sh");
  EXPECT_EQ(fix("./none.sh"), "check the path, relative to the current folder");
  EXPECT_EQ(fix("no-such-program-anywhere"), "install the program, or give its path");
  EXPECT_EQ(fix("./lost.sh"), "check the interpreter that the first line of the file names");
  // What it says is done, and then the program starts.
  const std::string mend = fix("'./my run.sh'");
  EXPECT_EQ(mend, "chmod +x './my run.sh'");
  ASSERT_EQ(std::system(("cd '" + folder_.string() + "' && " + mend).c_str()), 0);
  EXPECT_EQ(run({"solve", "command:'./my run.sh' {x}", "--var", "x=real:0:1", "-p", "evaluations=1",
                 "--device", "cpu"})
                .exit_code,
            0);
}

// What a run would find out with its first call, a dry run says before.
TEST_F(Fixes, OfProgramsThatADryRunFindsWithoutAnInterpreter) {
  const auto executable = [&](const std::string& name, const std::string& text) {
    write(name, text);
    std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
    return Words{"solve",    "command:./" + name + " {x}",
                 "--var",    "x=real:0:1",
                 "-p",       "evaluations=1",
                 "--device", "cpu",
                 "--dry-run"};
  };
  const std::string look = "check the interpreter that the first line of the file names";
  write("plain.sh", "#!/bin/sh\necho 1\n");  // of which nobody said that it can be executed
  EXPECT_EQ(fix_of(executable("lost.sh", "#!/no/such/shell -e\necho 1\n"), 9), look);
  EXPECT_EQ(fix_of(executable("dos.sh", "#!/bin/sh\r\necho 1\r\n"), 9), look);
  EXPECT_EQ(fix_of(executable("locked.sh", "#! ./plain.sh\necho 1\n"), 9), look);
  EXPECT_EQ(fix_of(executable("env.sh", "#!/usr/bin/env no-such-program\necho 1\n"), 9), look);
  EXPECT_EQ(
      fix_of(executable("bare.sh", "echo 1\n"), 9),
      "put the name of an interpreter into the first line of the file, for example #!/bin/sh");
  for (const std::string first : {"#!/bin/sh", "#! /bin/sh -e ", "#!/usr/bin/env sh"}) {
    const Outcome outcome = run(executable("good.sh", first + "\necho 1\n"));
    EXPECT_EQ(outcome.exit_code, 0) << first << outcome.err;
  }
}

// The oracle is the program: it takes the name that it suggests.
TEST_F(Fixes, OfNamesWithoutTheirSizeAreNamesThatItTakes) {
  for (const std::string name : {"function:ackley", "function:hartmann3-x", "density:gaussian-5,x",
                                 "constrained:ackley-x", "function:branin-2"}) {
    const std::string fix = fix_of({"solve", name, "--dry-run"}, 2);
    ASSERT_TRUE(fix.starts_with("for example ")) << name << ": " << fix;
    EXPECT_EQ(run({"describe", fix.substr(12)}).exit_code, 0) << fix;
  }
}

TEST_F(Fixes, OfANameInTwoFamiliesIsThePlainFunction) {
  EXPECT_EQ(fix_of({"describe", "ackley-10"}, 2), "kiln describe function:ackley-10");
  EXPECT_EQ(fix_of({"describe", "gramacy"}, 2), "kiln describe constrained:gramacy");
}

TEST_F(Fixes, OfOptionsThatBelongToOthers) {
  EXPECT_EQ(fix_of({"solve", "gset:G1", "--colors", "3"}, 2),
            "remove --colors; kiln describe coloring shows the named graphs");
  EXPECT_EQ(run({"describe", "coloring"}).exit_code, 0);
  EXPECT_EQ(fix_of({"solve", "./train.sh {lr}", "--var", "lr=real:0:1"}, 2),
            "for a program write 'command:./train.sh {lr}', for a formula 'expr:./train.sh {lr}'");
  const Outcome limit = run({"solve", "gset:G1", "--evaluations", "10"});
  EXPECT_EQ(first_line(limit),
            "error[cli.unknown]: --evaluations is not a parameter of schedule "
            "'simulated-annealing'");
}

TEST_F(Fixes, OfModelsWithNothingInThem) {
  write("none.rud", "0 0\n");
  write("empty.txt", "");
  const Outcome none = run({"solve", "none.rud"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_EQ(first_line(none), "error[input.value]: none.rud: the model has no variables");
  const Outcome empty = run({"solve", "empty.txt"});
  EXPECT_EQ(empty.exit_code, 3);
  EXPECT_EQ(first_line(empty), "error[input.parse]: empty.txt: the input is empty");
}

// Weights of the smallest numbers, of which no finite beta can be made.
TEST_F(Fixes, OfCoefficientsThatNoTemperatureFreezes) {
  write("tiny.rud", "3 2\n1 2 5e-324\n2 3 -5e-324\n");
  const Outcome outcome =
      run({"solve", "tiny.rud", "--sweeps", "10", "--device", "cpu", "-o", "run"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("the coefficients are so small"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("inf"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("nan"), std::string::npos) << outcome.err;
}

// The oracle is a shell, which has to make the column of the words that are suggested.
TEST_F(Fixes, OfColumnsAreWordsForAShell) {
  write("t.csv", "a,\"b $HOME; c\"\n1,2\n2,3\n");
  const std::string option = fix_of({"solve", "table:t.csv"}, 2);
  EXPECT_EQ(option, "--objective 'b $HOME; c'");
  write("near.csv", "a,my column,y\n1,2,3\n2,3,4\n");
  EXPECT_EQ(fix_of({"solve", "table:near.csv", "--objective", "y", "--ignore", "my colum"}, 2),
            "--ignore 'my column'");
}

}  // namespace
}  // namespace kiln::test::fixes_test
