// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/registry.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/cpu_queue.hpp"

namespace kiln::registry_test {
namespace {

using test::complaint;

ScheduleEntry schedule(const std::string& name) { return {name, "does nothing", {}, {}}; }
ProblemEntry problem(const std::string& name) {
  return {.name = name, .parameters = "", .sentence = "is empty"};
}

TEST(Registry, FindsWhatWasAdded) {
  Registry registry;
  registry.add(schedule("beta"));
  registry.add(schedule("alpha"));
  registry.add(problem("alpha"));

  EXPECT_EQ(registry.schedule("alpha").sentence, "does nothing");
  EXPECT_EQ(registry.problem("alpha").sentence, "is empty");
  EXPECT_TRUE(registry.has_problem("alpha"));
  EXPECT_FALSE(registry.has_problem("beta"));
  ASSERT_EQ(registry.schedules().size(), 2u);
  EXPECT_EQ(registry.schedules().front()->name, "alpha") << "in alphabetical order";
  EXPECT_EQ(registry.problems().size(), 1u);
}

TEST(Registry, RefusesANameThatIsTaken) {
  Registry registry;
  registry.add(schedule("alpha"));
  registry.add(problem("alpha"));
  EXPECT_EQ(complaint([&] { registry.add(schedule("alpha")); }),
            "registry.taken: a schedule named 'alpha' is already registered");
  EXPECT_EQ(complaint([&] { registry.add(problem("alpha")); }),
            "registry.taken: a problem family named 'alpha' is already registered");
}

TEST(Registry, FindsSchedulesByTheirAliases) {
  Registry registry;
  ScheduleEntry named = schedule("alpha");
  named.aliases = {"a", "first"};
  registry.add(named);
  EXPECT_EQ(registry.schedule("first").name, "alpha");
  EXPECT_TRUE(registry.has_schedule("a"));
  EXPECT_FALSE(registry.has_schedule("b"));
  EXPECT_EQ(registry.schedules().size(), 1u) << "an alias is no further schedule";
  EXPECT_EQ(complaint([&] { registry.add(schedule("first")); }),
            "registry.taken: a schedule named 'first' is already registered");
  ScheduleEntry other = schedule("beta");
  for (const std::vector<std::string>& taken :
       {std::vector<std::string>{"alpha"}, {"a"}, {"beta"}, {"b", "b"}}) {
    other.aliases = taken;
    EXPECT_NE(complaint([&] { registry.add(other); }), "accepted") << taken.front();
    EXPECT_FALSE(registry.has_schedule("beta")) << "half of it was kept";
  }
}

TEST(Registry, BuiltinAliasesAreNamesOfNothingElse) {
  const Registry registry = builtin_registry();
  for (const auto& [alias, name] :
       std::vector<std::pair<std::string, std::string>>{{"sa", "simulated-annealing"},
                                                        {"annealing", "simulated-annealing"},
                                                        {"pt", "parallel-tempering"},
                                                        {"tempering", "parallel-tempering"},
                                                        {"pa", "population-annealing"},
                                                        {"bo", "bayesian-optimization"},
                                                        {"bayesian", "bayesian-optimization"},
                                                        {"nuts", "hmc"},
                                                        {"evolution", "evolutionary"},
                                                        {"multi-objective", "evolutionary"}}) {
    EXPECT_EQ(registry.schedule(alias).name, name);
  }
  for (const ScheduleEntry* entry : registry.schedules()) {
    for (const std::string& alias : entry->aliases) {
      EXPECT_FALSE(registry.has_problem(alias)) << alias << " is a family of problems";
    }
  }
  EXPECT_EQ(complaint([&] { registry.problem("tsp"); }), "problem.unknown: unknown problem 'tsp'");
}

TEST(Registry, SuggestsTheNearestName) {
  Registry registry;
  registry.add(schedule("annealing"));
  registry.add(schedule("tempering"));
  EXPECT_EQ(complaint([&] { registry.schedule("anealing"); }),
            "schedule.unknown: unknown schedule 'anealing'; the nearest is 'annealing'");
  EXPECT_EQ(complaint([&] { registry.schedule("genetic"); }),
            "schedule.unknown: unknown schedule 'genetic'");
  try {
    registry.schedule("genetic");
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.expected(), "available: annealing, tempering");
  }
}

// The oracle is the schedule itself, made without options.
TEST(Registry, BuiltinSchedulesTellTheDefaultsThatTheyHave) {
  const Registry registry = builtin_registry();
  int numbers = 0, automatic = 0;
  for (const ScheduleEntry* entry : registry.schedules()) {
    for (const FieldInfo& field : entry->fields) {
      SCOPED_TRACE(entry->name + " " + field.name + ": " + field.default_text);
      if (field.name == "list.betas") {  // there is no cooling=list without
        EXPECT_EQ(field.default_text, "none");
        EXPECT_THROW(entry->make({{"cooling", "list"}}), InvalidArgument);
        continue;
      }
      OptionTexts chosen;
      if (!field.choice.empty()) chosen[field.choice] = field.alternative;
      const std::string value = entry->make(chosen)->parameters().at(field.name);
      const bool list = field.type == "list of reals", choice = field.type == "choice";
      if (list && value.empty()) {
        EXPECT_TRUE(field.default_text == "none" || field.default_text == "automatic");
      } else if (field.default_text == "automatic" && !choice) {
        EXPECT_TRUE(value == "0" || value == "-1") << value;
        ++automatic;
      } else {
        EXPECT_EQ(field.default_text, value);
        ++numbers;
      }
    }
  }
  EXPECT_GT(automatic, 50);
  EXPECT_GT(numbers, 60);
}

TEST(Registry, BuiltinSchedulesDescribeTheirOptions) {
  const Registry registry = builtin_registry();
  for (const ScheduleEntry* entry : registry.schedules()) {
    EXPECT_FALSE(entry->sentence.empty()) << entry->name;
    for (const FieldInfo& field : entry->fields) {
      EXPECT_FALSE(field.name.empty() || field.type.empty() || field.range.empty() ||
                   field.default_text.empty() || field.sentence.empty())
          << entry->name << " " << field.name;
    }
    EXPECT_EQ(entry->make({})->name(), entry->name);
  }
  for (const ProblemEntry* entry : registry.problems()) {
    EXPECT_FALSE(entry->sentence.empty()) << entry->name;
    EXPECT_FALSE(entry->examples.empty()) << entry->name;
  }
}

TEST(Registry, MakesSchedulesFromParametersOfTheVersionBefore) {
  const Registry registry = builtin_registry();
  const ScheduleEntry& entry = registry.schedule("multi-objective");
  const auto amosa =
      entry.make({{"strategy", "amosa"}, {"generations", "30"}, {"population", "8"}});
  EXPECT_EQ(amosa->name(), "amosa");
  EXPECT_EQ(amosa->parameters().at("cooling_sweeps"), "30");
  EXPECT_EQ(amosa->parameters().at("chains"), "8");
  const auto models = entry.make({{"strategy", "surrogate"}, {"generations", "3"}, {"batch", "4"}});
  EXPECT_EQ(models->name(), "bayesian-front");
  EXPECT_EQ(models->parameters().at("evaluations"), "12");
  EXPECT_EQ(entry.make({{"strategy", "nsga3"}})->parameters().at("strategy"), "nsga3");
}

// A line of a terminal has 80 columns; the help indents four and leaves the last one free.
TEST(Registry, BuiltinSchedulesDescribeEachOptionInOneLine) {
  constexpr std::size_t max_length = 75;
  const Registry registry = builtin_registry();
  for (const char* name : {"simulated-annealing", "evolutionary"}) {
    EXPECT_FALSE(registry.schedule(name).fields.empty()) << name;
  }
  std::size_t options = 0;
  for (const ScheduleEntry* entry : registry.schedules()) {
    for (const FieldInfo& field : entry->fields) {
      SCOPED_TRACE(entry->name + " " + field.name + ": " + field.sentence);
      ++options;
      ASSERT_FALSE(field.sentence.empty());
      EXPECT_LE(field.sentence.size(), max_length);
      EXPECT_TRUE(field.sentence.front() >= 'A' && field.sentence.front() <= 'Z');
      EXPECT_EQ(field.sentence.back(), '.');
      EXPECT_TRUE(field.details.empty() || field.details.back() == '.') << field.details;
    }
  }
  EXPECT_GT(options, 100U);
}

TEST(Registry, KnowsTheScheduleOfAProblemThatNamesNone) {
  const Registry builtin = builtin_registry();
  const Problem front = builtin.problem("zdt").make("1");
  EXPECT_EQ(front.start.schedule, "");
  EXPECT_EQ(builtin.default_schedule(front), "evolutionary");
  EXPECT_EQ(builtin.default_schedule(builtin.problem("constrained").make("gramacy")),
            "bayesian-optimization");
  EXPECT_EQ(builtin.default_schedule(builtin.problem("torus").make("4x4,1")), "");
  Registry own;
  EXPECT_EQ(own.default_schedule(front), "") << "none takes several objectives";
  own.add(schedule("alpha"));
  ScheduleEntry fronts = schedule("beta");
  fronts.several_objectives = true;
  own.add(fronts);
  EXPECT_EQ(own.default_schedule(front), "beta");
}

}  // namespace
}  // namespace kiln::registry_test
