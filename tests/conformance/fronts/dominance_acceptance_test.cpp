// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/dominance_acceptance.hpp"

#include <gtest/gtest.h>

#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"
#include "fronts.hpp"

// Named draws and exact arithmetic.
KILN_CONFORMANCE_CASE(DominanceAcceptance, exact)

namespace kiln::test::dominance_acceptance_test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int32_t none = NondominatedRanks::no_front;

/// Present states, and pools of archive members and proposals, in columns of one cloud: those of
/// the present states come after all pools, so that the definition of dominance serves for both.
struct Annealing {
  std::int64_t groups = 1, group_size = 1, members = 0;
  Cloud cloud;
  std::vector<std::int32_t> rank;    ///< [columns of the pools]
  std::vector<double> ideal, nadir;  ///< [objectives][groups]
  double first = 1, log_factor = 0, log_spread = 0;
  std::int64_t stage = 1;
  std::uint64_t seed = 1;
  RunControl control = {};

  std::int64_t slots() const { return groups * group_size; }
  std::int64_t pool() const { return members + group_size; }
  std::int64_t columns() const { return groups * pool(); }
  std::int64_t present(std::int64_t slot) const { return columns() + slot; }
  std::int64_t proposal(std::int64_t slot) const {
    return slot / group_size * pool() + members + slot % group_size;
  }
};

/// Without values; the box of every objective is the unit interval.
Annealing make_annealing(std::int64_t groups, std::int64_t group_size, std::int64_t members,
                         std::int64_t objectives) {
  Annealing all{groups, group_size, members, {}, {}, {}, {}};
  const std::int64_t columns = all.columns() + all.slots();
  all.cloud.objectives = objectives;
  all.cloud.sizes = {columns};
  all.cloud.value.assign(idx(objectives * columns), 0.0);
  all.cloud.violation.assign(idx(columns), 0.0);
  all.rank.assign(idx(all.columns()), 0);
  all.ideal.assign(idx(objectives * groups), 0.0);
  all.nadir.assign(idx(objectives * groups), 1.0);
  all.control.step = 7;
  return all;
}

struct Moved {
  std::vector<double> value, violation;  ///< of the present states
  std::vector<std::int32_t> source, member;
  std::vector<std::uint64_t> accepted;
  auto all() const {
    return std::tuple(bits_of(value), bits_of(violation), source, member, accepted);
  }
};

Moved accept(Queue& queue, const Annealing& in) {
  const std::int64_t m = in.cloud.objectives, slots = in.slots(), width = in.cloud.points();
  DeviceArray<double> value(queue, in.cloud.value), violation(queue, in.cloud.violation);
  const DeviceArray<std::int32_t> rank(queue, in.rank);
  const DeviceArray<double> ideal(queue, in.ideal), nadir(queue, in.nadir);
  DeviceArray<std::int32_t> source(queue, std::vector<std::int32_t>(idx(slots), -7));
  DeviceArray<std::int32_t> member(queue, std::vector<std::int32_t>(idx(slots), -7));
  DeviceArray<std::uint64_t> accepted(queue, std::vector<std::uint64_t>(idx(slots), 2));
  const DeviceNames names(queue, make_names(slots, in.groups, in.seed));
  const auto control = upload_control(queue, in.control);
  DominanceAcceptance kernel;
  kernel.replicas = slots;
  kernel.group_size = in.group_size;
  kernel.value = {value.data() + in.columns(), m, slots, width};
  kernel.violation = {violation.data() + in.columns(), slots};
  kernel.points.value = {value.data(), m, in.columns(), width};
  kernel.points.violation = {violation.data(), in.columns()};
  kernel.points.groups = {in.groups, in.pool(), {}};
  kernel.rank = rank.view();
  kernel.members = in.members;
  kernel.ideal = {ideal.data(), m, in.groups, in.groups};
  kernel.nadir = {nadir.data(), m, in.groups, in.groups};
  kernel.first = in.first;
  kernel.log_factor = in.log_factor;
  kernel.log_spread = in.log_spread;
  kernel.stage = in.stage;
  kernel.source = source.view();
  kernel.member = member.view();
  kernel.accepted = accepted.view();
  kernel.draw_ids = names.view();
  kernel.control = control.data();
  kernel.step_offset = 3;
  queue.launch(kernel);
  Moved out{{}, {}, source.download(), member.download(), accepted.download()};
  const std::vector<double> values = value.download(), violations = violation.download();
  for (std::int64_t k = 0; k < m; ++k) {
    const auto begin = values.begin() + k * width + in.columns();
    out.value.insert(out.value.end(), begin, begin + slots);
  }
  out.violation.assign(violations.begin() + in.columns(), violations.end());
  return out;
}

