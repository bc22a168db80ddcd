// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/exchange/word_swap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Bits change places.
KILN_CONFORMANCE_CASE(WordSwap, exact)

namespace kiln::test::word_swap_test {
namespace {

class WordSwapKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(WordSwapKernel);

struct Swapping {
  std::int64_t rungs = 1, blocks = 1, rows = 1, extra_stride = 0;
  std::vector<std::uint32_t> words, swapping;  // words: [row][number], with unused ones behind
  std::vector<std::int32_t> partner;
  RunControl control;

  std::int64_t numbers() const { return rungs * blocks; }
  std::int64_t stride() const { return numbers() + extra_stride; }
};

enum class Pairs { even, odd, any, matched, none };

Swapping make(std::int64_t rungs, std::int64_t blocks, std::int64_t rows, Pairs pairs) {
  TestRandom random(idx(rungs * 1000 + blocks * 10 + rows));
  Swapping s;
  s.rungs = rungs;
  s.blocks = blocks;
  s.rows = rows;
  s.extra_stride = blocks % 3;
  const auto word = [&] { return static_cast<std::uint32_t>(random.word() >> 32); };
  for (std::int64_t i = 0; i < rows * s.stride(); ++i) s.words.push_back(word());
  s.swapping.assign(idx(s.numbers()), 0);
  if (pairs == Pairs::matched) s.partner.assign(idx(s.numbers()), -1);
  for (std::int64_t first = 0; first < s.numbers() && pairs != Pairs::none; first += rungs) {
    std::vector<std::int32_t> order(idx(rungs));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); pairs == Pairs::matched && i > 1; --i) {
      std::swap(order[i - 1], order[idx(random.between(0, static_cast<std::int64_t>(i) - 1))]);
    }
    const std::uint32_t odd = pairs == Pairs::odd ? ~0u : pairs == Pairs::any ? word() : 0u;
    for (std::int64_t r = 0; r + 1 < rungs; ++r) {
      if (pairs == Pairs::matched && r % 2 != 0) continue;
      const std::int32_t a = order[idx(r)], b = order[idx(r + 1)];
      const std::int64_t lower = first + std::min(a, b);
      s.swapping[idx(lower)] = word() & (r % 2 != 0 ? odd : ~odd);
      if (pairs == Pairs::matched) s.partner[idx(lower)] = std::max(a, b);
    }
  }
  return s;
}

// Replica by replica: who exchanges with whom, then each bit where it belongs.
Swapping plain(Swapping s) {
  const auto bit = [&](std::int64_t row, std::int64_t number) -> std::uint32_t& {
    return s.words[idx(row * s.stride() + number)];
  };
  for (std::int64_t number = 0; number < s.numbers(); ++number) {
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if ((s.swapping[idx(number)] >> lane & 1u) == 0) continue;
      const std::int64_t first = number / s.rungs * s.rungs;
      const std::int64_t other = s.partner.empty() ? number + 1 : first + s.partner[idx(number)];
      for (std::int64_t row = 0; row < s.rows; ++row) {
        const bool a = (bit(row, number) >> lane & 1u) != 0,
                   b = (bit(row, other) >> lane & 1u) != 0;
        if (a == b) continue;
        bit(row, number) ^= 1u << lane;
        bit(row, other) ^= 1u << lane;
      }
    }
  }
  return s;
}

std::vector<std::uint32_t> run(Queue& queue, const Swapping& s) {
  DeviceArray<std::uint32_t> words(queue, s.words);
  const DeviceArray<std::uint32_t> swapping(queue, s.swapping);
  const DeviceArray<std::int32_t> partner(queue, s.partner);
  const DeviceArray<RunControl> control = upload_control(queue, s.control);
  WordSwap kernel;
  kernel.state = {words.data(), s.rows, s.numbers(), s.stride()};
  kernel.swapping = swapping.view();
  if (!s.partner.empty()) kernel.partner = partner.view();
  kernel.rungs = s.rungs;
  kernel.control = control.data();
  queue.launch(kernel);
  return words.download();
}

TEST_P(WordSwapKernel, ExchangesTheBitsOfTheMasks) {
  for (const std::int64_t rungs : {1, 2, 3, 7, 16, 31, 32, 33, 64, 100}) {
    for (const std::int64_t blocks : {1, 2, 5}) {
      for (const std::int64_t rows : {1, 5, 130}) {
        for (const Pairs pairs :
             {Pairs::even, Pairs::odd, Pairs::any, Pairs::matched, Pairs::none}) {
          SCOPED_TRACE(std::to_string(blocks) + " blocks of " + std::to_string(rungs) + " rungs, " +
                       std::to_string(rows) + " rows, pairs " +
                       std::to_string(static_cast<int>(pairs)));
          const Swapping s = make(rungs, blocks, rows, pairs);
          ASSERT_TRUE(run(queue(), s) == plain(s).words);
        }
      }
    }
  }
}

TEST_P(WordSwapKernel, TakesManyBlocksAndRungs) {
  for (const Pairs pairs : {Pairs::any, Pairs::matched}) {
    const Swapping many = make(32, 200, 67, pairs), long_ladder = make(1024, 3, 33, pairs);
    ASSERT_TRUE(run(queue(), many) == plain(many).words);
    ASSERT_TRUE(run(queue(), long_ladder) == plain(long_ladder).words);
  }
}

// Masks are then those of an earlier tick.
TEST_P(WordSwapKernel, DoesNothingInATickWithoutAPhase) {
  Swapping s = make(8, 2, 20, Pairs::even);
  ASSERT_FALSE(plain(s).words == s.words);
  s.control.stop = DeviceStop::target;
  EXPECT_TRUE(run(queue(), s) == s.words);
  s.control.stop = DeviceStop::none;
  s.control.step = s.control.step_limit = 5;
  EXPECT_TRUE(run(queue(), s) == s.words);
}

}  // namespace
}  // namespace kiln::test::word_swap_test
