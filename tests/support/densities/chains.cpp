// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "densities/chains.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/device/normal.hpp"

#include "backends/backends.hpp"

namespace kiln::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// What padding slots hold: no kernel may read or write them.
template <class T>
constexpr T padding = static_cast<T>(4711);

std::int64_t padded_slots(std::int64_t replicas) { return (replicas + 31) / 32 * 32; }

std::vector<double> ones_if_empty(const std::vector<double>& values, std::size_t n) {
  return values.empty() ? std::vector<double>(n, 1.0) : values;
}

}  // namespace

HostMetric diagonal_metric(std::vector<double> scale) {
  HostMetric metric;
  metric.scale = std::move(scale);
  return metric;
}

HostMetric dense_metric(std::vector<double> lower_triangle) {
  HostMetric metric;
  metric.kind = MetricKind::dense;
  metric.factor = std::move(lower_triangle);
  return metric;
}

std::vector<double> normal_positions(int dimension, std::int64_t replicas, double spread,
                                     std::uint64_t seed) {
  TestRandom random(seed);
  std::vector<double> position(idx(dimension * replicas));
  for (double& x : position) x = spread * normal_quantile(random.unit() + 0x1p-54);
  return position;
}

template <class T>
std::vector<T> DeviceChains::padded(const std::vector<T>& values) const {
  const std::int64_t rows =
      in_.replicas == 0 ? 0 : static_cast<std::int64_t>(values.size()) / in_.replicas;
  std::vector<T> all(idx(rows * slots_), padding<T>);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t r = 0; r < in_.replicas; ++r) {
      all[idx(row * slots_ + r)] = values[idx(row * in_.replicas + r)];
    }
  }
  return all;
}

template <class T>
std::vector<T> DeviceChains::filled(std::int64_t rows, T value) const {
  return padded(std::vector<T>(idx(rows * in_.replicas), value));
}

template <class T>
std::vector<T> DeviceChains::cut(const DeviceArray<T>& array, bool& intact) const {
  const std::vector<T> values = array.download();
  std::vector<T> kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<std::int64_t>(i) % slots_ < in_.replicas) {
      kept.push_back(values[i]);
    } else {
      intact = intact && values[i] == padding<T>;
    }
  }
  return kept;
}

DeviceChains::DeviceChains(Queue& queue, ChainInputs inputs)
    : queue_(queue),
      in_(std::move(inputs)),
      slots_(padded_slots(in_.replicas)),
      position_(queue, padded(in_.position)),
      gradient_(queue, filled(in_.dimension, 0.0)),
      energy_(queue, filled(1, 0.0)),
      base_(queue, filled(1, 0.0)),
      term_(queue, filled(1, 0.0)),
      base_weight_(queue, filled(1, nan)),
      term_weight_(queue, filled(1, nan)),
      beta_(queue, in_.beta),
      lambda_(queue, in_.lambda),
      box_(queue, in_.box),
      rung_of_(queue, in_.rung_of.empty() ? filled(1, 0) : padded(in_.rung_of)),
      tuning_(queue, in_.tuning),
      scale_(queue, in_.metric.kind == MetricKind::dense
                        ? std::vector<double>{}
                        : ones_if_empty(in_.metric.scale, idx(in_.dimension) * in_.tuning.size())),
      factor_(queue, in_.metric.factor),
      stretch_(queue, in_.metric.stretch),
      used_(queue, in_.metric.used),
      acceptance_(queue, filled(1, 0.0)),
      hamiltonian_(queue, filled(1, 0.0)),
      start_(queue, filled(in_.dimension, 0.0)),
      proposal_(queue, filled(in_.dimension, 0.0)),
      velocity_(queue, filled(in_.dimension, 0.0)),
      leapfrogs_(queue, filled(1, 0)),
      depth_(queue, filled(1, 0)),
      divergent_(queue, filled(1, 0)),
      accepted_(queue, filled(1, std::uint64_t{0})),
      not_finite_(queue, filled(1, std::uint64_t{0})),
      scratch_(queue, slots_ * NutsTransition::scratch_size(in_.dimension, in_.workspace)),
      control_(upload_control(queue, in_.control)),
      names_(queue, make_names(slots_, 1, in_.seed)) {}

View2<double> DeviceChains::matrix(DeviceArray<double>& array) const {
  return {array.data(), in_.dimension, slots_, slots_};
}

ChainState DeviceChains::chain_state() {
  ChainState chains;
  chains.position = matrix(position_);
  chains.gradient = matrix(gradient_);
  chains.gradient_base_weight = base_weight_.view();
  chains.gradient_term_weight = term_weight_.view();
  chains.energy = energy_.view();
  chains.base = base_.view();
  chains.term = term_.view();
  chains.beta = beta_.view();
  chains.lambda = lambda_.view();
  chains.rung_of = rung_of_.view();
  chains.draw_ids = names_.view();
  chains.replicas = in_.replicas;
  chains.lower = in_.lower;
  chains.upper = in_.upper;
  if (!in_.box.empty()) chains.box = box_.data();
  chains.bounded = in_.bounded;
  chains.control = control_.data();
  return chains;
}

