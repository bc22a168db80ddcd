// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "chi_square.hpp"
#include "cross_entropy_kernels.hpp"

namespace kiln::test::cross_entropy_kernels::draw_test {
namespace {

using ce::DrawStates;

struct Draw {
  BlockShape shape;
  std::int64_t populations = 1;
  std::int64_t first_variable = 0, variables = 0;  // of the space, which may be larger
  std::vector<double> probability;
  std::uint8_t block_number = 0;
  std::uint64_t seed = 3;
};

std::vector<double> draw(Queue& queue, const Draw& what, const RunControl& at) {
  const std::vector<double> before(idx(what.shape.variables * what.shape.slots),
                                   what.shape.kind == BlockKind::spin ? 1.0 : 0.0);
  DeviceBlock block(queue, what.shape, before);
  DeviceArray<double> probability(queue, what.probability);
  const DeviceNames names(queue, make_names(what.shape.slots, what.populations, what.seed));
  const DeviceArray<RunControl> control = upload_control(queue, at);
  DrawStates kernel;
  kernel.block = block.view();
  kernel.block_number = what.block_number;
  kernel.first_variable = what.first_variable;
  kernel.probability = {probability.data(), what.populations, what.variables, what.variables};
  kernel.population_words = what.shape.slots / 32 / what.populations;
  kernel.draw_ids = names.view();
  kernel.control = control.data();
  launch(kernel, queue);
  return block.values();
}

class CrossEntropyDrawStates : public DeviceTest {};
KILN_ON_EVERY_BACKEND(CrossEntropyDrawStates);

// Each value by its own word, named one at a time.
TEST_P(CrossEntropyDrawStates, TakesTheWordOfEachVariable) {
  constexpr std::uint64_t step = 0x1'0000'0007;
  for (const BlockShape& shape : shapes()) {
    for (const std::int64_t populations : {1, 3}) {
      Draw what{shape, populations, 2, shape.variables + 3, {}, 4};
      TestRandom random(idx(shape.variables));
      for (std::int64_t i = 0; i < populations * what.variables; ++i) {
        what.probability.push_back(0.001 + 0.998 * random.unit());
      }
      const std::vector<double> values = draw(queue(), what, at_step(step));
      const HostNames names = make_names(shape.slots, populations, what.seed);
      const bool is_spin = shape.kind == BlockKind::spin;
      for (std::int64_t v = 0; v < shape.variables; ++v) {
        for (std::int64_t slot = 0; slot < shape.slots; ++slot) {
          const std::int64_t population = slot / (shape.slots / populations);
          const double p = what.probability[idx(population * what.variables + 2 + v)];
          const DrawName name{names.key[idx(slot)], step, names.replica[idx(slot)], RngDomain::user,
                              4};
          const bool bit =
              draw_word(name, static_cast<std::uint32_t>(v)) < std::floor(std::ldexp(p, 32));
          ASSERT_EQ(values[idx(v * shape.slots + slot)], is_spin ? (bit ? -1 : 1) : (bit ? 1 : 0))
              << "variable " << v << ", slot " << slot;
        }
      }
    }
  }
}

/// How often each of the 16 states of four bits was drawn.
std::vector<std::int64_t> counts_of(const std::vector<double>& values, std::int64_t slots) {
  std::vector<std::int64_t> counts(16, 0);
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    std::size_t state = 0;
    for (std::int64_t v = 0; v < 4; ++v) {
      state |= values[idx(v * slots + slot)] == 1 ? std::size_t{1} << v : 0;
    }
    ++counts[state];
  }
  return counts;
}

std::vector<double> product_law(const std::vector<double>& p) {
  std::vector<double> law(16, 1);
  for (std::size_t state = 0; state < law.size(); ++state) {
    for (std::size_t v = 0; v < 4; ++v) law[state] *= (state >> v & 1u) != 0 ? p[v] : 1 - p[v];
  }
  return law;
}

// All states of four bits against the product of their probabilities. The same test rejects
// probabilities of which one is off by 0.01, and those of the opposite value.
TEST_P(CrossEntropyDrawStates, HasTheLawOfIndependentBits) {
  const std::int64_t slots = 1 << 17;
  const std::vector<double> p{0.1, 0.35, 0.5, 0.93};
  const Draw what{{BlockKind::binary, Layout::packed32, 4, slots, 0, 1}, 1, 0, 4, p};
  const std::vector<std::int64_t> counts = counts_of(draw(queue(), what, at_step(12)), slots);
  EXPECT_GT(chi_square_test(counts, product_law(p)).p, 1e-3);
  EXPECT_LT(chi_square_test(counts, product_law({0.1, 0.36, 0.5, 0.93})).p, 1e-6);
  EXPECT_LT(chi_square_test(counts, product_law({0.9, 0.65, 0.5, 0.07})).p, 1e-6);
}

// Two variables of neighbouring replicas, and of consecutive rounds: independent, too.
TEST_P(CrossEntropyDrawStates, DrawsReplicasAndRoundsIndependently) {
  const std::int64_t slots = 1 << 17;
  const std::vector<double> p{0.3, 0.6};
  const Draw what{{BlockKind::binary, Layout::packed32, 2, slots, 0, 1}, 1, 0, 2, p};
  const std::vector<double> now = draw(queue(), what, at_step(1)),
                            next = draw(queue(), what, at_step(2));
  std::vector<double> neighbours(idx(2 * slots)), rounds(idx(4 * slots));
  for (std::int64_t v = 0; v < 2; ++v) {
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      const double value = now[idx(v * slots + slot)];
      neighbours[idx((v + 2 * (slot % 2)) * (slots / 2) + slot / 2)] = value;
      rounds[idx(v * slots + slot)] = value;
      rounds[idx((v + 2) * slots + slot)] = next[idx(v * slots + slot)];
    }
  }
  const std::vector<double> law = product_law({0.3, 0.6, 0.3, 0.6});
  EXPECT_GT(chi_square_test(counts_of(neighbours, slots / 2), law).p, 1e-3);
  EXPECT_GT(chi_square_test(counts_of(rounds, slots), law).p, 1e-3);
}

TEST_P(CrossEntropyDrawStates, DoesNothingInARunThatHasStopped) {
  const Draw what{{BlockKind::spin, Layout::packed32, 4, 32, -1, 1}, 1, 0, 4, {.9, .9, .9, .9}};
  EXPECT_EQ(draw(queue(), what, stopped()), std::vector<double>(4 * 32, 1.0));
}

}  // namespace
}  // namespace kiln::test::cross_entropy_kernels::draw_test
