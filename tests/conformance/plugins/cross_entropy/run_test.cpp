// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole runs of the plug-in in apps/plugins/cross_entropy.
#include <gtest/gtest.h>

#include <filesystem>
#include <span>

#include "kiln/objective.hpp"
#include "kiln/plugins/plugins.hpp"

#include "backends/backends.hpp"
#include "models/small_models.hpp"
#include "whole_run.hpp"

namespace kiln::test::cross_entropy_run_test {
namespace {

// The plug-in is loaded once in a process.
const ScheduleEntry& entry() {
  static const ScheduleEntry loaded = [] {
    Registry all = builtin_registry();
    load_plugin(std::filesystem::path(KILN_PLUGINS) / "cross_entropy.so", all);
    return all.schedule("cross-entropy");
  }();
  return loaded;
}

/// Bits in bytes: an objective on the host, which counts the bits that differ from a pattern.
Problem pattern(std::int64_t n) {
  const auto distance = [](StateSpan state) {
    double differ = 0;
    std::size_t i = 0;
    for (const std::int8_t bit : std::get<std::span<const std::int8_t>>(state.front())) {
      differ += bit != (i++ % 3 == 0 ? 1 : 0) ? 1 : 0;
    }
    return differ;
  };
  return make_problem(make_host_objective("pattern", Space::binary(n), distance));
}

class CrossEntropyRun : public DeviceTest {};
KILN_ON_EVERY_BACKEND(CrossEntropyRun);

TEST_P(CrossEntropyRun, HasTheSameBitsEverywhere) {
  for (const Problem& problem : {make_ising(random_ising(70, 4, 3)),
                                 make_maxcut(random_graph(70, 4, 3, 0.37)), pattern(20)}) {
    for (const char* populations : {"1", "4"}) {
      SCOPED_TRACE(problem.identity.name + ", " + populations);
      const auto make = [&] {
        return entry().make({{"populations", populations}, {"elite", "0.1"}, {"smoothing", "0.7"}});
      };
      RunOptions options;
      options.replicas = 256;
      const Result result =
          expect_same_everywhere(GetParam(), problem, make, options, {.sweeps = 50});
      EXPECT_GT(result.diagnostics.at("restarts"), 0);
    }
  }
}

}  // namespace
}  // namespace kiln::test::cross_entropy_run_test
