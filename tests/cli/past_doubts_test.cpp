// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tables of past evaluations that may mean something else than they say.
#include "program.hpp"

namespace kiln::test::past_doubts_test {
namespace {

using Words = std::vector<std::string>;

class PastDoubts : public SearchTest {
 protected:
  std::string refusal(const std::string& past) const {
    write("past.csv", past);
    const Outcome outcome = search("function:branin", {"--sweeps", "1", "--past", "past.csv"});
    EXPECT_EQ(outcome.exit_code, 3) << outcome.err;
    return outcome.err.substr(0, outcome.err.find('\n'));
  }
  bool doubts(const std::string& past, const std::string& note) const {
    write("past.csv", past);
    const Outcome outcome = search("function:branin", {"--sweeps", "1", "--past", "past.csv"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return in_one_line(outcome.err).find(note) != std::string::npos;
  }
  static std::string in_one_line(const std::string& text) {
    std::string line;  // notes are wrapped
    for (const char c : text) {
      if (c != ' ' && c != '\n') {
        line += c;
      } else if (!line.ends_with(' ')) {
        line += ' ';
      }
    }
    return line;
  }
};

// The oracle is Kiln: an evaluations.csv of three variables, which it wrote itself, is no past of
// two, whatever these are called.
TEST_F(PastDoubts, OfMoreVariablesIsThatOfAnotherProblem) {
  const Outcome wider = search("function:rosenbrock-3", {"--sweeps", "2", "-o", "wider"});
  ASSERT_EQ(wider.exit_code, 0) << wider.err;
  const std::string of_three = read("wider/evaluations.csv");
  EXPECT_EQ(lines_of(of_three).front(), "study,batch,x[1],x[2],x[3],value,best");
  const std::string complaint =
      "error[input.parse]: past.csv:1: column 'x[3]' is a variable that this problem does not have";
  EXPECT_EQ(refusal(of_three), complaint);
  EXPECT_EQ(refusal("value,x[3],x[2],x[1]\n1,2,3,4\n"), complaint);
  EXPECT_NE(refusal("x0,x1,x2,value\n1,2,3,4\n").find("column 'x0' is a variable"),
            std::string::npos);
  const Outcome refused = search("function:branin", {"--sweeps", "1", "--past", "past.csv"});
  EXPECT_NE(refused.err.find("\n  fix: "), std::string::npos) << refused.err;

  // Variables with names: `depth` was one of the run that wrote the file.
  const Words narrow{"--var", "lr=real:0:1", "--sweeps", "2", "-q"};
  Words deep = narrow;
  deep.insert(deep.end(), {"--var", "depth=int:1:9", "-o", "deep"});
  ASSERT_EQ(search("command:echo {lr} {depth}", deep).exit_code, 0);
  Words after_deep = narrow;
  after_deep.insert(after_deep.end(), {"--past", "deep/evaluations.csv"});
  const Outcome named = search("command:echo {lr}", after_deep);
  EXPECT_EQ(named.exit_code, 3);
  EXPECT_NE(named.err.find("column 'depth' is a variable that this problem does not have"),
            std::string::npos)
      << named.err;
  // By hand other columns may be called as they like, where variables have names.
  write("hand.csv", "depth,lr,x3,value\n3,0.5,7,1\n");
  after_deep.back() = "hand.csv";
  EXPECT_EQ(search("command:echo {lr}", after_deep).exit_code, 0);
}

// The oracle is the program, which counts its calls. The best past evaluation is not repeated, but
// where no point is left, since only what the run has seen can be its answer.
TEST_F(PastDoubts, CostNoCallUnlessNothingElseIsLeft) {
  write("count.sh", "echo $1 >> calls\necho $1\n");
  const auto calls_after = [&](const std::string& variable, const std::string& past) {
    write("calls", "");
    write("past.csv", past);
    const Outcome outcome =
        search("command:sh count.sh {a}",
               {"--var", variable, "-p", "evaluations=3", "--past", "past.csv", "--maximize"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return lines_of(read("calls"));
  };
  EXPECT_EQ(calls_after("a=real:0:1", "a,value\n1,1\n0.25,0.25\n").size(), 3u);
  const Words all = calls_after("a=int:0:4", "a,value\n4,4\n1,1\n");
  ASSERT_EQ(all.size(), 3u) << "0, 2 and 3 are new, and no evaluation is left";
  EXPECT_EQ(calls_after("a=int:0:3", "a,value\n3,3\n1,1\n").back(), "3") << "once more";
  EXPECT_EQ(calls_after("a=int:0:1", "a,value\n1,1\n0,0\n"), Words{"1"});
}

// Another program's file may be cut like one of Kiln's, or lack the last line end from the start:
// its last number is read, and named.
TEST_F(PastDoubts, NamesALastNumberThatMayLackDigits) {
  const std::string note =
      "the last line of past.csv has no line end, and '-4.5' in column 'value' may lack digits";
  EXPECT_TRUE(doubts("x1,x2,value\n0.5,1,3\n1,15,-4.5", note));
  EXPECT_TRUE(doubts("x2;x1;value\r\n1;0.5;3\r\n15;1;-4.5", note));
  EXPECT_TRUE(doubts("who,x1,x2,value\nme,1,15,-4.5", note));
  EXPECT_FALSE(doubts("x1,x2,value\n0.5,1,3\n1,15,-4.5\n", note));
  EXPECT_FALSE(doubts("x1,x2,value,who\n1,15,-4.5,me", "has no line end"));
  EXPECT_FALSE(doubts("x1,x2,value\n1,15,-4.5\n# by hand", "has no line end"));
}

}  // namespace
}  // namespace kiln::test::past_doubts_test
