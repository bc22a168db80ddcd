// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kiln/kernels/hamiltonian/chain_state.hpp"
#include "kiln/kernels/hamiltonian/hmc_transition.hpp"
#include "kiln/kernels/hamiltonian/nuts_transition.hpp"
#include "kiln/kernels/sweeps/density_descent.hpp"
#include "kiln/objectives/density_kernels_impl.hpp"
#include "kiln/queue.hpp"

#include "backends/backends_blocks.hpp"

namespace kiln::test {

/// The metrics of all pools on the host. See MetricView.
struct HostMetric {
  MetricKind kind = MetricKind::diagonal;
  int rank = 0;
  std::vector<double> scale, factor, stretch;
  std::vector<std::int32_t> used;
};
HostMetric diagonal_metric(std::vector<double> scale);
HostMetric dense_metric(std::vector<double> lower_triangle);

/// Everything that a transition reads, on the host.
struct ChainInputs {
  DensityRef density;
  int dimension = 1;
  int workspace = 0;
  std::int64_t replicas = 1;
  std::vector<double> position;  ///< [dimension][replicas]
  std::vector<double> beta = {1};
  std::vector<double> lambda;            ///< [rungs] or empty
  std::vector<std::int32_t> rung_of;     ///< [replicas]; empty: all 0
  std::vector<HmcTuning> tuning = {{}};  ///< [pools]
  HostMetric metric;                     ///< scale empty and diagonal: 1
  double lower = 0, upper = 0;
  std::vector<double> box;  ///< [2][dimension], bounds of each coordinate instead; may be empty
  bool bounded = false;
  RunControl control;
  std::uint64_t seed = 1;
  ChainLayout layout = ChainLayout::warp;
  bool statistics = true;  ///< give the kernel views for all of them
};

/// What is there after some transitions. Values of padding slots are left out.
struct ChainOutputs {
  std::vector<double> position, gradient;  ///< [dimension][replicas]
  std::vector<double> energy, base, term;  ///< [replicas]
  std::vector<double> base_weight, term_weight;
  std::vector<double> acceptance, hamiltonian;
  std::vector<std::int32_t> leapfrogs, depth, divergent;
  std::vector<std::uint64_t> accepted, not_finite;
  std::vector<double> start, proposal, velocity;  ///< [dimension][replicas]
  bool padding_untouched = true;
};

/// Standard normal positions times `spread`, [dimension][replicas].
std::vector<double> normal_positions(int dimension, std::int64_t replicas, double spread,
                                     std::uint64_t seed);

/// The arrays that transitions work on, on a device. One more step of the run for each transition.
class DeviceChains {
 public:
  DeviceChains(Queue& queue, ChainInputs inputs);

  /// The arguments of a transition with everything filled in but the density's type.
  template <class Kernel>
  Kernel kernel();

  /// One transition of the catalogue's density.
  template <class Kernel>
  void transition() {
    queue_.launch(kernel<Kernel>());
    next_step();
  }
  /// One transition of a density that only this program knows, on the CPU.
  template <class Kernel, class Density>
  void transition_of(const Density& density) {
    CpuDensityKernels<Density>::run(kernel<Kernel>(), density, queue_);
    next_step();
  }

  ChainOutputs outputs() const;
  void set_beta(const std::vector<double>& beta) { beta_.upload(beta); }
  void set_position(const std::vector<double>& position);
  /// As after a change of the positions from outside: no gradient is known.
  void forget_gradients();
  std::int64_t slots() const { return slots_; }

 private:
  void next_step();
  /// Values of replicas with the padding of slots between rows.
  template <class T>
  std::vector<T> padded(const std::vector<T>& values) const;
  /// All replicas have `value`.
  template <class T>
  std::vector<T> filled(std::int64_t rows, T value) const;
  template <class T>
  std::vector<T> cut(const DeviceArray<T>& array, bool& untouched) const;
  ChainState chain_state();
  TransitionStatistics statistics();
  MetricView metric() const;
  View2<double> matrix(DeviceArray<double>& array) const;

  Queue& queue_;
  ChainInputs in_;
  std::int64_t slots_;
  std::uint32_t steps_ = 0;
  DeviceArray<double> position_, gradient_, energy_, base_, term_, base_weight_, term_weight_;
  DeviceArray<double> beta_, lambda_, box_;
  DeviceArray<std::int32_t> rung_of_;
  DeviceArray<HmcTuning> tuning_;
  DeviceArray<double> scale_, factor_, stretch_;
  DeviceArray<std::int32_t> used_;
  DeviceArray<double> acceptance_, hamiltonian_, start_, proposal_, velocity_;
  DeviceArray<std::int32_t> leapfrogs_, depth_, divergent_;
  DeviceArray<std::uint64_t> accepted_, not_finite_;
  DeviceArray<double> scratch_;
  DeviceArray<RunControl> control_;
  DeviceNames names_;
};

/// Reals within `tolerance` of 1 + their size; NaN equals NaN.
void expect_near(const char* what, const std::vector<double>& a, const std::vector<double>& b,
                 double tolerance);
/// Compares everything, reals within `tolerance` of 1 + their size, whole numbers exactly; not the
/// padding.
void expect_close(const ChainOutputs& a, const ChainOutputs& b, double tolerance);
/// Whether the chains, their gradients and energies have the same bits.
bool same_state(const ChainOutputs& a, const ChainOutputs& b);

}  // namespace kiln::test
