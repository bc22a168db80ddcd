// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/cost/profile_text.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace kiln::cli::profile_text_test {
namespace {

TEST(ProfileText, IsASentenceAndATable) {
  Profile profile;
  profile.ticks = 4;
  profile.of_ticks = 250;
  profile.device_s = 0.01;
  profile.gaps_s = 0.0005;
  profile.busy_share = 0.95;
  profile.host_s = 20e-6;
  profile.replayed_ticks = 246;
  profile.replayed_s = 0.492;
  profile.kernels = {{"metropolis_sweep", 8, 0.008, 0.8421, 8.0 * 3 * 1024, 0.0004},
                     {"end_tick", 4, 0.0015, 0.1579, {}, {}}};
  EXPECT_EQ(
      profile_text(profile),
      "profile 4 of 250 ticks   device 10.0 ms   kernels 95.0 %   gaps 500 us   host 20.0 us\n"
      "        a tick takes 2.50 ms as measured, 2.00 ms as replayed in a graph\n"
      "kernel             launches    share   a launch     floor     moves\n"
      "metropolis_sweep          8   84.2 %    1.00 ms   50.0 us   3.0 KiB\n"
      "end_tick                  4   15.8 %     375 us         -         -\n");
}

TEST(ProfileText, FitsAScreen) {
  Profile profile;
  profile.ticks = 999'999'999;
  profile.of_ticks = 999'999'999;
  profile.device_s = profile.gaps_s = profile.host_s = 0.9994;
  profile.kernels = {{"batched_triangular_solve", 99'999'999, 99'999'999 * 0.00099949, 1,
                      99'999'999 * 1023.0 * 1024, 99'999'999 * 0.00099949}};
  std::istringstream lines(profile_text(profile));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("profile")) continue;  // a screen breaks it at its gaps
    EXPECT_LE(line.size(), 79u) << line;
  }
}

TEST(ProfileText, SaysThatNothingWasMeasured) {
  Profile profile;
  profile.of_ticks = 2;
  EXPECT_EQ(profile_text(profile), "profile no tick of 2 was measured: the run is too short\n");
}

}  // namespace
}  // namespace kiln::cli::profile_text_test
