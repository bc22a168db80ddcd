// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/bifurcation/bifurcation_readout.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "backends/backends.hpp"
#include "backends/conformance_case.hpp"

// Signs.
KILN_CONFORMANCE_CASE(BifurcationReadout, exact)

namespace kiln::test::bifurcation_readout_test {
namespace {

class BifurcationReadoutKernel : public DeviceTest {};
KILN_ON_EVERY_BACKEND(BifurcationReadoutKernel);

constexpr std::int64_t slots = 96, words = 3, variables = 70;
constexpr std::uint32_t before = 0xABCD1234u;

struct Case {
  std::vector<std::int32_t> variable;  // of sites, in another order, with fillers
  std::vector<float> position;
};

Case make_case() {
  Case made;
  TestRandom random(5);
  for (std::int32_t v = variables - 1; v >= 0; --v) {
    made.variable.push_back(v);
    if (v % 9 == 0) made.variable.push_back(-1);
  }
  for (std::size_t i = 0; i < made.variable.size() * slots; ++i) {
    made.position.push_back(static_cast<float>(2 * random.unit() - 1));
  }
  made.position[0] = 0.0F;
  made.position[1] = -0.0F;  // not negative
  made.position[2] = -1e-45F;
  return made;
}

BifurcationReadout readout_of(const DeviceArray<std::int32_t>& variable,
                              DeviceArray<float>& position, DeviceArray<std::uint32_t>& state) {
  BifurcationReadout kernel;
  kernel.variable = variable.view();
  kernel.position = {position.data(), variable.size(), slots, slots};
  kernel.state = {state.data(), variables, words, words};
  return kernel;
}

std::vector<std::uint32_t> run(Queue& queue, const Case& c, RunControl control = {}) {
  const DeviceArray<std::int32_t> variable(queue, c.variable);
  DeviceArray<float> position(queue, c.position);
  DeviceArray<std::uint32_t> state(queue, std::vector<std::uint32_t>(variables * words, before));
  const DeviceArray<RunControl> device_control = upload_control(queue, control);
  BifurcationReadout kernel = readout_of(variable, position, state);
  kernel.control = device_control.data();
  queue.launch(kernel);
  return state.download();
}

TEST_P(BifurcationReadoutKernel, WritesTheBitOfEachNegativePosition) {
  const Case c = make_case();
  const std::vector<std::uint32_t> state = run(queue(), c);
  for (std::size_t site = 0; site < c.variable.size(); ++site) {
    if (c.variable[site] < 0) continue;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      const std::uint32_t word = state[idx(c.variable[site] * words + slot / 32)];
      const bool negative = c.position[site * slots + idx(slot)] < 0;
      ASSERT_EQ((word >> (slot % 32) & 1u) != 0, negative) << site << " " << slot;
    }
  }
  EXPECT_EQ(state[idx((variables - 1) * words)] & 7u, 4u) << "0, -0 and the least negative number";
}

TEST_P(BifurcationReadoutKernel, WritesNothingOnceTheRunHasStopped) {
  RunControl stopped;
  stopped.stop = DeviceStop::step_limit;
  EXPECT_EQ(run(queue(), make_case(), stopped),
            std::vector<std::uint32_t>(variables * words, before));
}

// Rounds of 100, 200, 200, ... steps, in ticks of 10.
TEST_P(BifurcationReadoutKernel, ReadsLateInARoundAndAfterEachFifthTick) {
  const Case c = make_case();
  const DeviceArray<std::int32_t> variable(queue(), c.variable);
  DeviceArray<float> position(queue(), c.position);
  const auto reads_from = [&](std::uint64_t step) {
    RunControl control;
    control.step = step;
    const DeviceArray<RunControl> on_device = upload_control(queue(), control);
    DeviceArray<std::uint32_t> state(queue(),
                                     std::vector<std::uint32_t>(variables * words, before));
    DeviceArray<std::uint32_t> flags(queue(), std::vector<std::uint32_t>(3, 77));
    BifurcationReadout kernel = readout_of(variable, position, state);
    kernel.control = on_device.data();
    kernel.rounds = {100, 200};
    kernel.steps = 10;
    kernel.is_read = flags.view();
    queue().launch(kernel);
    const std::vector<std::uint32_t> read = flags.download();
    EXPECT_EQ(read, std::vector<std::uint32_t>(3, read.front()));
    EXPECT_EQ(state.download() != std::vector<std::uint32_t>(variables * words, before),
              read.front() == 1);
    return read.front() == 1;
  };
  for (const auto& [step, reads] : {std::pair{0, true},
                                    {30, false},
                                    {40, true},
                                    {50, true},
                                    {90, true},
                                    {100, false},
                                    {140, true},
                                    {150, false},
                                    {190, true},
                                    {200, true},
                                    {290, true},
                                    {300, false}}) {
    EXPECT_EQ(reads_from(static_cast<std::uint64_t>(step)), reads) << step;
  }
}

}  // namespace
}  // namespace kiln::test::bifurcation_readout_test
