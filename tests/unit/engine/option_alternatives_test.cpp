// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A choice among policies with options of their types: what the table tells, takes and refuses.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kiln/options.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::option_alternatives_test {
namespace {

using test::complaint;
using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Straight {
  static constexpr std::string_view option_name = "straight";
  static const OptionTable<Straight>& table() {
    static const OptionTable<Straight> table;
    return table;
  }
};

struct Stepped {
  std::int64_t steps = 4;
  std::vector<double> heights = {};

  static constexpr std::string_view option_name = "stepped";
  static const OptionTable<Stepped>& table() {
    static const auto table = OptionTable<Stepped>()
                                  .integer("steps", &Stepped::steps, {1, 9}, "", "How many.")
                                  .formerly("count")
                                  .reals("heights", &Stepped::heights, {0, 9}, "", "none", "Which.")
                                  .formerly("heights", Elsewhere::refused);
    return table;
  }
};

struct Steered {
  double gain = 0.5;
  std::int64_t count = 3;

  static constexpr std::string_view option_name = "steered";
  static const OptionTable<Steered>& table() {
    static const auto table = OptionTable<Steered>()
                                  .real("gain", &Steered::gain, {0, 1}, "1/s", "How hard.", "More.")
                                  .formerly("old_gain")
                                  .integer("count", &Steered::count, {1, 9}, "", "How often.")
                                  .formerly("count");
    return table;
  }
};

struct Options {
  double end = 1;
  std::variant<Straight, Stepped, Steered> way = {};
  std::string zone = "inner";
};

OptionTable<Options> table() {
  return OptionTable<Options>()
      .real("end", &Options::end, {0, 1}, "", "Where to.")
      .alternatives("way", &Options::way, "In which way.", "As it likes.")
      .formerly("path")
      .choice("zone", &Options::zone, {"inner", "outer"}, "Where.");
}

Options parsed(const OptionTexts& texts) { return table().parse(texts, "test"); }

std::string refusal(const OptionTexts& texts) {
  return complaint([&] { parsed(texts); });
}

TEST(OptionAlternatives, AreListedBehindTheirChoice) {
  std::string names;
  for (const FieldInfo& field : table().fields()) names += field.name + " ";
  EXPECT_EQ(names, "end way stepped.steps stepped.heights steered.gain steered.count zone ");
  const std::vector<FieldInfo> fields = table().fields();
  EXPECT_EQ(fields[1].type, "choice");
  EXPECT_EQ(fields[1].range, "straight | stepped | steered");
  EXPECT_EQ(fields[1].default_text, "straight");
  EXPECT_EQ(fields[1].sentence, "In which way.");
  EXPECT_EQ(fields[1].details, "As it likes.");
  EXPECT_EQ(fields[1].choice, "");
  EXPECT_EQ(fields[4].type, "real");
  EXPECT_EQ(fields[4].unit, "1/s");
  EXPECT_EQ(fields[4].default_text, "0.5");
  EXPECT_EQ(fields[4].range, "0 .. 1");
  EXPECT_EQ(fields[4].details, "More.");
  EXPECT_EQ(fields[4].choice, "way");
  EXPECT_EQ(fields[4].alternative, "steered");
  EXPECT_EQ(fields[4].former_names, std::vector<std::string>{"old_gain"});
}

TEST(OptionAlternatives, ExistWithTheirChoiceOnly) {
  const std::vector<FieldInfo> fields = table().fields();
  const OptionTexts steered{{"way", "steered"}}, straight{{"way", "straight"}};
  EXPECT_TRUE(exists_in(steered, fields[4]));
  EXPECT_FALSE(exists_in(straight, fields[4]));
  EXPECT_FALSE(exists_in({}, fields[4]));
  EXPECT_TRUE(exists_in({}, fields[0]));
}

// "stepped.steps" stands before "way" in the map, "zone" behind it.
TEST(OptionAlternatives, AreSetBehindTheirChoiceInAnyOrder) {
  const Options stepped = parsed({{"stepped.steps", "7"}, {"way", "stepped"}, {"zone", "outer"}});
  EXPECT_EQ(std::get<Stepped>(stepped.way).steps, 7);
  EXPECT_EQ(stepped.zone, "outer");
  const Options steered = parsed({{"way", "steered"}});
  EXPECT_EQ(std::get<Steered>(steered.way).gain, 0.5);
  EXPECT_TRUE(std::holds_alternative<Straight>(parsed({}).way));
}

TEST(OptionAlternatives, ShowTheOptionsOfTheChoiceAlone) {
  const OptionTexts texts{{"end", "0.5"},
                          {"steered.count", "2"},
                          {"steered.gain", "1"},
                          {"way", "steered"},
                          {"zone", "inner"}};
  EXPECT_EQ(table().show(parsed(texts)), texts);
  EXPECT_EQ(table().show({}), (OptionTexts{{"end", "1"}, {"way", "straight"}, {"zone", "inner"}}));
}

TEST(OptionAlternatives, RefuseOptionsOfOthersAndNameTheChoice) {
  EXPECT_EQ(refusal({{"way", "stepped"}, {"steered.gain", "1"}}),
            "config.option: 'steered.gain' is a parameter of way=steered, and way is stepped; give "
            "way=steered or leave 'steered.gain' out");
  EXPECT_EQ(refusal({{"steered.gain", "nonsense"}}),
            "config.option: 'steered.gain' is a parameter of way=steered, and way is straight; "
            "give way=steered or leave 'steered.gain' out")
      << "the default counts, too";
  EXPECT_EQ(refusal({{"way", "steered"}, {"steered.gian", "1"}}),
            "config.option: 'steered.gian' is not a parameter of test; the nearest is "
            "'steered.gain'");
}

TEST(OptionAlternatives, CheckValuesUnderTheWholeName) {
  EXPECT_EQ(refusal({{"way", "steered"}, {"steered.gain", "2"}, {"steered.count", "x"}}),
            "config.option: steered.count: 'x' is not a whole number such as 1000, 1e6, 10k or "
            "64Ki\n"
            "  steered.gain: 2 is out of range: 0 .. 1");
  EXPECT_EQ(refusal({{"way", "stepped"}, {"stepped.heights", "1,10"}}),
            "config.option: stepped.heights: 10 is out of range: 0 .. 9");
  Options options;
  options.way = Steered{2, 0};
  EXPECT_EQ(table().validate(options),
            (std::vector<std::string>{"steered.gain: 2 is out of range: 0 .. 1",
                                      "steered.count: 0 is out of range: 1 .. 9"}));
}

// Nobody knows which options a misspelt choice would have: their values are judged all the same.
TEST(OptionAlternatives, JudgeValuesBesideAChoiceThatIsNone) {
  EXPECT_EQ(refusal({{"way", "steped"}, {"steered.gain", "1"}, {"stepped.steps", "10"}}),
            "config.option: way: 'steped' is not one of straight, stepped, steered; the nearest is "
            "'stepped'\n"
            "  stepped.steps: 10 is out of range: 1 .. 9");
}

TEST(OptionAlternatives, TakeFormerNames) {
  const Options gain = parsed({{"path", "steered"}, {"old_gain", "0.25"}});
  EXPECT_EQ(std::get<Steered>(gain.way).gain, 0.25);
  // One name of two options: that of the choice.
  EXPECT_EQ(std::get<Steered>(parsed({{"count", "8"}, {"way", "steered"}}).way).count, 8);
  EXPECT_EQ(std::get<Stepped>(parsed({{"count", "8"}, {"way", "stepped"}}).way).steps, 8);
  EXPECT_EQ(refusal({{"old_gain", "0.25"}, {"steered.gain", "0.5"}, {"way", "steered"}}),
            "config.option: 'old_gain' is the former name of 'steered.gain', and both are given");
  EXPECT_EQ(refusal({{"path", "steered"}, {"way", "stepped"}}),
            "config.option: 'path' is the former name of 'way', and both are given");
}

TEST(OptionAlternatives, IgnoreFormerNamesOfOthers) {
  EXPECT_EQ(refusal({{"old_gain", "0.25"}, {"count", "8"}}), "accepted");
  EXPECT_EQ(refusal({{"old_gain", "2"}}), "config.option: steered.gain: 2 is out of range: 0 .. 1")
      << "values are judged as before";
  EXPECT_EQ(refusal({{"heights", "1"}}),
            "config.option: 'heights', now 'stepped.heights', is a parameter of way=stepped, and "
            "way is straight; give "
            "way=stepped or leave 'heights' out");
  EXPECT_EQ(refusal({{"heights", ""}}), "accepted") << "as records of runs have it";
}

TEST(OptionAlternatives, TellFormerNamesThatWereUsed) {
  EXPECT_EQ(table().former_names_in({{"end", "1"}, {"steered.gain", "1"}, {"other", "1"}}),
            Pairs{});
  EXPECT_EQ(table().former_names_in({{"path", "steered"}, {"count", "2"}, {"old_gain", "1"}}),
            (Pairs{{"count", "steered.count"}, {"old_gain", "steered.gain"}, {"path", "way"}}));
  EXPECT_EQ(table().former_names_in({{"count", "2"}, {"way", "stepped"}}),
            (Pairs{{"count", "stepped.steps"}}));
  EXPECT_EQ(table().former_names_in({{"count", "2"}}),
            (Pairs{{"count", "stepped.steps"}, {"count", "steered.count"}}))
      << "it could be either";
}

// A table in which two options have one name is a mistake that its first use shows.
TEST(OptionAlternatives, HaveNamesThatAreDistinct) {
  struct Twice {
    std::variant<Straight, Stepped> there = {}, back = {};
  };
  const auto there = OptionTable<Twice>().alternatives("there", &Twice::there, "How to go.");
  EXPECT_EQ(there.fields().size(), 3u);
  EXPECT_THROW(OptionTable<Twice>(there).alternatives("back", &Twice::back, "How to come."),
               std::logic_error);
  EXPECT_THROW(table().real("end", &Options::end, {0, 1}, "", "Again."), std::logic_error);
}

struct Chosen {
  std::variant<Straight, Stepped> way = Stepped{7, {}};
};

TEST(OptionAlternatives, NamingTheDefaultChoiceKeepsItsValues) {
  const auto table = OptionTable<Chosen>().alternatives("way", &Chosen::way, "Which way.");
  EXPECT_EQ(std::get<Stepped>(table.parse({}, "").way).steps, 7);
  EXPECT_EQ(std::get<Stepped>(table.parse({{"way", "stepped"}}, "").way).steps, 7);
}

struct Nested {
  std::variant<Straight, Stepped> inner = {};
  static constexpr std::string_view option_name = "nested";
  static const OptionTable<Nested>& table() {
    static const auto table = OptionTable<Nested>().alternatives("inner", &Nested::inner, "Which.");
    return table;
  }
};

struct Outer {
  std::variant<Straight, Nested> way = {};
};

TEST(OptionAlternatives, AreNotNested) {
  EXPECT_THROW(OptionTable<Outer>().alternatives("way", &Outer::way, "Which way."),
               std::logic_error);
}

}  // namespace
}  // namespace kiln::option_alternatives_test