TransitionStatistics DeviceChains::statistics() {
  TransitionStatistics s;
  if (!in_.statistics) return s;
  s.acceptance = acceptance_.view();
  s.hamiltonian = hamiltonian_.view();
  s.leapfrogs = leapfrogs_.view();
  s.depth = depth_.view();
  s.divergent = divergent_.view();
  s.accepted = accepted_.view();
  s.not_finite = not_finite_.view();
  s.start = matrix(start_);
  s.proposal = matrix(proposal_);
  s.velocity = matrix(velocity_);
  return s;
}

MetricView DeviceChains::metric() const {
  MetricView view;
  view.kind = in_.metric.kind;
  view.dimension = in_.dimension;
  view.rank = in_.metric.rank;
  view.scale = scale_.view();
  view.factor = factor_.view();
  view.stretch = stretch_.view();
  view.used = used_.view();
  return view;
}

template <class Kernel>
Kernel DeviceChains::kernel() {
  Kernel kernel;
  kernel.density = in_.density;
  kernel.chains = chain_state();
  if constexpr (requires { kernel.tuning; }) {
    kernel.metric = metric();
    kernel.tuning = tuning_.view();
    kernel.statistics = statistics();
  }
  kernel.layout = in_.layout;
  kernel.scratch = scratch_.view();
  return kernel;
}
template HmcTransition DeviceChains::kernel<HmcTransition>();
template NutsTransition DeviceChains::kernel<NutsTransition>();
template DensityDescent DeviceChains::kernel<DensityDescent>();

void DeviceChains::next_step() {
  ++in_.control.step;
  control_.upload({in_.control});
}

void DeviceChains::set_position(const std::vector<double>& position) {
  position_.upload(padded(position));
}

void DeviceChains::forget_gradients() { base_weight_.upload(filled(1, nan)); }

ChainOutputs DeviceChains::outputs() const {
  ChainOutputs out;
  bool& intact = out.padding_untouched;
  out.position = cut(position_, intact);
  out.gradient = cut(gradient_, intact);
  out.energy = cut(energy_, intact);
  out.base = cut(base_, intact);
  out.term = cut(term_, intact);
  out.base_weight = cut(base_weight_, intact);
  out.term_weight = cut(term_weight_, intact);
  out.acceptance = cut(acceptance_, intact);
  out.hamiltonian = cut(hamiltonian_, intact);
  out.leapfrogs = cut(leapfrogs_, intact);
  out.depth = cut(depth_, intact);
  out.divergent = cut(divergent_, intact);
  out.accepted = cut(accepted_, intact);
  out.not_finite = cut(not_finite_, intact);
  out.start = cut(start_, intact);
  out.proposal = cut(proposal_, intact);
  out.velocity = cut(velocity_, intact);
  return out;
}

void expect_near(const char* what, const std::vector<double>& a, const std::vector<double>& b,
                 double tolerance) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (bits_of({a[i]}) == bits_of({b[i]}) || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << what << " " << i;
  }
}

void expect_close(const ChainOutputs& a, const ChainOutputs& b, double tolerance) {
  EXPECT_EQ(a.accepted, b.accepted);
  EXPECT_EQ(a.leapfrogs, b.leapfrogs);
  EXPECT_EQ(a.depth, b.depth);
  EXPECT_EQ(a.divergent, b.divergent);
  EXPECT_EQ(a.not_finite, b.not_finite);
  expect_near("position", a.position, b.position, tolerance);
  expect_near("gradient", a.gradient, b.gradient, tolerance);
  expect_near("energy", a.energy, b.energy, tolerance);
  expect_near("base", a.base, b.base, tolerance);
  expect_near("term", a.term, b.term, tolerance);
  expect_near("base_weight", a.base_weight, b.base_weight, 0);
  expect_near("term_weight", a.term_weight, b.term_weight, 0);
  expect_near("acceptance", a.acceptance, b.acceptance, tolerance);
  expect_near("hamiltonian", a.hamiltonian, b.hamiltonian, tolerance);
  expect_near("start", a.start, b.start, tolerance);
  expect_near("proposal", a.proposal, b.proposal, tolerance);
  expect_near("velocity", a.velocity, b.velocity, tolerance);
  EXPECT_TRUE(a.padding_untouched);
  EXPECT_TRUE(b.padding_untouched);
}

bool same_state(const ChainOutputs& a, const ChainOutputs& b) {
  return bits_of(a.position) == bits_of(b.position) && bits_of(a.gradient) == bits_of(b.gradient) &&
         bits_of(a.energy) == bits_of(b.energy) && bits_of(a.base) == bits_of(b.base) &&
         bits_of(a.term) == bits_of(b.term) && bits_of(a.base_weight) == bits_of(b.base_weight) &&
         bits_of(a.term_weight) == bits_of(b.term_weight);
}

}  // namespace kiln::test
