// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/select_survivors.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kiln/kernels/fronts/nondominated_ranks.hpp"

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Comparisons and copies.
KILN_CONFORMANCE_CASE(SelectSurvivors, exact)

namespace kiln::test::select_survivors_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int32_t none = NondominatedRanks::no_front;

struct Pools {
  std::int64_t groups = 1, size = 0, residents = 0, objectives = 2;
  std::vector<double> value, violation, score;
  std::vector<std::int32_t> rank, source;
  std::vector<std::uint64_t> accepted;

  std::int64_t columns() const { return groups * size; }
  std::int64_t newcomers() const { return size - residents; }
  /// As it is compared: a NaN equals itself.
  auto all() const {
    return std::tuple(bits_of(value), bits_of(violation), bits_of(score), rank, source, accepted);
  }
};

/// Values that say which column they are from, ranks and scores that tie often.
Pools make_pools(std::int64_t groups, std::int64_t size, std::int64_t residents,
                 std::int64_t objectives, std::uint64_t seed) {
  TestRandom random(seed);
  Pools pools{groups, size, residents, objectives, {}, {}, {}, {}, {}, {}};
  const double scores[] = {0, -0.0, 0.25, 1, inf, -inf};
  for (std::int64_t c = 0; c < pools.columns(); ++c) {
    const bool unusable = random.unit() < 0.05;
    pools.rank.push_back(unusable ? none : static_cast<std::int32_t>(random.between(0, 4)));
    pools.violation.push_back(unusable ? nan : random.unit() - 0.5);
    const bool ties = random.between(0, 1) == 0;
    pools.score.push_back(ties ? scores[random.between(0, 5)] : random.unit());
  }
  for (std::int64_t i = 0; i < objectives * pools.columns(); ++i) {
    pools.value.push_back(static_cast<double>(i));
  }
  pools.source.assign(idx(groups * residents), -7);
  pools.accepted.assign(idx(groups * pools.newcomers()), 5);
  return pools;
}

Pools select(Queue& queue, Pools pools, const RunControl& state = {}) {
  DeviceArray<double> value(queue, pools.value), violation(queue, pools.violation);
  DeviceArray<double> score(queue, pools.score);
  DeviceArray<std::int32_t> rank(queue, pools.rank), source(queue, pools.source);
  DeviceArray<std::uint64_t> accepted(queue, pools.accepted);
  const PointGroups groups{pools.groups, pools.size, {}};
  const auto bytes = idx(SelectSurvivors::scratch_bytes(groups));
  DeviceArray<std::byte> scratch(queue, std::vector<std::byte>(bytes, std::byte{0x5A}));
  const auto control = upload_control(queue, state);
  queue.launch(SelectSurvivors{groups,
                               pools.residents,
                               {value.data(), pools.objectives, pools.columns(), pools.columns()},
                               violation.view(),
                               rank.view(),
                               score.view(),
                               source.view(),
                               accepted.view(),
                               scratch.view(),
                               control.data(),
                               0});
  pools.value = value.download();
  pools.violation = violation.download();
  pools.score = score.download();
  pools.rank = rank.download();
  pools.source = source.download();
  pools.accepted = accepted.download();
  return pools;
}

/// A column survives if fewer come before it than there are residents.
bool survives(const Pools& pools, std::int64_t group, std::int64_t member) {
  const std::int64_t begin = group * pools.size;
  const auto c = idx(begin + member);
  std::int64_t before = 0;
  for (std::int64_t other = 0; other < pools.size; ++other) {
    const auto o = idx(begin + other);
    if (pools.rank[o] != pools.rank[c]) {
      before += pools.rank[o] < pools.rank[c] ? 1 : 0;
    } else if (pools.score[o] != pools.score[c]) {
      before += pools.score[o] > pools.score[c] ? 1 : 0;
    } else {
      before += other < member ? 1 : 0;
    }
  }
  return before < pools.residents;
}

Pools by_definition(const Pools& in) {
  Pools out = in;
  for (std::int64_t group = 0; group < in.groups; ++group) {
    const std::int64_t begin = group * in.size;
    std::vector<std::int64_t> freed, arrivals;
    for (std::int64_t member = 0; member < in.size; ++member) {
      const bool stays = survives(in, group, member);
      if (member < in.residents) out.source[idx(group * in.residents + member)] = -1;
      if (member < in.residents && !stays) freed.push_back(member);
      if (member >= in.residents && stays) arrivals.push_back(member);
    }
    EXPECT_EQ(freed.size(), arrivals.size());
    for (std::size_t i = 0; i < freed.size(); ++i) {
      const auto to = idx(begin + freed[i]), from = idx(begin + arrivals[i]);
      const std::int64_t arrival = group * in.newcomers() + arrivals[i] - in.residents;
      out.source[idx(group * in.residents + freed[i])] = static_cast<std::int32_t>(arrival);
      ++out.accepted[idx(arrival)];
      for (std::int64_t k = 0; k < in.objectives; ++k) {
        out.value[idx(k * in.columns()) + to] = in.value[idx(k * in.columns()) + from];
      }
      if (!in.violation.empty()) out.violation[to] = in.violation[from];
      out.rank[to] = in.rank[from];
      out.score[to] = in.score[from];
    }
  }
  return out;
}

class SelectSurvivorsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(SelectSurvivorsKernel);

TEST_P(SelectSurvivorsKernel, SelectsByHand) {
  Pools pools{1, 7, 4, 1, {0, 1, 2, 3, 4, 5, 6}, {}, {}, {}, {}, {}};
  pools.violation = {0, 10, 20, 30, 40, 50, 60};
  //            residents             newcomers
  pools.rank = {1, 0, none, 1, /**/ 1, 0, 1};
  pools.score = {2, 0, inf, 1, /**/ 2, 0, 1};
  pools.source = {-7, -7, -7, -7};
  pools.accepted = {0, 0, 3};

  const Pools after = select(queue(), pools);

  // Columns 1 and 5 of front 0, and of front 1 columns 0 and 4, whose score is greatest.
  EXPECT_EQ(after.source, (std::vector<std::int32_t>{-1, -1, 0, 1}));
  EXPECT_EQ(after.value, (std::vector<double>{0, 1, 4, 5, 4, 5, 6}));
  EXPECT_EQ(after.violation, (std::vector<double>{0, 10, 40, 50, 40, 50, 60}));
  EXPECT_EQ(after.rank, (std::vector<std::int32_t>{1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(after.score, (std::vector<double>{2, 0, 2, 0, 2, 0, 1}));
  EXPECT_EQ(after.accepted, (std::vector<std::uint64_t>{1, 1, 3}));
}

TEST_P(SelectSurvivorsKernel, KeepsResidentsWhereAllAreEqual) {
  for (const std::int64_t size : {10, 2000}) {
    Pools pools = make_pools(1, size, size / 2, 2, 1);
    pools.rank.assign(idx(size), 3);
    for (std::size_t c = 0; c < idx(size); ++c) pools.score[c] = c % 2 == 0 ? 0.0 : -0.0;
    Pools expected = pools;
    expected.source.assign(idx(size / 2), -1);
    EXPECT_EQ(select(queue(), pools).all(), expected.all()) << size;
  }
}

TEST_P(SelectSurvivorsKernel, MatchesTheDefinitionAtEverySize) {
  std::uint64_t seed = 1;
  for (const std::int64_t size : {1, 2, 3, 31, 32, 33, 200, 1000, 1023, 1024, 1025, 2500}) {
    for (const std::int64_t residents : {std::int64_t{1}, size / 3 + 1, size / 2 + 1, size}) {
      if (residents > size) continue;
      SCOPED_TRACE(std::to_string(size) + ", " + std::to_string(residents) + " residents");
      const Pools pools = make_pools(1, size, residents, 1 + std::int64_t(seed % 3), seed);
      ++seed;
      ASSERT_EQ(select(queue(), pools).all(), by_definition(pools).all());
    }
  }
}

TEST_P(SelectSurvivorsKernel, KeepsPoolsApart) {
  for (const auto& [groups, size] : {std::pair{64, 200}, std::pair{300, 7}, std::pair{5, 1300}}) {
    const Pools pools = make_pools(groups, size, size / 2, 3, 9);
    EXPECT_EQ(select(queue(), pools).all(), by_definition(pools).all()) << size;
  }
}

TEST_P(SelectSurvivorsKernel, NeedsNeitherViolationsNorCounts) {
  for (const std::int64_t size : {50, 1500}) {
    Pools pools = make_pools(2, size, size / 2, 2, 4);
    pools.violation.clear();
    Pools expected = by_definition(pools);
    pools.accepted.clear();
    expected.accepted.clear();
    EXPECT_EQ(select(queue(), pools).all(), expected.all());
  }
}

TEST_P(SelectSurvivorsKernel, MatchesCpuOnALargePool) {
  const Pools pools = make_pools(1, 40013, 20011, 2, 5);
  EXPECT_EQ(select(queue(), pools).all(), select(cpu_queue(), pools).all());
}

TEST_P(SelectSurvivorsKernel, DoesNothingOnceStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::target;
  for (const std::int64_t size : {20, 1500}) {
    const Pools pools = make_pools(2, size, size / 2, 2, 6);
    EXPECT_EQ(select(queue(), pools, stopped).all(), pools.all());
  }
}

}  // namespace
}  // namespace kiln::test::select_survivors_test
