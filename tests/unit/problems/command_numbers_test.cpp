// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "kiln/options.hpp"
#include "kiln/problems/command.hpp"

namespace kiln::problems::command_numbers_test {
namespace {

// What is written is read as a state that is written alike, and short numbers stay what they are.
TEST(CommandNumbers, StayWhatTheyAreWhenWritten) {
  std::mt19937_64 draws(1);
  std::uniform_real_distribution<double> uniform;
  struct Range {
    double low, high;
    bool logarithmic;
  };
  for (const auto& [low, high, logarithmic] : {Range{1e-6, 1, true},
                                               {1e-300, 1e8, true},
                                               {0.9, 1.1, true},
                                               {0.1, 0.7, false},
                                               {1, 7, false}}) {
    const std::string range = kiln::detail::show_real(low) + ":" + kiln::detail::show_real(high);
    SCOPED_TRACE(range);
    const Problem problem =
        command_by_name("echo {x}", {{"var", {"x=real:" + range + (logarithmic ? ":log" : "")}}});
    const auto written = [&](const State& state) {
      return problem.solution.named_values(spans_of(state)).front().second;
    };
    const auto again = [&](const std::string& text) {
      return written(problem.solution.parse(std::vector<double>{std::stod(text)}));
    };
    int changed = 0, of_users = 0;
    for (int i = 0; i < 3000; ++i) {
      const double share = uniform(draws);
      const std::string text = written(State{std::vector<double>{share}});
      const double exact =
          logarithmic ? low * std::pow(high / low, share) : low + share * (high - low);
      // Shares are 1e-16 apart.
      const double apart = 1e-14 + (logarithmic ? 4e-16 * std::log(high / low) : 0);
      EXPECT_NEAR(std::stod(text), exact, apart * exact);
      changed += again(text) != text;
      std::array<char, 40> user{};
      std::snprintf(user.data(), user.size(), "%.*g", i % 11 + 2, exact);
      const double number = std::clamp(std::stod(user.data()), low, high);
      const std::string of_user = kiln::detail::show_real(number);
      of_users += again(of_user) != of_user;
    }
    EXPECT_EQ(changed, 0);
    EXPECT_EQ(of_users, 0);
  }
}

}  // namespace
}  // namespace kiln::problems::command_numbers_test
