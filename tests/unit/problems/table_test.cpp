// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

namespace kiln::problems::table_test {
namespace {

constexpr const char* brewing = KILN_SOURCE_DIR "/tests/data/brewing.csv";

Problem tea(ProblemSettings settings = {{"objective", {"score"}}, {"ignore", {"run"}}}) {
  return table_by_name(brewing, settings);
}

State levels(const std::vector<std::int32_t>& values) {
  State state;
  for (const std::int32_t value : values) state.emplace_back(std::vector<std::int32_t>{value});
  return state;
}

double value_at(const Problem& problem, const std::vector<std::int32_t>& values) {
  const State state = levels(values);
  return problem.solution.verify(spans_of(state));
}

template <class Action>
std::string complaint(Action&& action) {
  try {
    action();
  } catch (const ParseError& error) {
    return error.code() + ":" + std::to_string(error.issues().front().line) + ": " +
           error.issues().front().message;
  } catch (const Error& error) {
    return error.code() + ": " + error.message();
  }
  return "accepted";
}

std::string reading(const std::string& text, const TableOptions& options = {"y"}) {
  return complaint([&] {
    std::istringstream in(text);
    make_table_problem(read_table(in, "t.csv", options), "t");
  });
}

TEST(Table, LooksUpItsRows) {
  const Problem problem = tea();
  const std::vector<Block>& blocks = problem.objective->space().blocks();
  ASSERT_EQ(blocks.size(), 4u) << "the pot is the same in every row";
  const std::vector<double> most{2, 1, 1, 1};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    EXPECT_EQ(blocks[b].kind, BlockKind::category);
    EXPECT_EQ(blocks[b].upper, most[b]);
  }
  EXPECT_EQ(value_at(problem, {0, 0, 0, 1}), 58);
  EXPECT_EQ(value_at(problem, {2, 0, 1, 1}), 28);
  EXPECT_EQ(value_at(problem, {1, 1, 1, 1}), 90) << "the mean of rows 16 and 21";
  EXPECT_TRUE(std::isnan(value_at(problem, {2, 1, 1, 1}))) << "in no row";
  EXPECT_EQ(problem.known.best, 90);
  EXPECT_EQ(problem.units.sense, Sense::maximize);
  const std::vector<std::pair<std::string, std::string>> sizes{
      {"inputs", "4"}, {"rows", "22"}, {"distinct", "21"}};
  EXPECT_EQ(problem.identity.sizes, sizes);
}

TEST(Table, SaysWhatItsVariablesAre) {
  const Problem problem = tea({{"objective", {"score"}},
                               {"ignore", {"run,pot"}},
                               {"categorical", {"minutes"}},
                               {"sense", {"minimize"}}});
  ASSERT_EQ(problem.coordinates.size(), 4u);
  EXPECT_EQ(problem.coordinates[0].name, "leaf");
  EXPECT_TRUE(problem.coordinates[0].categorical);
  EXPECT_EQ(problem.coordinates[0].names.size(), 3u);
  EXPECT_TRUE(problem.coordinates[1].names.empty());
  EXPECT_FALSE(problem.coordinates[1].categorical);
  EXPECT_EQ(problem.coordinates[1].levels, (std::vector<double>{0, 1}));
  EXPECT_TRUE(problem.coordinates[3].categorical) << "because it was said";
  EXPECT_EQ(problem.known.best, 3);

  std::istringstream in("a;y\n10;1\n2;2\n4;3\n1e1;4\n");
  const Problem spaced = make_table_problem(read_table(in, "t", {"y"}), "t");
  EXPECT_EQ(spaced.coordinates[0].levels, (std::vector<double>{0, 0.25, 1})) << "of 2, 4, 10";
  EXPECT_EQ(value_at(spaced, {2}), 2.5) << "10 and 1e1 are one number";
}

TEST(Table, ListsTheStatesThatExist) {
  const Problem problem = tea();
  ASSERT_EQ(problem.experiment->candidates->size(), 21u);
  double best = 0;
  for (const State& state : *problem.experiment->candidates) {
    const double value = problem.solution.verify(spans_of(state));
    EXPECT_TRUE(std::isfinite(value));
    best = std::max(best, value);
  }
  EXPECT_EQ(best, problem.known.best);
}

TEST(Table, NamesWhatItFinds) {
  const Problem problem = tea();
  SimulatedAnnealing schedule;
  RunOptions options;
  options.device = "cpu";
  const Result result = Engine(options).run(problem, schedule, {.sweeps = 200, .target = 90});
  EXPECT_EQ(result.objective, 90);
  EXPECT_TRUE(result.verified);
  const std::vector<std::pair<std::string, std::string>> named{
      {"leaf", "black"}, {"grams", "4.5"}, {"celsius", "95"}, {"minutes", "3"}};
  EXPECT_EQ(result.named_solution, named);
  EXPECT_EQ(problem.solution.format(spans_of(result.solution)),
            "1  # leaf = black\n1  # grams = 4.5\n1  # celsius = 95\n1  # minutes = 3\n");
}

TEST(Table, RefusesWhatIsNoTable) {
  EXPECT_EQ(reading(""), "input.parse:0: the table is empty");
  EXPECT_EQ(reading("a,y\n"), "input.parse:0: the table has no rows");
  EXPECT_EQ(reading("a,a,y\n1,2,3\n"), "input.parse:1: the column 'a' appears twice");
  EXPECT_EQ(reading("a,,y\n1,2,3\n"), "input.parse:1: a column has no name");
  EXPECT_EQ(reading("a,y\n1,2\n1,2,3\n"), "input.parse:3: the line should have 2 values and has 3");
  EXPECT_EQ(reading("a,y\n1,2\n\n,3\n"), "input.parse:4: the value of column 'a' is missing");
  EXPECT_EQ(reading("a,y\n1,2\nNA,3\n"), "input.parse:3: the value of column 'a' is missing");
  EXPECT_EQ(reading("a,y\nx,2\nNA,3\n"), "accepted") << "among words NA is one";
  EXPECT_EQ(reading("a,y\nx,2\n,3\n"), "input.parse:3: the value of column 'a' is missing");
  EXPECT_EQ(reading("a,y\n1,2\n2,?\n"), "input.parse:3: the value of column 'y' is missing");
  EXPECT_EQ(reading("a,y\n1,2\n2,inf\n"), "input.parse:3: 'inf' of column 'y' is not a number");
  EXPECT_EQ(reading("a,y\n1,2\n2,high\n"), "input.parse:3: 'high' of column 'y' is not a number");
  EXPECT_EQ(reading("a,y\n1,2\n1,3\n"),
            "input.parse:0: no column other than the objective has two different values");
  EXPECT_EQ(reading("a,y\n\"1,2\n"), "input.parse:2: a quoted cell is not closed correctly");
  EXPECT_EQ(reading("a,b,c,d,e,f,g,h,i,y\n1,1,1,1,1,1,1,1,1,1\n2,2,2,2,2,2,2,2,2,2\n"),
            "table.columns: 't' has 9 inputs");
}

TEST(Table, RefusesOptionsThatDoNotFit) {
  EXPECT_EQ(complaint([] {
              tea({{"objective", {"scor"}}});
            }),
            "table.column: " + std::string(brewing) +
                " has no column 'scor' (--objective); the nearest is 'score'");
  EXPECT_NE(complaint([] {
              tea({{"objective", {"score"}}, {"ignore", {"runs"}}});
            }).find(" has no column 'runs' (--ignore)"),
            std::string::npos);
  EXPECT_EQ(complaint([] { tea({}); }),
            "table.objective: no objective column is given for " + std::string(brewing));
  EXPECT_EQ(complaint([] {
              tea({{"objective", {"score"}}, {"sense", {"up"}}});
            }),
            "problem.sense: --sense up is neither minimize nor maximize");
  EXPECT_EQ(complaint([] { table_by_name("", {}); }),
            "problem.parameters: 'table:' does not have the form table:FILE");
  EXPECT_EQ(complaint([] {
              table_by_name("/none.csv", {{"objective", {"y"}}});
            }),
            "io.open: cannot open the table /none.csv: No such file or directory");
}

TEST(Table, ListsItsColumnsWhereNoneIsNamed) {
  try {
    tea({});
    FAIL() << "no objective was named";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.expected(), "available: run, leaf, grams, celsius, minutes, pot, score");
    EXPECT_EQ(error.fix(), "--objective score");
  }
}

