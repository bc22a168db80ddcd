// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// kiln multiply: what a user types, what comes out, and what is refused.
#include <csignal>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.hpp"

namespace kiln::test::multiply_test {
namespace {

using nlohmann::json;

class Multiply : public ProgramTest {
 protected:
  Outcome multiply(std::vector<std::string> words) const {
    words.insert(words.begin(), "multiply");
    words.insert(words.end(), {"--device", "cpu"});
    return run(words);
  }
  std::string refusal(const std::vector<std::string>& words, int exit_code) const {
    const Outcome outcome = multiply(words);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  }
  json document(std::vector<std::string> words) const {
    words.push_back("--json");
    return result_of(multiply(words));
  }

  /// Version 1 of the npy format, doubles of a little-endian machine.
  static std::string npy(int rows, int columns, const std::vector<double>& values) {
    std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                         std::to_string(rows) + ", " + std::to_string(columns) + "), }\n";
    std::string text("\x93NUMPY\x01\0", 8);
    text += static_cast<char>(header.size());
    text += '\0';
    text += header;
    for (const double x : values) {
      char bytes[sizeof x];
      std::memcpy(bytes, &x, sizeof x);
      text.append(bytes, sizeof x);
    }
    return text;
  }
};

TEST_F(Multiply, WritesTheProductOfEveryFormat) {
  write("a.csv", "# two rows\n1,2,3\n4,5,6.5\n");
  write("b.npy", npy(3, 2, {1, 0.5, 0, 1, 2, -1}));
  write("b.mtx",
        "%%MatrixMarket matrix coordinate real general\n% sparse\n3 2 5\n1 1 1\n1 2 0.5\n2 2 1\n3 "
        "1 2\n3 2 -1\n");
  write("s.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n");
  for (const std::string b : {"b.npy", "b.mtx"}) {
    const Outcome outcome = multiply({"a.csv", b, "-o", b + ".csv"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(read(b + ".csv"), "7,-0.5\n17,0.5\n");
    EXPECT_NE(outcome.out.find("product      2 x 3 times 3 x 2 is 2 x 2\n"), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("path         FP64: "), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("contract     exact for integers, else "), std::string::npos);
  }
  ASSERT_EQ(multiply({"s.mtx", "s.mtx", "-o", "s.csv"}).exit_code, 0);
  EXPECT_EQ(read("s.csv"), "5,8\n8,13\n");
}

TEST_F(Multiply, TellsProgramsWhatItDid) {
  write("a.csv", "0.25 1\n2 3\n");
  const json real = document({"a.csv", "a.csv", "--accuracy", "1e-4"});
  EXPECT_EQ(real["schema"], "kiln.product/1");
  EXPECT_EQ(real["a"], (json{{"file", "a.csv"}, {"rows", 2}, {"columns", 2}}));
  EXPECT_EQ(real["contract"], (json{{"kind", "within"}, {"tolerance", 1e-4}}));
  EXPECT_EQ(real["path"], "FP64");
  EXPECT_EQ(real["met"], true);
  EXPECT_EQ(real["exact"], false);
  EXPECT_LT(real["error"], 1e-15);
  EXPECT_GT(real["seconds"], 0.0);
  write("i.csv", "-128 1\n2 127\n");
  const json whole = document({"i.csv", "i.csv", "--accuracy", "exact"});
  EXPECT_EQ(whole["exact"], true);
  EXPECT_EQ(whole["contract"], (json{{"kind", "exact"}}));
  EXPECT_EQ(whole["error"], 0.0);
  write("l.csv", "-128 1000\n2 127\n");
  const json large = document({"l.csv", "i.csv", "--accuracy", "automatic"});
  EXPECT_EQ(large["path"], "FP64");
  EXPECT_EQ(large["exact"], true);
  EXPECT_NE(large["reason"].get<std::string>().find("beyond int8"), std::string::npos);
}

TEST_F(Multiply, GivesEmptyResults) {
  write("a.npy", npy(0, 3, {}));
  write("b.npy", npy(3, 2, {1, 2, 3, 4, 5, 6}));
  const Outcome outcome = multiply({"a.npy", "b.npy", "-o", "c.csv"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("0 x 3 times 3 x 2 is 0 x 2"), std::string::npos) << outcome.out;
  EXPECT_EQ(read("c.csv"), "");
  write("c0.npy", npy(2, 0, {}));
  write("d0.npy", npy(0, 2, {}));
  ASSERT_EQ(multiply({"c0.npy", "d0.npy", "-o", "zero.csv"}).exit_code, 0);
  EXPECT_EQ(read("zero.csv"), "0,0\n0,0\n");
}

TEST_F(Multiply, NamesFileRowAndColumnOfWhatIsNotFinite) {
  write("a.csv", "1,2\n3,nan\n");
  write("b.csv", "1\n2\n");
  EXPECT_EQ(
      refusal({"a.csv", "b.csv"}, 3),
      "error[input.parse]: a.csv:2:3: the value 'nan' in row 2, column 2 is not a finite number\n"
      "  expected: a finite number\n"
      "  fix: correct line 2\n");
  write("a.npy", npy(2, 2, {1, 2, std::numeric_limits<double>::infinity(), 4}));
  EXPECT_NE(refusal({"a.npy", "b.csv"}, 3).find("row 2, column 1 is not finite"),
            std::string::npos);
}

TEST_F(Multiply, RefusesContractsThatCannotBeKept) {
  write("a.csv", "0.5,2\n3,4\n");
  write("b.csv", "1,2\n3,300\n");
  const std::string tight = refusal({"a.csv", "a.csv", "--accuracy", "1e-30"}, 2);
  EXPECT_NE(tight.find("no path keeps an error of 1e-30 at an inner dimension of 2"),
            std::string::npos)
      << tight;
  EXPECT_NE(tight.find("\n  fix: "), std::string::npos) << tight;
  EXPECT_NE(refusal({"a.csv", "b.csv", "--accuracy", "exact"}, 2)
                .find("matrix A has 0.5 in row 1, column 1"),
            std::string::npos);
  EXPECT_NE(refusal({"b.csv", "b.csv", "--accuracy", "exact"}, 2)
                .find("matrix A has 300 in row 2, column 2"),
            std::string::npos);
  for (const std::string contract : {"0", "-1", "nan", "inf", "high"}) {
    EXPECT_EQ(refusal({"a.csv", "a.csv", "--accuracy", contract}, 2),
              "error[cli.value]: --accuracy=" + contract +
                  " is not a contract\n  a positive number, exact or automatic\n  fix: "
                  "for example --accuracy 1e-4\n");
  }
}

TEST_F(Multiply, RefusesWhatIsNotTwoMatricesThatFit) {
  write("a.csv", "1,2\n3,4\n");
  write("b.csv", "1,2\n3,4\n5,6\n");
  write("ragged.csv", "1,2\n3\n");
  write("words.csv", "x,y\n1,2\n");
  write("cut.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n");
  write("complex.mtx", "%%MatrixMarket matrix array complex general\n1 1\n1 0\n");
  write("sparse.mtx", "%%MatrixMarket matrix coordinate real general\n1000000 1000 1\n1 1 1\n");
  EXPECT_NE(refusal({"a.csv", "b.csv"}, 2).find("a.csv has 2 columns and b.csv has 3 rows"),
            std::string::npos);
  EXPECT_NE(refusal({"a.csv"}, 2).find("kiln multiply needs two matrices"), std::string::npos);
  EXPECT_NE(refusal({"-", "-"}, 2).find("standard input cannot be both"), std::string::npos);
  EXPECT_NE(refusal({"a.csv", "none.csv"}, 3).find("error[input.open]: none.csv"),
            std::string::npos);
  EXPECT_NE(refusal({"ragged.csv", "a.csv"}, 3).find("ragged.csv:2"), std::string::npos);
  EXPECT_NE(refusal({"words.csv", "a.csv"}, 3).find("'x' in row 1, column 1 is not a number"),
            std::string::npos);
  EXPECT_NE(refusal({"cut.mtx", "a.csv"}, 3).find("the number of entries is 1 instead of 3"),
            std::string::npos);
  EXPECT_NE(
      refusal({"complex.mtx", "a.csv"}, 3).find("the first line is not that of a supported matrix"),
      std::string::npos);
  EXPECT_NE(refusal({"sparse.mtx", "a.csv"}, 3)
                .find("the whole matrix has 1000000000 elements, and 1 of them are entries"),
            std::string::npos);
  write("c.csv", "");
  EXPECT_NE(refusal({"a.csv", "a.csv", "-o", "c.csv"}, 6).find("c.csv"), std::string::npos);
}

TEST_F(Multiply, ReadsStandardInputAndFits) {
  write("a.csv", "1,2\n3,4\n");
  Call call{{"multiply", "-", "a.csv", "--device", "cpu", "-o", "c.csv"}};
  call.input = "2 0\n0 2\n";
  EXPECT_EQ(run(call).exit_code, 0);
  EXPECT_EQ(read("c.csv"), "2,4\n6,8\n");
}

TEST_F(Multiply, WritesStandardOutputAndReportsBesideIt) {
  write("a.csv", "1,2\n3,4\n");
  const Outcome outcome = multiply({"a.csv", "a.csv", "-o", "-"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, "7,10\n15,22\n");
  EXPECT_NE(outcome.err.find("2 x 2 times 2 x 2 is 2 x 2"), std::string::npos) << outcome.err;
  EXPECT_NE(refusal({"a.csv", "a.csv", "-o", "-", "--json"}, 2)
                .find("--output - and --json both write standard output"),
            std::string::npos);
  EXPECT_NE(refusal({"a.csv", "a.csv", "-o", "c.npy"}, 2).find("Kiln writes products as CSV"),
            std::string::npos);
}

TEST_F(Multiply, ChecksContractsInTheBenchmark) {
  const Outcome outcome =
      run({"bench", "products", "--check", "--quick", "--device", "cpu", "--json", "--quiet"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json measured = json::parse(outcome.out);
  EXPECT_EQ(measured["products"], 150);
  EXPECT_EQ(measured["left_out"], 0);
  EXPECT_EQ(measured["misses"], 0);
  for (const json& row : measured["rows"]) EXPECT_LE(row["error"], row["bound"]) << row;
  EXPECT_EQ(run({"bench", "kernels", "--check"}).exit_code, 2);
}

// One pair of each inner size and kind of data comes in any case: 2 * 3 pairs, 5 contracts each.
TEST_F(Multiply, ChecksAsManyContractsAsTheTimeLimitAllows) {
  const Outcome outcome = run({"bench", "products", "--check", "--quick", "--time-limit", "1ms",
                               "--device", "cpu", "--json", "--quiet"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json measured = json::parse(outcome.out);
  EXPECT_EQ(measured["products"], 30);
  EXPECT_EQ(measured["left_out"], 120);
  EXPECT_EQ(measured["misses"], 0);
  const Outcome text =
      run({"bench", "products", "--check", "--quick", "--time-limit", "1ms", "--device", "cpu"});
  EXPECT_NE(
      (text.out + text.err).find("30 products, 0 missed the contract; 120 of 150 were left out"),
      std::string::npos)
      << text.out << text.err;
}

TEST_F(Multiply, AnInterruptedCheckPrintsWhatItHasChecked) {
  Call call{{"bench", "products", "--check", "--device", "cpu", "--json"}};
  call.signal = SIGINT;
  call.signal_at = "measuring  5 of ";
  const Outcome outcome = run(call);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  const json measured = json::parse(outcome.out);
  EXPECT_EQ(measured["interrupted"], true);
  EXPECT_GE(measured["products"], 15);
  EXPECT_FALSE(measured["rows"].empty());
  EXPECT_EQ(measured["misses"], 0);
}

TEST_F(Multiply, ChecksNoPartOfItsList) {
  const Outcome outcome = run({"bench", "products", "--check", "--only", "int8"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("--check checks all products"), std::string::npos) << outcome.err;
}

TEST_F(Multiply, MeasuresProductsByContractAndPath) {
  const Outcome outcome = run({"bench", "products", "--device", "cpu", "--only", "64: ", "--json",
                               "--time-limit", "10ms", "--quiet"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json measured = json::parse(outcome.out);
  EXPECT_TRUE(measured["failed"].empty()) << measured["failed"];
  std::vector<std::string> cases;
  for (const json& row : measured["rows"]) {
    cases.push_back(row["case"]);
    EXPECT_GT(row["tflops"], 0.0);
  }
  EXPECT_EQ(cases,
            (std::vector<std::string>{"64: contract 1e-04", "64: FP64", "64: FP32", "64: int8"}));
}

}  // namespace
}  // namespace kiln::test::multiply_test