/// By how much a column dominates another one, which it does.
long double amount(const Annealing& in, std::int64_t group, std::int64_t a, std::int64_t b) {
  const long double va = std::max(0.0, in.cloud.violation_of(a));
  const long double vb = std::max(0.0, in.cloud.violation_of(b));
  if (va != vb) return vb - va;
  long double product = 1;
  for (std::int64_t k = 0; k < in.cloud.objectives; ++k) {
    const std::size_t at = idx(k * in.groups + group);
    const long double difference =
        std::abs(static_cast<long double>(in.cloud.at(k, a)) - in.cloud.at(k, b));
    if (difference > 0) product *= difference / (in.nadir[at] - in.ideal[at]);
  }
  return product;
}

/// Chances of a slot, by the definition: to accept the proposal, and to move to which member.
struct Chances {
  long double accept = 1, move = 0;
  std::int64_t member = -1;
};
Chances chances_of(const Annealing& in, std::int64_t slot) {
  const std::int64_t group = slot / in.group_size, next = in.proposal(slot);
  const std::int64_t now = in.present(slot);
  if (in.cloud.has_nan(next)) return {0, 0, -1};
  std::vector<std::pair<long double, std::int64_t>> amounts;
  for (std::int64_t c = group * in.pool(); c < group * in.pool() + in.members; ++c) {
    if (in.rank[idx(c)] != 0 || !in.cloud.dominates(c, next)) continue;
    amounts.emplace_back(amount(in, group, c, next), c - group * in.pool());
  }
  const auto stages = static_cast<long double>((in.control.step + 3) / idx(in.stage));
  const long double place = in.group_size > 1 ? static_cast<long double>(slot % in.group_size) /
                                                    static_cast<long double>(in.group_size - 1)
                                              : 0;
  const long double t = in.first * std::exp(in.log_factor * stages + in.log_spread * place);
  const bool improves = in.cloud.dominates(next, now);
  if (improves && !amounts.empty()) {
    const auto [least, member] = *std::min_element(amounts.begin(), amounts.end());
    const long double p = 1 / (1 + std::exp(least / t));
    return {p, (1 - p) / (1 + std::exp(-least)), group * in.members + member};
  }
  if (in.cloud.dominates(now, next)) amounts.emplace_back(amount(in, group, now, next), -1);
  if (amounts.empty()) return {};
  long double sum = 0;
  for (const auto& entry : amounts) sum += entry.first;
  return {1 / (1 + std::exp(sum / static_cast<long double>(amounts.size()) / t)), 0, -1};
}

double share(const std::vector<std::int32_t>& numbers) {
  const auto there = std::count_if(numbers.begin(), numbers.end(), [](auto n) { return n >= 0; });
  return static_cast<double>(there) / static_cast<double>(numbers.size());
}
/// Five standard errors of a share that should be p.
double five_errors(double p, double n) { return 5 * std::sqrt(p * (1 - p) / n); }

class DominanceAcceptanceKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(DominanceAcceptanceKernel);

TEST_P(DominanceAcceptanceKernel, AcceptsWorsePointsByTheirTemperature) {
  constexpr std::int64_t slots = 8192;
  Annealing in = make_annealing(slots, 1, 0, 2);
  for (std::int64_t slot = 0; slot < slots; ++slot) in.cloud.at(0, in.proposal(slot)) = 1.5;
  in.nadir.assign(idx(2 * slots), 3.0);  // half of the range worse in one objective
  double before = 0.5;
  for (const double temperature : {10.0, 2.0, 0.5, 0.2, 0.1, 1e-4}) {
    in.first = temperature;
    const Moved out = accept(queue(), in);
    const double p = 1 / (1 + std::exp(0.5 / temperature)), got = share(out.source);
    EXPECT_NEAR(got, p, five_errors(p, slots)) << temperature;
    EXPECT_LT(got, before);
    before = got;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      const bool moved = out.source[slot] >= 0;
      ASSERT_EQ(out.source[slot], moved ? static_cast<std::int32_t>(slot) : -1);
      ASSERT_EQ(out.value[slot], moved ? 1.5 : 0);
      ASSERT_EQ(out.accepted[slot], moved ? 3u : 2u);
      ASSERT_EQ(out.member[slot], -1);
    }
  }
  EXPECT_EQ(before, 0) << "too cold for anything worse";
}