ConfigurationTable table_of(const std::string& text, const TableOptions& options = {"y"}) {
  std::istringstream in(text);
  return read_table(in, "t.csv", options);
}

void expect_same(const ConfigurationTable& a, const ConfigurationTable& b) {
  EXPECT_EQ(a.levels, b.levels);
  EXPECT_EQ(a.values, b.values);
  ASSERT_EQ(a.inputs.size(), b.inputs.size());
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    EXPECT_EQ(a.inputs[i].name, b.inputs[i].name);
    EXPECT_EQ(a.inputs[i].categorical, b.inputs[i].categorical);
    EXPECT_EQ(a.inputs[i].labels, b.inputs[i].labels);
    EXPECT_EQ(a.inputs[i].values, b.inputs[i].values);
  }
}

// The oracle is a map from the texts of the inputs to the values of their rows.
TEST(Table, HasEachConfigurationOnceInTheOrderOfFirstRows) {
  std::mt19937 draws(7);
  std::string text = "a,b,c,y\n";
  std::vector<std::string> first_rows;
  std::map<std::string, std::vector<double>> rows;
  for (int i = 0; i < 400; ++i) {
    const auto below = [&](unsigned n) { return std::to_string(draws() % n); };
    const std::string inputs = below(7) + ",w" + below(5) + "," + below(3);
    const int value = static_cast<int>(draws() % 8) * 4;
    text += inputs + "," + std::to_string(value) + "\n";
    if (!rows.contains(inputs)) first_rows.push_back(inputs);
    rows[inputs].push_back(value);
  }
  ASSERT_LT(first_rows.size(), 105u) << "some combination has no row";
  const Problem problem = make_table_problem(table_of(text), "t");
  ASSERT_EQ(problem.experiment->candidates->size(), first_rows.size());
  for (std::size_t i = 0; i < first_rows.size(); ++i) {
    const State& state = (*problem.experiment->candidates)[i];
    std::string inputs;
    for (const auto& [name, value] : problem.solution.named_values(spans_of(state))) {
      inputs += (inputs.empty() ? "" : ",") + value;
    }
    EXPECT_EQ(inputs, first_rows[i]);
    const std::vector<double>& values = rows[inputs];
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    EXPECT_NEAR(problem.solution.verify(spans_of(state)), sum / static_cast<double>(values.size()),
                1e-12);
  }
  std::size_t found = 0;
  for (std::int32_t k = 0; k < 105; ++k) {
    found += std::isnan(value_at(problem, {k / 15, k / 3 % 5, k % 3})) ? 0 : 1;
  }
  EXPECT_EQ(found, first_rows.size());
}

