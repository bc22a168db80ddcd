// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/select_parents.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "backends/backends.hpp"
#include "backends/backends_blocks.hpp"
#include "backends/conformance_case.hpp"

// Named draws and comparisons.
KILN_CONFORMANCE_CASE(SelectParents, exact)

namespace kiln::test::select_parents_test {
namespace {

struct Mating {
  std::int64_t groups = 1, group_size = 1, rows = 2;
  PointColumns columns;
  std::vector<std::int32_t> rank;  ///< [columns], or empty
  std::vector<double> score;
  std::int64_t near = 0;
  std::vector<std::int32_t> neighbors;  ///< [near][group_size]
  double neighbor_share = 0.9;
  std::int64_t migrate_every = 0, migrants = 0;
  bool wants_immigrants = true;
  HostNames names;
  RunControl control = {};

  std::int64_t slots() const { return groups * group_size; }
};

struct Parents {
  std::vector<std::int32_t> parents, immigrants;
  friend bool operator==(const Parents&, const Parents&) = default;
};

Parents choose(Queue& queue, const Mating& in) {
  const std::int64_t slots = in.slots();
  const DeviceArray<std::int32_t> rank(queue, in.rank), neighbors(queue, in.neighbors);
  const DeviceArray<double> score(queue, in.score);
  DeviceArray<std::int32_t> parents(queue, std::vector<std::int32_t>(idx(in.rows * slots), -7));
  DeviceArray<std::int32_t> immigrants(
      queue, std::vector<std::int32_t>(in.wants_immigrants ? idx(slots) : 0, -7));
  const DeviceNames names(queue, in.names);
  const auto control = upload_control(queue, in.control);
  SelectParents kernel;
  kernel.replicas = slots;
  kernel.group_size = in.group_size;
  kernel.columns = in.columns;
  kernel.rank = rank.view();
  kernel.score = score.view();
  if (in.near > 0) kernel.neighbors = {neighbors.data(), in.near, in.group_size, in.group_size};
  kernel.neighbor_share = in.neighbor_share;
  kernel.parents = {parents.data(), in.rows, slots, slots};
  kernel.immigrants = immigrants.view();
  kernel.migrate_every = in.migrate_every;
  kernel.migrants = in.migrants;
  kernel.draw_ids = names.view();
  kernel.control = control.data();
  kernel.step_offset = 2;
  queue.launch(kernel);
  return {parents.download(), immigrants.download()};
}

/// Members among children of the same number, with ranks and scores that tie.
Mating make_mating(std::int64_t groups, std::int64_t group_size, std::uint64_t seed) {
  TestRandom random(seed);
  Mating in;
  in.groups = groups;
  in.group_size = group_size;
  in.columns = {group_size, 2 * group_size, 0};
  in.names = make_names(in.slots(), groups, seed);
  in.control.step = 40;
  for (std::int64_t c = 0; c < 2 * in.slots(); ++c) {
    in.rank.push_back(static_cast<std::int32_t>(random.between(0, 3)));
    in.score.push_back(static_cast<double>(random.between(0, 2)));
  }
  return in;
}
void add_neighbors(Mating& in, std::int64_t near) {
  in.near = near;
  for (std::int64_t t = 0; t < near; ++t) {
    for (std::int64_t i = 0; i < in.group_size; ++i) {
      in.neighbors.push_back(static_cast<std::int32_t>((i + t) % in.group_size));
    }
  }
}

/// The better one of two slots, the first one if neither is.
std::int64_t better(const Mating& in, std::int64_t a, std::int64_t b) {
  if (in.rank.empty()) return a;
  const auto column = [&](std::int64_t slot) {
    return idx(slot / in.group_size * 2 * in.group_size + slot % in.group_size);
  };
  if (in.rank[column(b)] != in.rank[column(a)]) {
    return in.rank[column(b)] < in.rank[column(a)] ? b : a;
  }
  return in.score[column(b)] > in.score[column(a)] ? b : a;
}

/// Draws of a slot by their names.
class Draws {
 public:
  Draws(const Mating& in, std::int64_t slot, bool of_pair, std::uint8_t block) : in_(in) {
    const std::uint32_t replica = in.names.replica[idx(slot)];
    name_ = {in.names.key[idx(slot)], in.control.step + 2, of_pair ? replica / 2 * 2 : replica,
             RngDomain::mate, block};
  }
  double share(std::uint32_t index) const { return draw_word(name_, index) * 0x1p-32; }
  std::int64_t whole(std::uint32_t index, std::int64_t n) const {
    return static_cast<std::int64_t>(std::floor(share(index) * static_cast<double>(n)));
  }
  /// A slot of the group that begins at `first`; of the neighbours of member `centre` if near.
  std::int64_t member(std::uint32_t index, std::int64_t first, std::int64_t centre,
                      bool near) const {
    if (!near) return first + whole(index, in_.group_size);
    return first + in_.neighbors[idx(whole(index, in_.near) * in_.group_size + centre)];
  }

