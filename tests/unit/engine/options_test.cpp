// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/options.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "backends/cpu_queue.hpp"

namespace kiln::options_test {
namespace {

using test::complaint;

TEST(ParseCount, KnowsEverySuffix) {
  const std::map<std::string, std::int64_t> table{{"0", 0},
                                                  {"1000", 1000},
                                                  {"+7", 7},
                                                  {"-5", -5},
                                                  {"1e6", 1000000},
                                                  {"2.5e3", 2500},
                                                  {"10k", 10000},
                                                  {"1.5k", 1500},
                                                  {"1M", 1000000},
                                                  {"3G", 3000000000},
                                                  {"64Ki", 65536},
                                                  {"2Mi", 2097152},
                                                  {"1Gi", 1073741824},
                                                  {"0.5Ki", 512},
                                                  {"9223372036854775807", INT64_MAX},
                                                  {"-9223372036854775808", INT64_MIN},
                                                  {"9007199254740993", 9007199254740993}};
  for (const auto& [text, value] : table) EXPECT_EQ(parse_count(text, "n"), value) << text;
}

TEST(ParseCount, TakesEveryWholeNumberOfThousandths) {
  for (std::int64_t n = 1; n < 20000; ++n) {
    const std::string digits = std::to_string(1000 + n % 1000).substr(1);
    const std::string text = std::to_string(n / 1000) + "." + digits;
    ASSERT_EQ(parse_count(text + "k", "n"), n);
    ASSERT_EQ(parse_count(text + "M", "n"), 1000 * n);
    ASSERT_EQ(parse_count(text + "G", "n"), 1000000 * n);
  }
}

TEST(ParseCount, RefusesNonsense) {
  for (const char* text : {"",
                           " ",
                           "k",
                           "ten",
                           "1 k",
                           " 1",
                           "1 ",
                           "1x",
                           "1kk",
                           "1K",
                           "1m",
                           "1ki",
                           "0x10",
                           "1e",
                           "1.5",
                           "0.5k1",
                           "1.0001k",
                           "nan",
                           "inf",
                           "-inf",
                           "1e400",
                           "1e19",
                           "9223372036854775808",
                           "10000000000G",
                           "+-5",
                           "++5",
                           "--5",
                           "1,000",
                           "\xC2\xB2"}) {
    EXPECT_EQ(complaint([&] { parse_count(text, "n"); }),
              "option.value: n: '" + std::string(text) +
                  "' is not a whole number such as 1000, 1e6, 10k or 64Ki");
  }
}

TEST(ParseDuration, KnowsEveryUnit) {
  EXPECT_EQ(parse_duration("30", "t"), 30);
  EXPECT_EQ(parse_duration("1.5", "t"), 1.5);
  EXPECT_EQ(parse_duration("+2s", "t"), 2);
  EXPECT_EQ(parse_duration("500ms", "t"), 0.5);
  EXPECT_EQ(parse_duration("5m", "t"), 300);
  EXPECT_EQ(parse_duration("2h", "t"), 7200);
  EXPECT_EQ(parse_duration("1e2s", "t"), 100);
  EXPECT_EQ(parse_duration("-1s", "t"), -1) << "what is too small is the budget's affair";
}

TEST(ParseDuration, RefusesNonsense) {
  for (const char* text : {"", "s", "ten", "1 s", "1d", "1S", "1min", "5ms3", "nan", "infs",
                           "1e400", "1e308h", "-1e308h", "+-1s"}) {
    EXPECT_EQ(complaint([&] { parse_duration(text, "t"); }),
              "option.value: t: '" + std::string(text) +
                  "' is not a duration such as 30, 30s, 500ms, 5m or 2h");
  }
}

TEST(ParseReal, TakesFiniteNumbersOnly) {
  EXPECT_EQ(detail::parse_real("-1.5e-3", "x"), -0.0015);
  EXPECT_EQ(detail::parse_real("+2", "x"), 2);
  for (const char* text : {"", "1k", "nan", "inf", "1e999", "1.5x", "+-2"}) {
    EXPECT_EQ(complaint([&] { detail::parse_real(text, "x"); }),
              "option.value: x: '" + std::string(text) + "' is not a finite number");
  }
}

TEST(ParseReals, SplitsAtCommas) {
  EXPECT_EQ(detail::parse_reals("0.1,-2,3e2", "x"), (std::vector<double>{0.1, -2, 300}));
  EXPECT_EQ(detail::parse_reals("5", "x"), std::vector<double>{5});
  EXPECT_TRUE(detail::parse_reals("", "x").empty());
  EXPECT_NE(complaint([] { detail::parse_reals("1,,2", "x"); }), "accepted");
  EXPECT_NE(complaint([] { detail::parse_reals(",1", "x"); }), "accepted");
  EXPECT_NE(complaint([] { detail::parse_reals("1;2", "x"); }), "accepted");
}

TEST(ShowReal, IsReadBackAsTheSameNumber) {
  for (const double value : {0.1, 1.0 / 3.0, 1e300, 5e-324, 123456789.0, -2.5}) {
    EXPECT_EQ(detail::parse_real(detail::show_real(value), "x"), value);
  }
  EXPECT_EQ(detail::show_real(0.1), "0.1");
  EXPECT_EQ(detail::show_reals({0.5, 1, 2}), "0.5,1,2");
  EXPECT_EQ(detail::show_integer(-7), "-7");
}

struct Options {
  std::int64_t sweeps = 10;
  double beta = 0.5;
  std::vector<double> list = {1, 2};
  std::string cooling = "linear";
  std::int64_t rounds = -1;
  std::vector<double> parts = {};
};

constexpr double huge = std::numeric_limits<double>::max();

OptionTable<Options> table() {
  return OptionTable<Options>()
      .integer("sweeps", &Options::sweeps, {1, 100}, "sweeps", "How many.")
      .real("beta", &Options::beta, {0, 1}, "1/energy", "How cold.")
      .reals("list", &Options::list, {0, 9}, "1/energy", "none", "How cold, in turn.")
      .choice("cooling", &Options::cooling, {"linear", "geometric"}, "In which way.")
      .integer("rounds", &Options::rounds, {1, 1 << 20, Automatic{-1}}, "", "How often.")
      .reals("parts", &Options::parts, {-huge, huge}, "", "none", "Of what.");
}

TEST(OptionTable, DescribesItsFieldsInOrder) {
  const std::vector<FieldInfo> fields = table().fields();
  ASSERT_EQ(fields.size(), 6u);
  EXPECT_EQ(fields[0].name, "sweeps");
  EXPECT_EQ(fields[0].type, "integer");
  EXPECT_EQ(fields[0].unit, "sweeps");
  EXPECT_EQ(fields[0].range, "1 .. 100");
  EXPECT_EQ(fields[0].default_text, "10");
  EXPECT_EQ(fields[1].type, "real");
  EXPECT_EQ(fields[1].default_text, "0.5");
  EXPECT_EQ(fields[2].type, "list of reals");
  EXPECT_EQ(fields[2].range, "a comma-separated list, each value 0 .. 9");
  EXPECT_EQ(fields[2].default_text, "1,2");
  EXPECT_EQ(fields[3].type, "choice");
  EXPECT_EQ(fields[3].range, "linear | geometric");
  EXPECT_EQ(fields[3].default_text, "linear");
  EXPECT_EQ(fields[3].sentence, "In which way.");
  EXPECT_EQ(fields[4].range, "-1, or 1 .. 1048576");
  EXPECT_EQ(fields[4].default_text, "automatic");
  EXPECT_EQ(fields[5].range, "a comma-separated list");
  EXPECT_EQ(fields[5].default_text, "none");
}

TEST(ShowRange, NamesTheEndsThatAreAskedFor) {
  EXPECT_EQ(detail::show_range({0, 1}), "0 .. 1");
  EXPECT_EQ(detail::show_range({1, 100000}), "1 .. 100000");
  EXPECT_EQ(detail::show_range({0.01, 1e6}), "0.01 .. 1000000");
  EXPECT_EQ(detail::show_range({1e-9, 0.5}), "1e-9 .. 0.5");
  EXPECT_EQ(detail::show_range({-1.5e-10, 1e9}), "-1.5e-10 .. 1e9");
  EXPECT_EQ(detail::show_range({-1, 2147483646}), "-1 .. 2147483646");
  EXPECT_EQ(detail::show_range({-1, 2147483647}), ">= -1");
  EXPECT_EQ(detail::show_range({0, huge}), ">= 0");
  EXPECT_EQ(detail::show_range({std::numeric_limits<double>::denorm_min(), huge}), "> 0");
  EXPECT_EQ(detail::show_range({std::numeric_limits<double>::denorm_min(), 2}), "> 0 and <= 2");
  EXPECT_EQ(detail::show_range({-huge, huge}), "a number");
}

TEST(ShowRange, NamesAnAutomaticValueThatLiesApart) {
  EXPECT_EQ(detail::show_range({0, 9, Automatic{0}}), "0 .. 9");
  EXPECT_EQ(detail::show_range({4, 9, Automatic{0}}), "0, or 4 .. 9");
  EXPECT_EQ(detail::show_range({1, huge, Automatic{-1}}), "-1, or >= 1");
}

// The word is for that value alone: a default that is another one is shown, though the option has
// an automatic value.
TEST(OptionTable, ShowsTheDefaultThatTheStructHas) {
  struct Changed {
    std::int64_t rounds = 3;
    double beta = 0;
    double tolerance = 1e-7;
    std::vector<double> parts = {1e9};
  };
  const std::vector<FieldInfo> fields =
      OptionTable<Changed>()
          .integer("rounds", &Changed::rounds, {-1, 9, Automatic{-1}}, "", "How often.")
          .real("beta", &Changed::beta, {0, 1, Automatic{1}}, "", "How cold.")
          .real("tolerance", &Changed::tolerance, {0, 1}, "", "How well.")
          .reals("parts", &Changed::parts, {0, huge}, "", "none", "Of what.")
          .fields();
  EXPECT_EQ(fields[0].default_text, "3");
  EXPECT_EQ(fields[1].default_text, "0");
  EXPECT_EQ(fields[2].default_text, "1e-07") << "as parameters are shown";
  EXPECT_EQ(fields[3].default_text, "1e+09");
}

TEST(OptionTable, ParsesAndShows) {
  const Options options = table().parse(
      {{"sweeps", "0.1k"}, {"beta", "1"}, {"list", "3,4.5"}, {"cooling", "geometric"}}, "test");
  EXPECT_EQ(options.sweeps, 100);
  EXPECT_EQ(options.beta, 1.0);
  EXPECT_EQ(options.list, (std::vector<double>{3, 4.5}));
  EXPECT_EQ(table().show(options), (std::map<std::string, std::string>{{"sweeps", "100"},
                                                                       {"beta", "1"},
                                                                       {"list", "3,4.5"},
                                                                       {"cooling", "geometric"},
                                                                       {"rounds", "-1"},
                                                                       {"parts", ""}}));
  EXPECT_EQ(table().parse({}, "test").sweeps, 10) << "what is not given keeps its default";
}

TEST(OptionTable, MakesAllComplaintsAtOnce) {
  EXPECT_EQ(complaint([] {
              table().parse({{"sweeps", "many"},
                             {"beta", "1.5"},
                             {"list", "3,10"},
                             {"cooling", "geometrical"},
                             {"betta", "1"},
                             {"completely-different", "1"}},
                            "schedule 'test'");
            }),
            "config.option: 'betta' is not a parameter of schedule 'test'; the nearest is 'beta'\n"
            "  'completely-different' is not a parameter of schedule 'test'; available: sweeps, "
            "beta, list, cooling, rounds, parts\n"
            "  sweeps: 'many' is not a whole number such as 1000, 1e6, 10k or 64Ki\n"
            "  beta: 1.5 is out of range: 0 .. 1\n"
            "  list: 10 is out of range: 0 .. 9\n"
            "  cooling: 'geometrical' is not one of linear, geometric; the nearest is 'geometric'");
}

TEST(OptionTable, ValidatesTheEndsOfRangesAndNaN) {
  Options options;
  options.sweeps = 1;
  options.beta = 0;
  EXPECT_TRUE(table().validate(options).empty());
  options.sweeps = 101;
  options.beta = std::nan("");
  options.list = {-1};
  options.cooling = "";
  options.rounds = 0;
  EXPECT_EQ(table().validate(options).size(), 5u);
}

TEST(OptionTable, TakesAnAutomaticValueOutsideTheRange) {
  const auto rounds = [](const char* text) {
    return complaint([&] { table().parse({{"rounds", text}}, "test"); });
  };
  EXPECT_EQ(rounds("-1"), "accepted");
  EXPECT_EQ(rounds("1"), "accepted");
  EXPECT_EQ(rounds("0"), "config.option: rounds: 0 is out of range: -1, or 1 .. 1048576");
  EXPECT_EQ(rounds("-2"), "config.option: rounds: -2 is out of range: -1, or 1 .. 1048576");
}

TEST(OptionTable, NamesTheUpperEndThatARangeDoesNotShow) {
  EXPECT_EQ(complaint([] {
              detail::check_range(5e9, {1, 4e9}, "n");
            }),
            "option.range: n: 5e+09 is out of range: >= 1 and <= 4e+09");
  EXPECT_EQ(complaint([] {
              detail::check_range(0, {1, 4e9}, "n");
            }),
            "option.range: n: 0 is out of range: >= 1");
}

struct Worded {
  std::vector<std::string> rules = {"fast"};
};

OptionTable<Worded> worded() {
  return OptionTable<Worded>().choices("rules", &Worded::rules, {"fast", "slow"}, "In which ways.");
}

TEST(OptionTable, ReadsListsOfChoices) {
  EXPECT_EQ(worded().parse({{"rules", "slow"}}, "test").rules, std::vector<std::string>{"slow"});
  const Worded both = worded().parse({{"rules", "slow,fast"}}, "test");
  EXPECT_EQ(both.rules, (std::vector<std::string>{"slow", "fast"}));
  EXPECT_EQ(worded().show(both).at("rules"), "slow,fast");
  EXPECT_EQ(worded().fields().front().type, "list of choices");
  EXPECT_EQ(worded().fields().front().range, "a comma-separated list of fast | slow");
  for (const char* bad : {"", "fast,", "slow fast", "fast,sloww"}) {
    EXPECT_THROW(worded().parse({{"rules", bad}}, "test"), InvalidArgument) << bad;
  }
  EXPECT_NE(complaint([] {
              worded().parse({{"rules", "fast,sloww"}}, "test");
            }).find("rules: 'sloww' is not one of fast, slow; the nearest is 'slow'"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln::options_test
