// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/information/surrogates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"
#include "chi_square.hpp"

// Words of a counter-based generator, and their order.
KILN_CONFORMANCE_CASE(Surrogates, exact)

namespace kiln::test::surrogates_test {
namespace {

constexpr double false_alarm = 1e-4;  // of each test of a distribution

using Places = std::vector<std::int32_t>;

struct Wanted {
  std::int64_t surrogates = 1, n = 1;
  SurrogateKind kind = SurrogateKind::permutation;
  std::uint64_t seed = 1;
  std::int64_t first = 0, closest = 1;
  std::int64_t at_once = 1;  // surrogates that there is room for
};

// [surrogate][place]
std::vector<Places> draw(Queue& queue, const Wanted& in) {
  DeviceArray<std::int32_t> places(queue, Places(idx(in.surrogates * in.n), -1));
  DeviceArray<std::uint8_t> room(queue, SortedOrders::room_bytes(in.at_once * in.n));
  Surrogates kernel;
  kernel.places = {places.data(), in.surrogates, in.n, in.n};
  kernel.seed = in.seed;
  kernel.first = in.first;
  kernel.closest = in.closest;
  kernel.kind = in.kind;
  kernel.room = room.view();
  queue.launch(kernel);
  const Places all = places.download();
  std::vector<Places> each;
  for (std::int64_t s = 0; s < in.surrogates; ++s) {
    each.emplace_back(all.begin() + s * in.n, all.begin() + (s + 1) * in.n);
  }
  return each;
}

Places numbers(std::int64_t n) {
  Places all(idx(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

double uniform_p(const std::vector<std::int64_t>& counts) {
  const double each = 1 / static_cast<double>(counts.size());
  return chi_square_test(counts, std::vector<double>(counts.size(), each)).p;
}

// The least p-value of many tests, as that of one.
double minimum_of(std::vector<double> p) {
  return std::ranges::min(p) * static_cast<double>(p.size());
}

// How often each place takes each value.
double value_p(const std::vector<Places>& surrogates) {
  const std::size_t n = surrogates.front().size();
  std::vector<double> p;
  for (std::size_t place = 0; place < n; ++place) {
    std::vector<std::int64_t> counts(n);
    for (const Places& one : surrogates) ++counts[idx(one[place])];
    p.push_back(uniform_p(counts));
  }
  return minimum_of(p);
}

// How often two places take each pair of different values.
double pair_p(const std::vector<Places>& surrogates, std::size_t a, std::size_t b) {
  const std::size_t n = surrogates.front().size();
  std::vector<std::int64_t> counts(n * (n - 1));
  for (const Places& one : surrogates) {
    const std::size_t first = idx(one[a]), second = idx(one[b]);
    ++counts[first * (n - 1) + (second > first ? second - 1 : second)];
  }
  return uniform_p(counts);
}

double order_p(const std::vector<Places>& surrogates) {
  std::map<Places, std::int64_t> seen;
  Places order = numbers(std::ssize(surrogates.front()));
  do {
    seen[order] = 0;
  } while (std::ranges::next_permutation(order).found);
  for (const Places& one : surrogates) ++seen.at(one);
  std::vector<std::int64_t> counts;
  for (const auto& [permutation, count] : seen) counts.push_back(count);
  return uniform_p(counts);
}

class SurrogatesKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(SurrogatesKernel);

TEST_P(SurrogatesKernel, TakesEveryValueOnce) {
  for (const SurrogateKind kind : {SurrogateKind::permutation, SurrogateKind::rotation}) {
    for (const std::int64_t n : {2, 3, 31, 32, 33, 255, 257, 1000, 4097}) {
      std::set<Places> different;
      for (Places one : draw(queue(), {.surrogates = 5, .n = n, .kind = kind})) {
        different.insert(one);
        std::ranges::sort(one);
        EXPECT_EQ(one, numbers(n)) << n;
      }
      if (n > 1000) {
        EXPECT_EQ(different.size(), 5u) << n;
      }
    }
  }
  EXPECT_EQ(draw(queue(), {.surrogates = 2}), (std::vector<Places>{{0}, {0}}));
}

TEST_P(SurrogatesKernel, PermutesUniformly) {
  EXPECT_GT(order_p(draw(queue(), {.surrogates = 60000, .n = 3})), false_alarm);
  EXPECT_GT(order_p(draw(queue(), {.surrogates = 60000, .n = 4, .first = 12345})), false_alarm);
  const auto many = draw(queue(), {.surrogates = 20000, .n = 50, .at_once = 20000});
  EXPECT_GT(value_p(many), false_alarm);
  for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{0, 1},
                             {1, 0},
                             {2, 3},
                             {1, 2},
                             {0, 2},
                             {0, 49},
                             {24, 25},
                             {48, 49}}) {
    EXPECT_GT(pair_p(many, a, b), false_alarm) << a << ", " << b;
  }
}

// Of two surrogates that follow each other, or that other seeds draw, one says nothing of the
// other: how often both take the same value in a place.
TEST_P(SurrogatesKernel, DrawsSurrogatesIndependently) {
  const Wanted wanted{.surrogates = 20000, .n = 10, .at_once = 20000};
  Wanted other_seed = wanted;
  other_seed.seed = 2;
  const std::vector<Places> one = draw(queue(), wanted), other = draw(queue(), other_seed);
  std::vector<std::int64_t> next(100), seeds(100);
  for (std::size_t s = 0; s + 1 < one.size(); ++s) {
    ++next[idx(one[s][0]) * 10 + idx(one[s + 1][0])];
    ++seeds[idx(one[s][0]) * 10 + idx(other[s][0])];
  }
  EXPECT_GT(uniform_p(next), false_alarm);
  EXPECT_GT(uniform_p(seeds), false_alarm);
}

// The tests above find the mistakes that shuffles are known for.
TEST(SurrogateTests, FindBadShuffles) {
  TestRandom random(3);
  std::vector<Places> with_any_place, never_at_home, of_few_bits;
  for (int s = 0; s < 20000; ++s) {
    Places any = numbers(50), cycle = numbers(50), few = numbers(50);
    for (std::int64_t i = 0; i < 50; ++i) std::swap(any[idx(i)], any[idx(random.between(0, 49))]);
    for (std::int64_t i = 49; i > 0; --i) {
      std::swap(cycle[idx(i)], cycle[idx(random.between(0, i - 1))]);
    }
    std::vector<std::int64_t> keys;  // of 6 bits: ties leave places as they were
    for (std::int64_t i = 0; i < 50; ++i) keys.push_back(random.between(0, 63));
    std::ranges::stable_sort(few, {}, [&](std::int32_t i) { return keys[idx(i)]; });
    with_any_place.push_back(any);
    never_at_home.push_back(cycle);
    of_few_bits.push_back(few);
  }
  EXPECT_LT(value_p(with_any_place), 1e-6);
  EXPECT_LT(value_p(never_at_home), 1e-6);
  EXPECT_LT(pair_p(of_few_bits, 24, 25), 1e-6);
}

TEST_P(SurrogatesKernel, RotatesByAllShiftsWithinItsLimits) {
  for (const std::int64_t n : {7, 8, 60}) {
    for (const std::int64_t closest : {std::int64_t{1}, std::int64_t{3}, n / 2}) {
      const Wanted wanted{.surrogates = 20000,
                          .n = n,
                          .kind = SurrogateKind::rotation,
                          .seed = 4,
                          .first = 7,
                          .closest = closest};
      std::vector<std::int64_t> counts(idx(n - 2 * closest + 1));
      for (const Places& one : draw(queue(), wanted)) {
        const std::int64_t shift = one[0];
        for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(one[idx(i)], (i + shift) % n);
        ASSERT_GE(shift, closest);
        ASSERT_LE(shift, n - closest);
        ++counts[idx(shift - closest)];
      }
      if (counts.size() > 1) {
        EXPECT_GT(uniform_p(counts), false_alarm) << n << ", " << closest;
      }
    }
  }
}

// With room for one, for a few that do not divide their number, and for all.
TEST_P(SurrogatesKernel, DrawsTheSameInParts) {
  for (const SurrogateKind kind : {SurrogateKind::permutation, SurrogateKind::rotation}) {
    const std::int64_t beyond = std::int64_t{1} << 35;  // numbers of more than 32 bits
    Wanted wanted{.surrogates = 37, .n = 4097, .kind = kind, .seed = 5, .first = beyond + 3};
    wanted.at_once = 37;
    const std::vector<Places> all = draw(queue(), wanted);
    for (const std::int64_t at_once : {1, 5}) {
      wanted.at_once = at_once;
      EXPECT_TRUE(draw(queue(), wanted) == all) << at_once;
    }
    Wanted part = wanted;
    for (std::int64_t done = 0; done < 37; done += part.surrogates) {
      part.first = wanted.first + done;
      part.surrogates = std::min<std::int64_t>(10, 37 - done);
      const std::vector<Places> some = draw(queue(), part);
      EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin() + done)) << done;
    }
    wanted.first -= beyond;
    EXPECT_FALSE(draw(queue(), wanted) == all);
  }
}

TEST_P(SurrogatesKernel, MatchesCpu) {
  for (const SurrogateKind kind : {SurrogateKind::permutation, SurrogateKind::rotation}) {
    for (const std::int64_t n : {2, 33, 1000, 20001}) {
      const Wanted wanted{.surrogates = 100, .n = n, .kind = kind, .seed = 6, .at_once = 3};
      EXPECT_TRUE(draw(queue(), wanted) == draw(cpu_queue(), wanted)) << n;
    }
    const Wanted many{.surrogates = 70000, .n = 9, .kind = kind, .at_once = 70000};
    EXPECT_TRUE(draw(queue(), many) == draw(cpu_queue(), many));
  }
}

}  // namespace
}  // namespace kiln::test::surrogates_test