// The same numbers with points say what those with commas are.
TEST(Table, ReadsDecimalCommasWhereCommasDoNotSeparate) {
  const std::string numbers = "t,y,z\n0.25,-3.5,1\n0.5,1.25e-3,2\n1.75,2,3\n0.5,9,4\n";
  const ConfigurationTable plain = table_of(numbers);
  EXPECT_TRUE(plain.notes.empty());
  for (const char separator : {';', '\t'}) {
    std::string text = numbers;
    for (char& c : text) c = c == ',' ? separator : c == '.' ? ',' : c;
    const ConfigurationTable commas = table_of(text);
    expect_same(commas, plain);
    EXPECT_EQ(commas.notes, std::vector<std::string>{
                                "numbers of t.csv have decimal commas: Kiln reads 0,25 as 0.25"});
  }
}

TEST(Table, RefusesCommasThatMayMeanAnything) {
  EXPECT_EQ(reading("t;y\n0,25;3\n0.5;4\n"),
            "input.parse:2: '0,25' of column 't' has a decimal comma, but '0.5' of column 't' has "
            "a decimal point");
  EXPECT_EQ(reading("t;y\n0,25;3.5\n0,5;4\n"),
            "input.parse:2: '0,25' of column 't' has a decimal comma, but '3.5' of column 'y' has "
            "a decimal point");
  EXPECT_EQ(reading("t;y\n1,000,000;3\n2;4\n"),
            "input.parse:2: '1,000,000' of column 't' is not a number");
  EXPECT_EQ(reading("t;y\n1.000,5;3\n2;4\n"),
            "input.parse:2: '1.000,5' of column 't' is not a number");
  EXPECT_EQ(reading("t,y\n\"0,25\",3\n\"0,5\",4\n"),
            "input.parse:2: '0,25' of column 't' has a comma");
  const TableOptions words{"y", Sense::maximize, {"t"}};
  EXPECT_EQ(reading("t,y\n\"0,25\",3\n\"0,5\",4\n", words), "accepted");
  EXPECT_TRUE(table_of("t;y\n0,25;3\n0.5;4\n", words).inputs[0].categorical);
  EXPECT_EQ(reading("t;y\n1,x;3.5\n2;4\n"), "accepted") << "a column of words";
  EXPECT_EQ(reading("t;u;y\n1,5;a;3,5\n2;b;4\n", {"y", Sense::maximize, {}, {"t"}}), "accepted");
}

