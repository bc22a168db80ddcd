// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the library asks for by a code, in options of the program.
#include "fix_words.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kiln/backend.hpp"
#include "kiln/plan.hpp"
#include "kiln/registry.hpp"

namespace kiln::cli::fix_words_test {
namespace {

std::string words(const Fix& fix, std::string_view verb = "solve") {
  return fix_text(InvalidArgument("some.code", "something is wrong", {}, fix), verb);
}

TEST(FixWords, NameOptionsOfTheProgram) {
  EXPECT_EQ(words("a text stays as it is"), "a text stays as it is");
  EXPECT_EQ(words(Fix("wait").or_else(Fix::use_device("cpu"))), "wait, or run with --device cpu");
  EXPECT_EQ(words(Fix::use_another_gpu()), "try another GPU (--device cuda:N)");
  EXPECT_EQ(words(Fix::longer_time_limit()), "raise --time-limit");
  EXPECT_EQ(words(Fix::work_limit(640)), "--work-limit 640");
  EXPECT_EQ(words(Fix::feasible_initial_state()), "start from a feasible state (--initial)");
  EXPECT_EQ(words(Fix::initial_states("a point inside the support")),
            "--initial FILE with a point inside the support");
  EXPECT_EQ(words(Fix::keep_sense("any")), "remove --sense, --minimize and --maximize");
  EXPECT_EQ(words(Fix::keep_sense("maximize")), "remove --sense and --maximize");
  EXPECT_EQ(words(Fix::drop_need("heat_bath")), "run with moves=metropolis");
  EXPECT_EQ(words(Fix::drop_requirement("Parametric")), "-p coordinate=temperature");
  EXPECT_EQ(words(Fix::list_names("schedule")), "kiln list schedules");
}

TEST(FixWords, CallReplicasAsTheCommandDoes) {
  EXPECT_EQ(words(Fix::set_replicas(64)), "--replicas 64");
  EXPECT_EQ(words(Fix::set_replicas(64), "sample"), "--chains 64");
  EXPECT_EQ(words(Fix::fewer_replicas()), "use fewer replicas: --replicas");
  EXPECT_EQ(words(Fix::fewer_replicas(), "sample"), "use fewer replicas: --chains");
  EXPECT_EQ(words(Fix::more_replicas(), "sample"), "more --chains");
}

TEST(FixWords, NameTheScheduleThatIsDeclaredForIt) {
  EXPECT_EQ(words(Fix::choose_schedule("several_objectives")), "--schedule evolutionary");
  EXPECT_EQ(words(Fix::choose_schedule("constraints")), "--schedule bayesian-optimization");
  EXPECT_EQ(words(Fix::choose_schedule("samples")), "--schedule hmc");
  const InvalidArgument constrained("some.code", "wrong", {}, Fix::choose_schedule("constraints"));
  EXPECT_EQ(expected_text(constrained),
            "bayesian-optimization supports constraints with one objective; evolutionary supports "
            "constraints with several objectives");
  const InvalidArgument other("some.code", "wrong", "right", Fix::choose_schedule("constraints"));
  EXPECT_EQ(expected_text(other), "right");
}

// Of a plan that the engine refuses; "" for one that it takes.
std::string refusal(const ScheduleEntry& entry, const Problem& problem) {
  try {
    const auto schedule = entry.make({});
    static_cast<void>(plan_run(problem, *schedule, {}, {}, open_backend("cpu", 1)));
  } catch (const InvalidArgument& error) {
    return error.code();
  }
  return {};
}

TEST(FixWords, NameSchedulesThatTakeWhatTheyAreDeclaredFor) {
  const Registry registry = builtin_registry();
  const Problem constrained = registry.problem("constrained").make("gramacy");
  const Problem front = registry.problem("zdt").make("1");
  for (const ScheduleEntry* entry : registry.schedules()) {
    if (entry->name == "tabu-coloring") continue;  // refuses all but colourings
    EXPECT_EQ(refusal(*entry, front), entry->several_objectives ? "" : "objective.outputs")
        << entry->name;
    if (entry->several_objectives) continue;
    EXPECT_EQ(refusal(*entry, constrained), entry->constraints ? "" : "objective.constraints")
        << entry->name;
  }
}

}  // namespace
}  // namespace kiln::cli::fix_words_test
