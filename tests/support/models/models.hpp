// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "kiln/kernels/sweeps/pairwise_model.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/queue.hpp"

#include "pairwise/pairwise_objective.hpp"

namespace kiln::test {

/// A weight per call, for models of any size.
using WeightSource = std::function<double()>;

WeightSource constant(double weight);
WeightSource one_of(std::vector<double> weights, std::uint64_t seed);

/// n spins without couplings.
Ising isolated_spins(std::vector<double> fields);
/// s_0 - s_1 - ... - s_{n-1} - s_0 for n > 2, a chain otherwise.
Ising ring(std::int32_t n, const WeightSource& weight, const WeightSource& field);
/// A periodic lattice of any dimension. @pre sides are at least 3.
Ising lattice(const std::vector<std::int32_t>& sides, const WeightSource& weight,
              const WeightSource& field);
/// About `degree` neighbours a vertex, at random.
Ising sparse(std::int32_t n, std::int32_t degree, const WeightSource& weight,
             const WeightSource& field, std::uint64_t seed);
/// Every pair is coupled.
Ising dense(std::int32_t n, const WeightSource& weight, const WeightSource& field);
/// Vertex 0 is coupled to `leaves` others; `alone` more have no neighbour.
Ising star(std::int32_t leaves, std::int32_t alone, const WeightSource& weight);
/// `copies` of a model side by side, without couplings between them.
Ising repeated(const Ising& model, std::int32_t copies);

/// sum h_i s_i + sum J_ij s_i s_j, straight from the definition; spins are -1 or +1.
double direct_energy(const Ising& model, const std::vector<std::int8_t>& spins);

/// A model by its sites: what the sweep does, without how PairwiseView lays it out. The one thing
/// taken from the plan is which variable is at which site, because sites name draws and order.
struct PlainModel {
  struct Neighbor {
    std::int32_t site;
    std::int32_t variable;
    double weight;
  };
  struct Site {
    std::int32_t variable = -1;
    double field = 0;
    double base = 0;                  ///< field + sum of weights, summed in the order of sites
    std::vector<Neighbor> neighbors;  ///< by rising site
  };
  std::vector<Site> sites;
};
PlainModel plain_model(const Ising& model, const problems::PairwisePlan& plan);

/// A planned model in device memory.
class DeviceModel {
 public:
  DeviceModel(Queue& queue, const problems::PairwisePlan& plan);
  PairwiseView view() const { return view_; }

 private:
  DeviceArray<std::int32_t> class_begin_, variable_, stage_begin_;
  DeviceArray<std::int64_t> row_begin_;
  DeviceArray<PairEntry> entries_;
  DeviceArray<SliceSite> slice_sites_;
  DeviceArray<GroupSite> group_sites_, half_sites_;
  DeviceArray<StagedSite> staged_sites_;
  DeviceArray<std::uint32_t> slice_runs_, slice_terms_, group_terms_, half_terms_;
  DeviceArray<double> weights_f64_, base_, field_;
  PairwiseView view_;
};

/// The matrix and the kept local fields of a planned model whose weights are integers, as the GPU
/// can use them. It may do so for any order of sites, not for dense models only.
class DeviceDense {
 public:
  DeviceDense(Queue& queue, const problems::PairwisePlan& plan, std::int64_t slots);
  /// Whether a plan can be given so: integers, and a matrix of `max_sites` rows at most.
  static bool fits(const problems::PairwisePlan& plan, std::int32_t max_sites);
  DenseView view();

 private:
  std::int32_t bytes_;  // of a weight
  DeviceArray<std::int8_t> matrix_i8_;
  DeviceArray<std::int16_t> matrix_i16_;
  DeviceArray<double> matrix_f64_;
  DeviceArray<std::byte> fields_;
  DeviceArray<std::uint32_t> bits_, valid_;
  std::int32_t sign_planes_;
};

}  // namespace kiln::test