TEST(Table, RefusesThousandsThatStandApart) {
  const std::vector<std::pair<std::string, std::string>> written{
      {"1 000", "1000"},      {"12 345 678", "12345678"}, {"-1\u00a0000.5", "-1000.5"},
      {"1\u2009000", "1000"}, {"1\u202f000", "1000"},     {"1'000", "1000"}};
  for (const auto& [cell, number] : written) {
    const std::string text = "t,y\n" + cell + ",3\n2,4\n";
    try {
      table_of(text);
      ADD_FAILURE() << cell;
    } catch (const ParseError& error) {
      EXPECT_EQ(error.issues().front().line, 2);
      EXPECT_NE(error.issues().front().message.find("has thousands separators"), std::string::npos);
      EXPECT_EQ(error.issues().front().expected,
                number + "; --categorical t treats the column as words");
    }
    const TableOptions words{"y", Sense::maximize, {"t"}};
    EXPECT_TRUE(table_of(text, words).inputs[0].categorical) << cell;
    EXPECT_EQ(reading("t,y\n3," + cell + "\n2,4\n").rfind("input.parse:2: ", 0), 0u) << "target";
  }
  for (const char* word : {"1 00", "1 0000", "1000 000", "1 000 a", "1 000-2 000", "1  000", "a"}) {
    EXPECT_EQ(reading(std::string("t,y\n") + word + ",3\n2,4\n"), "accepted") << word;
  }
}

// RFC 4180, within a line: what separates may stand in quotes.
TEST(Table, TakesSeparatorsInQuotesForText) {
  const ConfigurationTable table = table_of("\"a, b\";\"say \"\"c;d\"\"\";y\n1;2;3\n4;5;6\n");
  ASSERT_EQ(table.inputs.size(), 2u);
  EXPECT_EQ(table.inputs[0].name, "a, b");
  EXPECT_EQ(table.inputs[1].name, "say \"c;d\"");
}

