// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Files that cannot be read or are wrong: exit code 3, place and complaint.
#include <nlohmann/json.hpp>

#include "program.hpp"

namespace kiln::test::input_test {
namespace {

using Input = ProgramTest;

const std::string edge_form = "  expected: <vertex> <vertex> [<weight>], vertices counted from 1\n";

TEST_F(Input, TruncatedLineIsRefused) {
  write("g.txt", "3 3\n1 2 1\n2 3 1\n1");

  const Outcome outcome = run(std::vector<std::string>{"solve", "g.txt"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "error[input.parse]: g.txt:4:1: the line should have 2 or 3 words and has 1\n" +
                edge_form + "  fix: correct line 4\n");
}

TEST_F(Input, HeaderThatPromisesMoreEdgesIsRefused) {
  write("g.txt", "3 3\n1 2 1\n2 3 1\n");

  const Outcome outcome = run(std::vector<std::string>{"solve", "g.txt"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "error[input.parse]: g.txt:3: the number of edges is 3 in the header, but 2 in the "
            "file\n" +
                edge_form + "  fix: correct line 3\n");
}

TEST_F(Input, VertexOutOfRangeIsRefused) {
  write("g.txt", "3 1\n1 9 1\n");

  const Outcome outcome = run(std::vector<std::string>{"solve", "g.txt"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, "error[input.parse]: g.txt:2:3: vertex '9' is outside 1 .. 3\n" +
                             edge_form + "  fix: correct line 2\n");
}

TEST_F(Input, WeightThatIsNotFiniteIsRefused) {
  write("g.txt", "3 1\n1 2 nan\n");

  const Outcome outcome = run(std::vector<std::string>{"solve", "g.txt"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, "error[input.parse]: g.txt:2:5: weight 'nan' is not a finite number\n" +
                             edge_form + "  fix: correct line 2\n");
}

// Neither decimal fractions nor fixed point hold these weights.
TEST_F(Input, AWeightTooSmallForFixedPointIsNamed) {
  write("far.txt", "3 2\n1 2 1\n2 3 1e300\n");
  const std::string note =
      "the weight of the edge between vertices 0 and 1 (counted from 0) is too small for fixed "
      "point: 1; expected at least 1.5e+290, because the absolute values sum to 1e+300; sweeps of "
      "real numbers are slower";

  const Outcome outcome = run({"solve", "far.txt", "--sweeps", "10", "--device", "cpu", "-o", "r"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("note         " + note), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.out.find("cut 1e+300 (maximised)"), std::string::npos) << outcome.out;
  EXPECT_EQ(nlohmann::json::parse(read("r/run.json")).at("notes").at(0), note);
}

TEST_F(Input, SumsOfDecimalFractionsAreDecimalFractions) {
  write("tenths.txt", "3 2\n1 2 0.1\n2 3 0.2\n");

  const Outcome outcome = run(
      {"solve", "tenths.txt", "--sweeps", "50", "--device", "cpu", "--target", "0.3", "-o", "r"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto result = nlohmann::json::parse(read("r/result.json"));
  EXPECT_EQ(result.at("objective").at("best"), 0.3);
  EXPECT_EQ(result.at("energy"), -0.3);
  EXPECT_EQ(result.at("objective").at("target_reached"), true);
  EXPECT_EQ(outcome.err.find("note"), std::string::npos) << outcome.err;
}

TEST_F(Input, CoefficientsThatCannotBeAddedUpAreRefusedByCheckToo) {
  write("big.qubo", "p qubo 0 2 2 1\n0 0 4e307\n1 1 9e307\n0 1 9e307\n");
  for (const char* verb : {"check", "solve"}) {
    const Outcome outcome = run(Call{{verb, "big.qubo"}});
    EXPECT_EQ(outcome.exit_code, 3) << verb;
    EXPECT_EQ(outcome.err,
              "error[input.value]: big.qubo: the coefficients are too large to add up\n"
              "  the absolute values of the coefficients must sum to less than 4e307\n");
  }
}

TEST_F(Input, FiveComplaintsAreShownAndAllAreCounted) {
  std::string text = "3 12\n";
  for (int i = 0; i < 12; ++i) text += "1 9 1\n";
  write("g.txt", text);

  const Outcome outcome = run(std::vector<std::string>{"check", "g.txt"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "error[input.parse]: g.txt:2:3: vertex '9' is outside 1 .. 3\n" +
                             edge_form +
                             "  g.txt:3:3: vertex '9' is outside 1 .. 3\n"
                             "  g.txt:4:3: vertex '9' is outside 1 .. 3\n"
                             "  g.txt:5:3: vertex '9' is outside 1 .. 3\n"
                             "  g.txt:6:3: vertex '9' is outside 1 .. 3\n"
                             "  fix: correct these lines (showing 5 of 12 errors)\n");
}

// The example of docs/formats.md.
TEST_F(Input, SeveralComplaintsAreListed) {
  write("bad.txt", "3 3\n1 2 1\n1 9 1\n1 2 1e400\n");

  const Outcome outcome = run(std::vector<std::string>{"check", "bad.txt"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, "error[input.parse]: bad.txt:3:3: vertex '9' is outside 1 .. 3\n" +
                             edge_form +
                             "  bad.txt:4:5: weight '1e400' is not a finite number\n"
                             "  fix: correct these lines (showing 2 of 2 errors)\n");
}

// What a file does not say is asked for, and can be said on the command line.
TEST_F(Input, VartypeOfACooFileMayComeFromTheCommandLine) {
  write("m.coo", "0 1 1\n1 2 1\n");

  std::vector<std::string> words{"solve", "m.coo", "--device", "cpu", "--sweeps", "50"};
  const Outcome without = run(words);
  words.insert(words.end(), {"--vartype", "spin"});
  const Outcome spins = run(words);
  words.back() = "binary";
  const Outcome bits = run(words);
  words.back() = "ternary";
  const Outcome wrong = run(words);

  EXPECT_EQ(without.exit_code, 3);
  EXPECT_NE(spins.out.find("energy -2 "), std::string::npos) << spins.out << spins.err;
  EXPECT_NE(bits.out.find(" 0 (minimised)"), std::string::npos) << bits.out << bits.err;
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("--vartype=ternary is neither spin nor binary"), std::string::npos);
}

TEST_F(Input, MissingFileIsCodeThree) {
  const Outcome outcome = run(std::vector<std::string>{"solve", "none.txt"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "error[input.open]: none.txt: cannot be opened: No such file or directory\n"
            "  fix: check the path; kiln list formats and kiln list problems show valid names\n");
}

TEST_F(Input, LinesThatEndInACarriageReturnAloneAreNamed) {
  for (const char* name : {"cr.col", "cr.txt", "cr.rud"}) {
    write(name, "p edge 3 2\re 1 2\re 2 3\r");
    const Outcome outcome = run({"check", name});
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_NE(outcome.err.find(":1:11: lines end in a carriage return (CR) without a line feed"),
              std::string::npos)
        << outcome.err;
  }
}

// Another number is no typing error of this one.
TEST_F(Input, AnUnknownInstanceSaysWhichThereAre) {
  const Outcome outcome = run(std::vector<std::string>{"solve", "gset:G999"});
  EXPECT_EQ(outcome.err,
            "error[problem.unknown]: unknown G-set instance 'G999'\n"
            "  G1 .. G67, G70, G72, G77 or G81\n"
            "  fix: kiln describe gset\n");
}

TEST_F(Input, FolderIsCodeThree) {
  const Outcome outcome = run(std::vector<std::string>{"check", "."});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err,
            "error[input.open]: .: this is a folder, not a file\n"
            "  fix: check the path; kiln list formats and kiln list problems show valid names\n");
}

// A disk that fails: the system answers each read with EIO.
TEST_F(Input, ReadErrorIsCodeThree) {
  const std::string memory = "/proc/self/mem";
  const std::vector<std::vector<std::string>> calls{
      {"check", memory},
      {"solve", memory},
      {"solve", "--repeat", memory},
      {"diagnose", memory},
      {"solve", "table:" + memory, "--objective", "y"},
      {"solve", "posterior:linear-regression", "--data", memory},
      {"solve", "zdt:1", "--reference-front", memory},
      {"solve", "function:ackley-2", "--schedule", "bayesian-optimization", "--past", memory}};
  for (const auto& words : calls) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, 3) << words.back();
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "error[input.read]: /proc/self/mem: reading failed\n") << words[1];
  }
}

TEST_F(Input, EndlessPastIsRefusedAtOnce) {
  const Outcome outcome = run(
      {"solve", "function:ackley-2", "--schedule", "bayesian-optimization", "--past", "/dev/zero"});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(
      outcome.err.rfind(
          "error[input.parse]: /dev/zero:1: the line has a NUL byte; this is not a text file\n", 0),
      0u)
      << outcome.err;
}

// A tiny file must not ask for gigabytes, not even to say how much it would take.
TEST_F(Input, HeaderThatPromisesMoreVerticesThanTheEdgesAllowIsRefused) {
  write("g.rud", "2147483646 1\n1 2\n");
  write("g.col", "p edge 2147483646 1\ne 1 2\n");
  for (const std::string name : {"g.rud", "g.col"}) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"check", name}, {"solve", name}, {"solve", name, "--dry-run"}}) {
      const Outcome outcome = run(words);
      EXPECT_EQ(outcome.exit_code, 3);
      EXPECT_EQ(outcome.out, "");
      EXPECT_EQ(outcome.err,
                "error[input.parse]: " + name +
                    ":2: the header gives 2147483646 vertices, but the file has only 1 edges\n"
                    "  expected: at most 1048640 vertices for this number of edges\n"
                    "  fix: correct line 2\n");
    }
  }
}

TEST_F(Input, ControlCharactersOfAFileNameDoNotReachTheTerminal) {
  const std::string name = "a\x1b[31m\n.txt";
  write(name, "3 1\n1 2 nan\n");

  const Outcome outcome = run({"check", name});

  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(outcome.err.rfind("error[input.parse]: a?[31m?.txt:2:5: ", 0), 0u) << outcome.err;
}

TEST_F(Input, StandardInputIsAFile) {
  const Outcome outcome = run(
      Call{{"solve", "-", "--device", "cpu", "--sweeps", "20", "--json"}, "3 2\n1 2 1\n2 3 5\n"});

  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["objective"]["best"], 6);
}

TEST_F(Input, DashesEndTheOptions) {
  write("--json", "3 2\n1 2 1\n2 3 5\n");

  const Outcome outcome = run({"solve", "--device", "cpu", "--sweeps", "20", "-q", "--", "--json"});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find(" 6 ("), std::string::npos) << outcome.out;
}

TEST_F(Input, QuboIsMinimisedUnlessToldOtherwise) {
  write("m.qubo", "p qubo 0 2 2 1\n0 0 -1\n1 1 -1\n0 1 3\n");
  const std::vector<std::string> words{"solve",    "m.qubo", "--device", "cpu",
                                       "--sweeps", "20",     "--json"};
  std::vector<std::string> maximise = words;
  maximise.push_back("--maximise");

  const auto low = nlohmann::json::parse(run(words).out);
  const auto high = nlohmann::json::parse(run(maximise).out);

  EXPECT_EQ(low["objective"]["best"], -1);
  EXPECT_EQ(high["objective"]["best"], 1);
  EXPECT_EQ(high["objective"]["sense"], "maximize");
}

}  // namespace
}  // namespace kiln::test::input_test
