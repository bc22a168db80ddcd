// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expensive/program_output.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace kiln::problems::detail::program_output_test {
namespace {

using Numbers = std::vector<double>;

Numbers numbers(const std::string& text, std::size_t count = 1) {
  const ProgramOutput output = read_output(text, count);
  EXPECT_EQ(output.complaint, "") << text;
  return output.numbers;
}

std::string complaint(const std::string& text, std::size_t count = 1) {
  const ProgramOutput output = read_output(text, count);
  EXPECT_TRUE(output.numbers.empty()) << text;
  return output.complaint;
}

TEST(ProgramOutput, TakesTheLastNumbers) {
  EXPECT_EQ(numbers("epoch 1: loss=0.5\nepoch 2: loss=0.25\n"), (Numbers{0.25}));
  EXPECT_EQ(numbers("v2 4x 7"), (Numbers{7}));
  EXPECT_EQ(numbers("Epoch 5/5 95% loss: 0.9\ndone\n\n"), (Numbers{0.9}));
  EXPECT_EQ(numbers("1 2, 3;+4 -5e-1", 3), (Numbers{3, 4, -0.5}));
  EXPECT_EQ(numbers("cost 5\nweight -1\nlength: .5\n", 3), (Numbers{5, -1, 0.5}));
  EXPECT_EQ(numbers("0.5,1,-1", 3), (Numbers{0.5, 1, -1}));
  EXPECT_EQ(read_output("log 1\n  loss = 0.5 \r\n", 1).line, "loss = 0.5");
}

TEST(ProgramOutput, PrefersALineThatSaysWhatItIs) {
  EXPECT_EQ(numbers("value = 0.25\ntime 12:30\ndone in 3 s\n"), (Numbers{0.25}));
  EXPECT_EQ(numbers("value: 1\nvalue: -2e-3\n17\n"), (Numbers{-2e-3})) << "the last one";
  EXPECT_EQ(numbers("value 7\nvalue=4\n9"), (Numbers{4}));
  EXPECT_EQ(numbers("values = 1\nmy value = 2\n3\n"), (Numbers{3})) << "other names";
  EXPECT_EQ(numbers("constraints = -1, 0.5\nvalue = 3\n99", 3), (Numbers{3, -1, 0.5}));
  EXPECT_EQ(numbers("value = 3, -1, 0.5\n99", 3), (Numbers{3, -1, 0.5}));
  EXPECT_TRUE(std::isnan(numbers("value = nan\n")[0]));
}

TEST(ProgramOutput, ReadsJson) {
  EXPECT_EQ(numbers("start 1\n{\"value\": 0.25, \"epochs\": 12}\nended at 12:30\n"),
            (Numbers{0.25}));
  EXPECT_EQ(numbers("{\n  \"value\": 2,\n  \"constraints\": [-1, 0.5]\n}\n", 3),
            (Numbers{2, -1, 0.5}));
  EXPECT_EQ(numbers("{\"loss\": 1}\n5\n"), (Numbers{5})) << "an object without a value";
  EXPECT_EQ(complaint("{\"value\": \"0.25\"}"),
            "'\"0.25\"' of the printed JSON object is not a number");
  EXPECT_EQ(complaint("{\"value\": null}"), "'null' of the printed JSON object is not a number");
}

// Values that were taken from such lines: 10, 25, 3, 30, 5.
TEST(ProgramOutput, RefusesWhatOnlyBeginsLikeANumber) {
  const std::string advice = "; print a line such as 'value = 0.25'";
  EXPECT_EQ(complaint("step 10\naccuracy 95%\n"),
            "'95%' of the output line 'accuracy 95%' is not a number" + advice);
  EXPECT_EQ(complaint("loss 0,25\n"),
            "'0,25' of the output line 'loss 0,25' is not a number" + advice);
  EXPECT_EQ(complaint("0.25\ntook 3s\n"),
            "'3s' of the output line 'took 3s' is not a number" + advice);
  EXPECT_EQ(complaint("0.25\ndone in 3 s\n"),
            "'s' follows the number in the output line 'done in 3 s'" + advice);
  EXPECT_EQ(complaint("0.25\nended at 12:30\n"),
            "'12:30' of the output line 'ended at 12:30' is not a number" + advice);
  EXPECT_EQ(complaint("{'value': 0.25}"),
            "'0.25}' of the output line '{'value': 0.25}' is not a number" + advice);
  EXPECT_EQ(complaint("value = 95%\n7\n"),
            "'95%' of the output line 'value = 95%' is not a number" + advice);
  EXPECT_EQ(complaint("5%\n-1\n0.5\n", 3), "'5%' of the output line '5%' is not a number" + advice)
      << "a constraint is no value";
}

// Values are shown, and what shows them goes as deep as they do.
TEST(ProgramOutput, RefusesWhatIsNestedDeeply) {
  for (const int depth : {3, 9, 200000}) {
    const std::string open(static_cast<std::size_t>(depth), '[');
    const std::string close(static_cast<std::size_t>(depth), ']');
    const std::string value = open + "1" + close;
    for (const std::string& text :
         {"{\"value\": " + value + "}", "{\"value\": 1, \"constraints\": [" + value + "]}"}) {
      EXPECT_NE(
          complaint(text, text.find("constraints") == text.npos ? 1 : 2).find("is not a number"),
          std::string::npos)
          << depth;
    }
  }
  const std::string open(200000, '['), close(200000, ']');
  EXPECT_EQ(numbers("{\"value\": 2, \"other\": " + open + close + "}"), (Numbers{2}));
}

TEST(ProgramOutput, RefusesTooFewAndTooMany) {
  EXPECT_EQ(complaint(""), "the program printed no number");
  EXPECT_EQ(complaint("ok a\n"), "the program printed no number");
  EXPECT_EQ(complaint("1 2", 3), "the program printed fewer than 3 numbers");
  EXPECT_EQ(complaint("value = 1 2\n"), "the output line 'value = 1 2' has 2 numbers; expected 1");
  EXPECT_EQ(
      complaint("-1\nvalue = 1\n", 2),
      "the output line 'value = 1' has 1 numbers; expected 2; print the constraint values in a "
      "line 'constraints = ...'");
}

}  // namespace
}  // namespace kiln::problems::detail::program_output_test