// What a shell makes of the words.
TEST(Table, IsCalledInWordsForAShell) {
  const std::vector<std::pair<std::string, std::string>> names{
      {"data.csv", "yield"}, {"my data.csv", "yield, %"}, {"it's $HOME;`x`.csv", "a\"b'c"}};
  for (const auto& [file, objective] : names) {
    const std::string call = "printf '%s\\n' " + table_call(file, objective);
    std::FILE* const shell = ::popen(call.c_str(), "r");
    std::string words;
    for (int c = 0; (c = std::fgetc(shell)) != EOF;) words += static_cast<char>(c);
    EXPECT_EQ(::pclose(shell), 0);
    EXPECT_EQ(words, "kiln\nsolve\ntable:" + file + "\n--objective\n" + objective + "\n");
  }
}

// The oracle is the table without these columns.
TEST(Table, LeavesOutColumnsWithCommasInTheirNames) {
  std::istringstream in("c,y\n1,2\n2,3\n");
  const ConfigurationTable plain = read_table(in, "t.csv", {"y"});
  const std::string file = ::testing::TempDir() + "commas.csv";
  std::ofstream(file) << "\"a, b\",\"d \"\"e\",c,y\n1,5,1,2\n2,6,2,3\n";
  for (const std::string ignored : {R"("a, b","d ""e")", R"("a, b", d "e)", R"(d "e,"a, b")"}) {
    const Problem problem = table_by_name(file, {{"objective", {"y"}}, {"ignore", {ignored}}});
    ASSERT_EQ(problem.coordinates.size(), 1u) << ignored;
    EXPECT_EQ(problem.coordinates[0].name, plain.inputs[0].name);
  }
  try {
    table_by_name(file, {{"objective", {"y"}}, {"ignore", {"\"a,b\""}}});
    ADD_FAILURE() << "there is no such column";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.fix(), "--ignore '\"a, b\"'");
  }
}

TEST(Table, NamesItsInputs) {
  EXPECT_EQ(tea().identity.notes.back(),
            "the inputs are leaf, grams, celsius, minutes; --ignore leaves out columns that are "
            "not inputs");
  EXPECT_EQ(
      tea({{"objective", {"score"}}, {"ignore", {"run,grams"}}}).identity.notes.back(),
      "the inputs are leaf, celsius, minutes; --ignore leaves out columns that are not inputs");
}

TEST(Table, NamesTheWordThatMakesNumbersWords) {
  const auto notes = [](const std::string& cell, const TableOptions& options = {"y"}) {
    return table_of("t,u,y\n1.5,a,1\n" + cell + ",b,2\n-3,4,3\n", options).notes;
  };
  EXPECT_TRUE(notes("2").empty()) << "u has more words than numbers";
  for (const std::string cell : {"inf", "n/a", "5 mg", "2..5"}) {
    EXPECT_EQ(
        notes(cell),
        (std::vector<std::string>{
            "column 't' has numbers and words: in line 3 '" + cell +
            "' is not a number; correct the line, or treat the column as words: --categorical t"}));
  }
  EXPECT_EQ(notes("\u22122.5"),
            (std::vector<std::string>{
                "column 't' has numbers and words: in line 3 the minus sign before 2.5 is U+2212; "
                "write -, or treat the column as words: --categorical t"}));
  EXPECT_TRUE(notes("inf", {"y", Sense::maximize, {"t"}}).empty()) << "confirmed";
  EXPECT_TRUE(notes("inf", {"y", Sense::maximize, {}, {"t"}}).empty()) << "no input";
}

TEST(Table, DoubtsNamesThatAreNumbers) {
  const auto notes = [](const std::string& text, const std::string& target) {
    std::istringstream in(text);
    const Problem problem = make_table_problem(read_table(in, "t.csv", {target}), "t");
    return problem.identity.notes;
  };
  EXPECT_EQ(notes("1,x,5\n2,x,6\n3,z,9\n", "5"),
            (std::vector<std::string>{
                "Kiln reads the first line of t.csv as names of columns, but these names are "
                "numbers: 1, 5; if the first line is data, insert a line of names"}));
  EXPECT_TRUE(notes("a,x,5\n2,x,6\n3,z,9\n", "5").empty()) << "a year may be a name";
}

}  // namespace
}  // namespace kiln::problems::table_test