 private:
  const Mating& in_;
  DrawName name_;
};

std::pair<std::int64_t, std::int64_t> pair_by_names(const Mating& in, std::int64_t slot) {
  const Draws draws(in, slot, true, 0);
  const std::int64_t first = slot / in.group_size * in.group_size;
  const std::int64_t centre = (slot - first) / 2 * 2;
  const bool near = in.near > 0 && draws.share(4) < in.neighbor_share;
  std::int64_t m[4];
  for (std::uint32_t i = 0; i < 4; ++i) m[i] = draws.member(i, first, centre, near);
  const std::int64_t a = better(in, m[0], m[1]), b = better(in, m[2], m[3]);
  if (b != a) return {a, b};
  if (m[2] != a) return {a, m[2]};
  if (m[3] != a) return {a, m[3]};
  return {a, a + 1 < first + in.group_size ? a + 1 : first};
}

class SelectParentsKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(SelectParentsKernel);

TEST_P(SelectParentsKernel, HoldsTournamentsByNamedDraws) {
  for (const std::int64_t near : {0, 2, 5}) {
    for (const auto& [groups, size] : {std::pair{1, 1}, {1, 2}, {7, 5}, {3, 100}}) {
      Mating in = make_mating(groups, size, idx(size));
      if (near > 0) add_neighbors(in, std::min<std::int64_t>(near, size));
      in.neighbor_share = 0.6;
      const Parents out = choose(queue(), in);
      for (std::int64_t slot = 0; slot < in.slots(); ++slot) {
        const auto [a, b] = pair_by_names(in, slot);
        ASSERT_EQ(out.parents[idx(slot)], a) << slot << " of groups of " << size;
        ASSERT_EQ(out.parents[idx(in.slots() + slot)], b) << slot << " of groups of " << size;
      }
      EXPECT_EQ(out.immigrants, std::vector<std::int32_t>(idx(in.slots()), -1));
    }
  }
}

TEST_P(SelectParentsKernel, GivesPairsTwoDifferentParentsOfTheirGroup) {
  for (const std::int64_t size : {2, 3, 10}) {
    Mating in = make_mating(500, size, 4);
    const Parents out = choose(queue(), in);
    for (std::int64_t slot = 0; slot < in.slots(); ++slot) {
      const std::int32_t a = out.parents[idx(slot)], b = out.parents[idx(in.slots() + slot)];
      ASSERT_NE(a, b);
      ASSERT_EQ(a / size, slot / size);
      ASSERT_EQ(b / size, slot / size);
      if (slot % size % 2 == 1) {
        ASSERT_EQ(a, out.parents[idx(slot - 1)]) << "both children have the same parents";
        ASSERT_EQ(b, out.parents[idx(in.slots() + slot - 1)]);
      }
    }
  }
}

// In a tournament of two members out of n, the i-th best wins with probability (2 (n - i) - 1) /
// n^2, i from 0. Without ranks all are chosen alike.
TEST_P(SelectParentsKernel, LetsBetterMembersWinMoreOften) {
  constexpr std::int64_t n = 5, groups = 8000;
  Mating in = make_mating(groups, n, 3);
  for (std::size_t c = 0; c < in.rank.size(); ++c) {
    // In order 3, 1, 4, 0, 2: by rank first, then by score from above.
    const std::int32_t rank[] = {2, 0, 2, 0, 1};
    const double score[] = {1, 2, 0, 3, 0};
    in.rank[c] = rank[c % n];
    in.score[c] = score[c % n];
  }
  const std::int64_t order[] = {3, 1, 4, 0, 2};
  const auto wins = [&](const Mating& mating) {
    std::vector<double> count(n);
    const Parents out = choose(queue(), mating);
    for (std::int64_t slot = 0; slot < mating.slots(); ++slot) {
      // One draw of each pair; the fifth slot of a group has its own.
      if (slot % n % 2 == 0) count[idx(out.parents[idx(slot)] % n)] += 1.0 / (3 * groups);
    }
    return count;
  };
  const std::vector<double> won = wins(in);
  for (std::int64_t i = 0; i < n; ++i) {
    const double p = static_cast<double>(2 * (n - i) - 1) / (n * n);
    EXPECT_NEAR(won[idx(order[i])], p, 5 * std::sqrt(p * (1 - p) / (3 * groups))) << i;
  }
  in.rank.clear();
  for (const double count : wins(in)) {
    EXPECT_NEAR(count, 0.2, 5 * std::sqrt(0.16 / (3 * groups)));
  }
}

TEST_P(SelectParentsKernel, MatesInNeighbourhoods) {
  Mating in = make_mating(50, 100, 6);
  in.rank.clear();
  add_neighbors(in, 8);
  const auto far_pairs = [&](double share) {
    in.neighbor_share = share;
    const Parents out = choose(queue(), in);
    std::int64_t far = 0;
    for (std::int64_t slot = 0; slot < in.slots(); slot += 2) {
      bool near = true;
      for (const std::int64_t row : {0, 1}) {
        const std::int64_t parent = out.parents[idx(row * in.slots() + slot)];
        near &= (parent - slot + 100) % 100 <= (row == 0 ? 7 : 8);  // where all draws fell together
      }
      far += near ? 0 : 1;
    }
    return static_cast<double>(far) / 2500;
  };
  EXPECT_EQ(far_pairs(1), 0);
  const double all = far_pairs(0);
  EXPECT_GT(all, 0.98);
  EXPECT_NEAR(far_pairs(0.7), 0.3 * all, 5 * std::sqrt(0.21 / 2500));
}

TEST_P(SelectParentsKernel, ChoosesOthersForDifferentialEvolution) {
  for (const std::int64_t near : {0, 3}) {
    for (const std::int64_t size : {4, 5, 30}) {
      Mating in = make_mating(300, size, 8);
      in.rows = 4;
      in.neighbor_share = 1;
      if (near > 0) add_neighbors(in, near);
      const Parents out = choose(queue(), in);
      std::vector<int> chosen(idx(size));
      for (std::int64_t slot = 0; slot < in.slots(); ++slot) {
        std::set<std::int32_t> all;
        for (std::int64_t row = 0; row < 4; ++row) {
          const std::int32_t parent = out.parents[idx(row * in.slots() + slot)];
          ASSERT_EQ(parent / size, slot / size);
          all.insert(parent);
          if (row == 1) ++chosen[idx((parent - slot + size) % size)];
        }
        ASSERT_EQ(all.size(), 4u);
        ASSERT_EQ(out.parents[idx(slot)], slot);
        const Draws draws(in, slot, false, 1);
        const std::int64_t first = slot / size * size;
        const std::int64_t drawn = draws.member(0, first, slot - first, near > 0);
        const std::int64_t next = slot + 1 < first + size ? slot + 1 : first;
        ASSERT_EQ(out.parents[idx(in.slots() + slot)], drawn == slot ? next : drawn);
      }
      EXPECT_EQ(chosen[0], 0);
      EXPECT_EQ(*std::min_element(chosen.begin() + 1, chosen.end()) > 0, near == 0)
          << "of three neighbours, itself the first, only two come first";
    }
  }
  Mating alone = make_mating(2, 1, 1);
  alone.rows = 4;
  EXPECT_EQ(choose(queue(), alone).parents, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST_P(SelectParentsKernel, BringsImmigrantsFromTheGroupBefore) {
  Mating in = make_mating(6, 10, 9);
  in.migrate_every = 5;
  in.migrants = 3;
  for (const std::uint64_t step : {40, 41, 42, 43, 47, 52}) {
    in.control.step = step;
    const std::vector<std::int32_t> immigrants = choose(queue(), in).immigrants;
    const bool now = (step + 2 + 1) % 5 == 0;  // at the end of this step so many are done
    for (std::int64_t slot = 0; slot < 60; ++slot) {
      if (!now || slot % 10 >= 3) {
        ASSERT_EQ(immigrants[idx(slot)], -1) << step;
        continue;
      }
      const std::int64_t before = (slot / 10 + 5) % 6 * 10;
      const Draws draws(in, slot, false, 2);
      ASSERT_EQ(immigrants[idx(slot)],
                better(in, draws.member(0, before, 0, false), draws.member(1, before, 0, false)));
    }
  }
  in.control.step = 42;
  EXPECT_GE(choose(queue(), in).immigrants[0], 50);
  Mating none = in;
  none.migrate_every = 0;
  EXPECT_EQ(choose(queue(), none).immigrants, std::vector<std::int32_t>(60, -1));
  Mating one = make_mating(1, 10, 9);
  one.migrate_every = 1;
  one.migrants = 3;
  EXPECT_EQ(choose(queue(), one).immigrants, std::vector<std::int32_t>(10, -1));
}

TEST_P(SelectParentsKernel, MatchesCpuAtEveryStep) {
  Mating in = make_mating(64, 200, 5);
  add_neighbors(in, 20);
  in.migrate_every = 2;
  in.migrants = 10;
  for (const std::int64_t rows : {2, 4}) {
    in.rows = rows;
    const Parents first = choose(queue(), in);
    EXPECT_EQ(first, choose(cpu_queue(), in));
    ++in.control.step;
    const Parents later = choose(queue(), in);
    EXPECT_EQ(later, choose(cpu_queue(), in));
    EXPECT_NE(first.parents, later.parents);
    in.wants_immigrants = false;
    EXPECT_EQ(choose(queue(), in).parents, later.parents);
    in.wants_immigrants = true;
  }
}

TEST_P(SelectParentsKernel, DoesNothingOnceStopped) {
  Mating in = make_mating(2, 10, 1);
  in.control.stop = DeviceStop::target;
  const Parents out = choose(queue(), in);
  EXPECT_EQ(out.parents, std::vector<std::int32_t>(40, -7));
  EXPECT_EQ(out.immigrants, std::vector<std::int32_t>(20, -7));
}

}  // namespace
}  // namespace kiln::test::select_parents_test