TEST_P(DominanceAcceptanceKernel, CoolsByStagesAndFromReplicaToReplica) {
  constexpr std::int64_t groups = 4096;
  Annealing in = make_annealing(groups, 3, 0, 2);
  for (std::int64_t slot = 0; slot < in.slots(); ++slot) {
    in.cloud.at(1, in.proposal(slot)) = 0.5;
  }
  in.first = 2;
  in.stage = 10;
  in.log_factor = std::log(0.5);
  in.log_spread = std::log(0.25);
  for (const std::uint64_t step : {0, 6, 7, 27}) {  // three before the step that counts
    in.control.step = step;
    const Moved out = accept(queue(), in);
    for (std::size_t place = 0; place < 3; ++place) {
      const double t = 2 * std::pow(0.5, (step + 3) / 10) * std::pow(0.5, place);
      const double p = 1 / (1 + std::exp(0.5 / t));
      std::vector<std::int32_t> there;
      for (std::size_t slot = place; slot < out.source.size(); slot += 3) {
        there.push_back(out.source[slot]);
      }
      EXPECT_NEAR(share(there), p, five_errors(p, groups)) << step << ", " << place;
    }
  }
}

TEST_P(DominanceAcceptanceKernel, AlwaysAcceptsWhatNothingDominates) {
  constexpr std::int64_t slots = 1000;
  Annealing in = make_annealing(1, slots, 3, 2);
  in.first = 1e-9;
  // Members that neither dominate nor are on the front; proposals that are better, equal or other.
  const double of_members[3][2] = {{-5, 9}, {0.5, 0.5}, {-9, -9}};
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t k = 0; k < 2; ++k) in.cloud.at(k, i) = of_members[i][k];
  }
  in.rank[2] = 1;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    in.cloud.at(0, in.proposal(slot)) = -static_cast<double>(slot % 3);
    in.cloud.at(1, in.proposal(slot)) = slot % 3 == 2 ? 1 : 0;
  }
  const Moved out = accept(queue(), in);
  EXPECT_EQ(share(out.source), 1);
  EXPECT_EQ(share(out.member), 0);
  in.cloud.violation[idx(in.proposal(5))] = 1e-6;  // the present state is feasible
  EXPECT_EQ(accept(queue(), in).source[5], -1);
}

TEST_P(DominanceAcceptanceKernel, MovesToTheNearestMemberOfTheArchive) {
  constexpr std::int64_t groups = 8192;
  Annealing in = make_annealing(groups, 1, 4, 2);
  in.first = 0.5;
  // All members dominate the proposal, the third one by least: 0.4; the fourth is on no first
  // front.
  const double distances[] = {0.9, 0.8, 0.4, 0.1};
  for (std::int64_t g = 0; g < groups; ++g) {
    for (std::int64_t i = 0; i < 4; ++i) in.cloud.at(0, g * in.pool() + i) = 1 - distances[i];
    in.rank[idx(g * in.pool() + 3)] = 1;
    in.cloud.at(0, in.proposal(g)) = 1;
    in.cloud.at(0, in.present(g)) = 2;
  }
  const Moved out = accept(queue(), in);
  const double p = 1 / (1 + std::exp(0.4 / 0.5)), q = (1 - p) / (1 + std::exp(-0.4));
  EXPECT_NEAR(share(out.source), p, five_errors(p, groups));
  EXPECT_NEAR(share(out.member), q, five_errors(q, groups));
  for (std::size_t g = 0; g < groups; ++g) {
    const bool moved = out.source[g] >= 0, to_member = out.member[g] >= 0;
    ASSERT_FALSE(moved && to_member);
    if (to_member) {
      ASSERT_EQ(out.member[g], static_cast<std::int32_t>(4 * g + 2));
    }
    ASSERT_EQ(out.value[g], moved ? 1 : to_member ? 1 - 0.4 : 2);
    ASSERT_EQ(out.accepted[g], moved ? 3u : 2u);
  }
}

