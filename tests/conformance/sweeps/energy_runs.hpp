// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/device/run_control.hpp"
#include "kiln/queue.hpp"

#include "backends/backends.hpp"
#include "models/models.hpp"

// What tests of kernels that evaluate states have in common. The inputs of a kernel have a member
// `asked`; `run` gives the energies of such inputs.
namespace kiln::test::energies {

/// What energies hold before a kernel writes them.
inline constexpr double before = -99;

/// Which states are evaluated.
struct Request {
  std::int64_t slots = 32;
  std::vector<std::int32_t> rung = {};           ///< [slots]
  std::vector<std::uint32_t> active_rungs = {};  ///< [rungs], empty: all
  bool has_control = false;
  RunControl control = {};
};

/// All slots, on `rungs` rungs by turns.
inline Request all_of(std::int64_t slots, std::int32_t rungs = 5) {
  Request request{slots};
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    request.rung.push_back(static_cast<std::int32_t>(slot % rungs));
  }
  return request;
}

/// Every other one of the first 32 of 64 slots.
inline Request some_of_64() {
  Request request = all_of(64, 4);
  std::fill(request.rung.begin() + 32, request.rung.end(), 4);
  request.active_rungs = {0, 1, 0, 7, 0};
  return request;
}

/// A request on a device.
class DeviceRequest {
 public:
  DeviceRequest(Queue& queue, const Request& request)
      : rung_(queue, request.rung),
        only_(queue, request.active_rungs),
        control_(upload_control(queue, request.control)),
        has_control_(request.has_control) {}
  View1<const std::int32_t> rung() const { return rung_.view(); }
  View1<const std::uint32_t> active_rungs() const { return only_.view(); }
  const RunControl* control() const { return has_control_ ? control_.data() : nullptr; }

 private:
  DeviceArray<std::int32_t> rung_;
  DeviceArray<std::uint32_t> only_;
  DeviceArray<RunControl> control_;
  bool has_control_;
};

/// Room for the energies of a request, filled with `before`.
inline DeviceArray<double> untouched(Queue& queue, const Request& request) {
  return DeviceArray<double>(queue, std::vector<double>(idx(request.slots), before));
}

/// Numbers in [-1, 1).
inline WeightSource reals(std::uint64_t seed) {
  return [random = std::make_shared<TestRandom>(seed)] { return 2 * random->unit() - 1; };
}

/// Half the sum of `term` over the sites of a plain model, in blocks of 64 sites.
template <class Model, class Term>
double half_sum_in_blocks(const Model& model, Term term) {
  double total = 0;
  for (std::size_t begin = 0; begin < model.sites.size(); begin += 64) {
    double part = 0;
    for (std::size_t i = begin; i < std::min(begin + 64, model.sites.size()); ++i) {
      if (model.sites[i].variable >= 0) part += term(model.sites[i]);
    }
    total += part;
  }
  return total / 2;
}

/// @param all  the energies of all slots
template <class Inputs, class Run>
void expect_only_what_is_asked_for(const Inputs& inputs, const std::vector<double>& all, Run run) {
  const std::vector<double> got = run(inputs);
  ASSERT_EQ(got.size(), all.size());
  std::size_t asked = 0;
  for (std::size_t slot = 0; slot < all.size(); ++slot) {
    const bool is_asked = inputs.asked.active_rungs[idx(inputs.asked.rung[slot])] != 0;
    EXPECT_EQ(got[slot], is_asked ? all[slot] : before) << slot;
    asked += is_asked ? 1 : 0;
  }
  EXPECT_GT(asked, 0U);
  EXPECT_LT(asked, all.size());
}

/// @param all  the energies of all slots
template <class Inputs, class Run>
void expect_nothing_once_stopped(Inputs inputs, const std::vector<double>& all, Run run) {
  inputs.asked.has_control = true;
  EXPECT_EQ(run(inputs), all);
  inputs.asked.control.stop = DeviceStop::target;
  EXPECT_EQ(run(inputs), std::vector<double>(all.size(), before));
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& expected,
                        double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t slot = 0; slot < got.size(); ++slot) {
    EXPECT_NEAR(got[slot], expected[slot], tolerance) << slot;
  }
}

}  // namespace kiln::test::energies
