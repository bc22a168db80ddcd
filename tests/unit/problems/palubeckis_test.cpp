// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "generators/palubeckis.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/best_known.hpp"
#include "kiln/problems/generators.hpp"

#include "backends/cpu_queue.hpp"

namespace kiln::palubeckis_test {
namespace {

using problems::palubeckis;
using problems::detail::draw_palubeckis;
using problems::detail::named_palubeckis;

/// Published sums; a drawn q_ij of 0 counts as a coupler.
struct Check {
  const char* name;
  std::int32_t n;
  double density_percent;
  std::int64_t seed, n_couplers, coupler_sum, diagonal_sum, last_state;
};

void PrintTo(const Check& check, std::ostream* out) { *out << check.name; }

// clang-format off
constexpr Check checks[] = {
    {"p3000.1", 3000, 50, 31000, 2249617, 12433, 3646, 12408470},
    {"p3000.2", 3000, 80, 32000, 3597685, 114325, -4019, 353745312},
    {"p3000.3", 3000, 80, 33000, 3598568, 31946, 601, 226103285},
    {"p3000.4", 3000, 100, 34000, 4498500, 103409, -871, 1189601936},
    {"p3000.5", 3000, 100, 35000, 4498500, -56460, -4336, 87687121},
    {"p4000.1", 4000, 50, 41000, 3996945, 33682, -10387, 1167288973},
    {"p4000.2", 4000, 80, 42000, 6398028, -61064, 1920, 1798998128},
    {"p4000.3", 4000, 80, 43000, 6398311, -117600, 239, 794343672},
    {"p4000.4", 4000, 100, 44000, 7998000, -84433, -751, 445007118},
    {"p4000.5", 4000, 100, 45000, 7998000, 263213, 321, 162282237},
    {"p5000.1", 5000, 50, 51000, 6246966, 45478, -1781, 1083642609},
    {"p5000.2", 5000, 80, 52000, 9997230, 163505, 937, 1016791257},
    {"p5000.3", 5000, 80, 53000, 9999236, -359184, -5589, 66989123},
    {"p5000.4", 5000, 100, 54000, 12497500, -57201, 3361, 655146696},
    {"p5000.5", 5000, 100, 55000, 12497500, 411658, -8621, 190060454},
    {"p6000.1", 6000, 50, 61000, 8998693, 89726, 4551, 646326628},
    {"p6000.2", 6000, 80, 62000, 14395063, -158509, -520, 395923360},
    {"p6000.3", 6000, 100, 64000, 17997000, 52749, -2707, 1664379908},
    {"p7000.1", 7000, 50, 71000, 12251356, 31587, 149, 1656642313},
    {"p7000.2", 7000, 80, 72000, 19595987, 111071, -736, 398520772},
    {"p7000.3", 7000, 100, 74000, 24496500, 334891, -2652, 1001398750},
};
// clang-format on

class Palubeckis : public testing::TestWithParam<Check> {};

TEST_P(Palubeckis, HasThePublishedCheckSums) {
  const Check& check = GetParam();
  const auto spec = named_palubeckis(check.name);
  EXPECT_EQ(spec.n, check.n);
  EXPECT_EQ(spec.density_percent, check.density_percent);
  EXPECT_EQ(spec.seed, check.seed);

  std::int64_t n_couplers = 0;
  double coupler_sum = 0, diagonal_sum = 0;
  const std::int64_t last_state = draw_palubeckis(
      spec, [&](std::int32_t, double q) { diagonal_sum += q; },
      [&](std::int32_t, std::int32_t, double q) {
        ++n_couplers;
        coupler_sum += q;
      });

  EXPECT_EQ(n_couplers, check.n_couplers);
  EXPECT_EQ(coupler_sum, static_cast<double>(check.coupler_sum));
  EXPECT_EQ(diagonal_sum, static_cast<double>(check.diagonal_sum));
  EXPECT_EQ(last_state, check.last_state);
  EXPECT_TRUE(problems::best_known_qubo(check.name).has_value());
}

INSTANTIATE_TEST_SUITE_P(All, Palubeckis, testing::ValuesIn(checks), [](const auto& param) {
  std::string name = param.param.name;
  name[name.find('.')] = '_';
  return name;
});

TEST(PalubeckisQubo, HoldsTwiceTheCouplersWithoutZeros) {
  const Qubo qubo = palubeckis(12, 70, 31000);

  std::vector<double> linear(12);
  std::vector<QuboTerm> quadratic;
  draw_palubeckis(
      {{}, 12, 70, 31000},
      [&](std::int32_t i, double q) { linear[static_cast<std::size_t>(i)] = q; },
      [&](std::int32_t i, std::int32_t j, double q) {
        if (q != 0) quadratic.push_back({i, j, 2 * q});
      });
  EXPECT_EQ(qubo, (Qubo{12, linear, quadratic, 0.0}));
  Qubo canonical = qubo;
  EXPECT_EQ(problems::canonicalize(canonical), 0);
  EXPECT_EQ(canonical, qubo);
}

TEST(PalubeckisQubo, FirstDrawsAreThoseOfTheGenerator) {
  // 16807 / 2^31 is far below 1, the next state 282475249 gives u = 0.1315...
  const Qubo qubo = palubeckis(2, 100, 1);

  EXPECT_EQ(qubo.linear[0], -100.0);
  // States 16807, 282475249 (density), 1622650073: floor(201 * 0.7556... - 100) = 51.
  ASSERT_EQ(qubo.quadratic.size(), 1U);
  EXPECT_EQ(qubo.quadratic[0], (QuboTerm{0, 1, 102.0}));
  // 984943658: floor(201 * 0.4586... - 100) = -8.
  EXPECT_EQ(qubo.linear[1], -8.0);
}

TEST(PalubeckisQubo, IsKnownByItsFingerprint) {
  const struct {
    const char* name;
    double value;
  } known[] = {{"p3000.1", 3931583}, {"p3000.2", 5193073}, {"p3000.3", 5111533}};
  for (const auto& [name, value] : known) {
    const auto best =
        problems::best_known_qubo_by_fingerprint(problems::fingerprint(palubeckis(name)));
    ASSERT_TRUE(best.has_value()) << name;
    EXPECT_EQ(best->name, name);
    EXPECT_EQ(best->value, value);
  }
}

TEST(PalubeckisQubo, NamesMeanTheirParameters) {
  EXPECT_EQ(problems::palubeckis_names().size(), 21U);
  EXPECT_EQ(problems::palubeckis_names().front(), "p3000.1");
  EXPECT_EQ(problems::palubeckis_names().back(), "p7000.3");
  EXPECT_EQ(test::complaint([] { palubeckis("p3000.6"); }),
            "problem.unknown: unknown Palubeckis instance 'p3000.6'");
  EXPECT_EQ(test::complaint([] { palubeckis("P3000.1"); }),
            "problem.unknown: unknown Palubeckis instance 'P3000.1'; the nearest is 'p3000.1'");
}

TEST(PalubeckisQubo, ReachesTheEndsOfItsRanges) {
  EXPECT_EQ(palubeckis(1, 0, 2147483646).n, 1);
  EXPECT_TRUE(palubeckis(40, 0, 3).quadratic.empty());
  EXPECT_GT(palubeckis(40, 100, 3).quadratic.size(), 700U);
}

TEST(PalubeckisQubo, RefusesWhatCannotBe) {
  EXPECT_EQ(test::complaint([] { palubeckis(0, 50, 1); }),
            "problem.size: a Palubeckis instance cannot have 0 variables");
  EXPECT_EQ(test::complaint([] { palubeckis(11586, 1, 1); }),
            "problem.size: a Palubeckis instance would have 67111905 pairs of variables; expected "
            "at most 67108864");
  EXPECT_EQ(test::complaint([] { palubeckis(10, 100.5, 1); }),
            "problem.value: the density of 100.5 per cent is outside 0 .. 100");
  EXPECT_EQ(test::complaint([] { palubeckis(10, std::stod("nan"), 1); }),
            "problem.value: the density of nan per cent is outside 0 .. 100");
  EXPECT_EQ(test::complaint([] { palubeckis(10, 50, 0); }),
            "problem.value: the seed 0 is outside 1 .. 2147483646");
  EXPECT_EQ(test::complaint([] { palubeckis(10, 50, 2147483647); }),
            "problem.value: the seed 2147483647 is outside 1 .. 2147483646");
}

}  // namespace
}  // namespace kiln::palubeckis_test