TEST_P(DominanceAcceptanceKernel, NeverAcceptsNan) {
  Annealing in = make_annealing(1, 300, 2, 2);
  in.first = 1e9;
  for (std::int64_t slot = 0; slot < 300; ++slot) {
    // A NaN in one objective, or as violation; for the last hundred also in the present state.
    if (slot % 3 < 2) in.cloud.at(slot % 3, in.proposal(slot)) = nan;
    if (slot % 3 == 2) in.cloud.violation[idx(in.proposal(slot))] = nan;
    if (slot >= 200) in.cloud.at(0, in.present(slot)) = nan;
  }
  Moved out = accept(queue(), in);
  EXPECT_EQ(share(out.source), 0);
  EXPECT_EQ(share(out.member), 0);
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(300, 2));
  // Anything is better than a present state with a NaN.
  in.rank = std::vector<std::int32_t>(in.rank.size(), none);
  in.cloud.at(0, in.proposal(250)) = in.cloud.at(1, in.proposal(250)) = inf;
  in.cloud.violation[idx(in.proposal(250))] = inf;
  EXPECT_EQ(accept(queue(), in).source[250], 250);
}

TEST_P(DominanceAcceptanceKernel, SurvivesInfiniteAmounts) {
  Annealing in = make_annealing(1, 64, 2, 2);
  // Both members dominate the proposals by an infinite amount, and these the present states.
  for (std::int64_t slot = 0; slot < 64; ++slot) {
    in.cloud.at(0, in.proposal(slot)) = in.cloud.at(0, in.present(slot)) = inf;
    in.cloud.at(1, in.present(slot)) = 5;
  }
  const Moved out = accept(queue(), in);
  EXPECT_EQ(out.source, std::vector<std::int32_t>(64, -1));
  EXPECT_EQ(out.member, std::vector<std::int32_t>(64, 0)) << "the chance of that is 1";
  EXPECT_EQ(out.value, std::vector<double>(128, 0));
}

TEST_P(DominanceAcceptanceKernel, MatchesTheDefinition) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    TestRandom random(seed);
    const std::int64_t objectives = 1 + std::int64_t(seed % 4);
    Annealing in = make_annealing(seed % 3 == 0 ? 1 : 12, 30, 8, objectives);
    const CloudStyle style{seed % 2 == 0 ? 4 : 0, 0, 0.03, seed % 3 == 0 ? 0.3 : 0.1};
    in.cloud = make_cloud(objectives, in.cloud.sizes, style, seed);
    for (std::int32_t& rank : in.rank) rank = random.unit() < 0.8 ? 0 : 1;
    for (double& nadir : in.nadir) nadir = 1 + random.unit();
    in.first = 0.3;
    in.log_factor = -0.1;
    in.log_spread = -0.7;
    in.stage = 4;
    in.seed = seed;
    const Moved out = accept(queue(), in);
    const HostNames names = make_names(in.slots(), in.groups, seed);
    for (std::int64_t slot = 0; slot < in.slots(); ++slot) {
      const auto at = idx(slot);
      const DrawName name{names.key[at], 10, names.replica[at], RngDomain::dominance, 0};
      const double u = open_unit(draw_word(name, 0));
      const Chances chances = chances_of(in, slot);
      const bool moved = u < chances.accept,
                 to_member = !moved && u < chances.accept + chances.move;
      ASSERT_EQ(out.source[at], moved ? slot : -1) << slot;
      ASSERT_EQ(out.member[at], to_member ? chances.member : -1) << slot;
      const std::int64_t group = slot / in.group_size;
      const std::int64_t from = moved ? in.proposal(slot)
                                : to_member
                                    ? chances.member - group * in.members + group * in.pool()
                                    : in.present(slot);
      for (std::int64_t k = 0; k < objectives; ++k) {
        const double x = out.value[idx(k * in.slots() + slot)];
        ASSERT_EQ(bits_of({x}), bits_of({in.cloud.at(k, from)}));
      }
      ASSERT_EQ(out.violation[at], in.cloud.violation_of(from));
    }
    EXPECT_EQ(out.all(), accept(cpu_queue(), in).all());
  }
}

TEST_P(DominanceAcceptanceKernel, DoesNothingOnceStopped) {
  Annealing in = make_annealing(1, 10, 0, 2);
  in.control.stop = DeviceStop::target;
  const Moved out = accept(queue(), in);
  EXPECT_EQ(out.source, std::vector<std::int32_t>(10, -7));
  EXPECT_EQ(out.accepted, std::vector<std::uint64_t>(10, 2));
}

}  // namespace
}  // namespace kiln::test::dominance_acceptance_test
