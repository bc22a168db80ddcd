// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "models/models.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string_view>

#include "kiln/kernels/sweeps/sign_rows.hpp"

#include "backends/backends.hpp"
#include "pairwise/group_rows.hpp"
#include "pairwise/sign_rows.hpp"
#include "pairwise/slice_rows.hpp"

namespace kiln::test {
namespace {

Ising without_couplings(std::int32_t n, const WeightSource& field) {
  Ising model;
  model.n = n;
  for (std::int32_t v = 0; v < n; ++v) model.fields.push_back(field());
  return model;
}

double largest_weight(const problems::PairwisePlan& plan) {
  double largest = 0;
  for (const PairEntry& entry : plan.entries) {
    largest = std::max(largest, std::abs(static_cast<double>(entry.weight)));
  }
  return largest;
}

template <class Weight>
std::vector<Weight> matrix_of(const problems::PairwisePlan& plan) {
  const std::size_t n = plan.variable.size();
  std::vector<Weight> matrix(n * n, Weight{0});
  for (std::size_t site = 0; site < n; ++site) {
    for (std::int64_t e = plan.row_begin[site]; e < plan.row_begin[site + 1]; ++e) {
      // A filler of weight 0 names the site itself.
      if (plan.weight(e) != 0) {
        matrix[site * n + plan.entries[idx(e)].site] = static_cast<Weight>(plan.weight(e));
      }
    }
  }
  return matrix;
}

}  // namespace

WeightSource constant(double weight) {
  return [weight] { return weight; };
}

WeightSource one_of(std::vector<double> weights, std::uint64_t seed) {
  return [weights = std::move(weights), random = std::make_shared<TestRandom>(seed)] {
    return weights[idx(random->between(0, static_cast<std::int64_t>(weights.size()) - 1))];
  };
}

Ising isolated_spins(std::vector<double> fields) {
  Ising model;
  model.n = static_cast<std::int32_t>(fields.size());
  model.fields = std::move(fields);
  return model;
}

Ising ring(std::int32_t n, const WeightSource& weight, const WeightSource& field) {
  Ising model = without_couplings(n, field);
  for (std::int32_t v = 0; v + 1 < n; ++v) model.couplings.push_back({v, v + 1, weight()});
  if (n > 2) model.couplings.push_back({0, n - 1, weight()});
  return model;
}

Ising lattice(const std::vector<std::int32_t>& sides, const WeightSource& weight,
              const WeightSource& field) {
  std::int32_t n = 1;
  for (const std::int32_t side : sides) n *= side;
  Ising model = without_couplings(n, field);
  for (std::int32_t v = 0; v < n; ++v) {
    std::int32_t stride = 1;
    for (const std::int32_t side : sides) {
      const bool last = v / stride % side + 1 == side;
      model.couplings.push_back({v, last ? v - (side - 1) * stride : v + stride, weight()});
      stride *= side;
    }
  }
  return model;
}

Ising sparse(std::int32_t n, std::int32_t degree, const WeightSource& weight,
             const WeightSource& field, std::uint64_t seed) {
  Ising model = without_couplings(n, field);
  TestRandom random(seed);
  std::set<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(n) * degree / 2; ++i) {
    const auto u = static_cast<std::int32_t>(random.between(0, n - 1));
    const auto v = static_cast<std::int32_t>(random.between(0, n - 1));
    if (u != v) pairs.emplace(std::min(u, v), std::max(u, v));
  }
  for (const auto& [u, v] : pairs) model.couplings.push_back({u, v, weight()});
  return model;
}

Ising dense(std::int32_t n, const WeightSource& weight, const WeightSource& field) {
  Ising model = without_couplings(n, field);
  for (std::int32_t u = 0; u < n; ++u) {
    for (std::int32_t v = u + 1; v < n; ++v) model.couplings.push_back({u, v, weight()});
  }
  return model;
}

Ising star(std::int32_t leaves, std::int32_t alone, const WeightSource& weight) {
  Ising model = without_couplings(1 + leaves + alone, constant(0));
  for (std::int32_t v = 1; v <= leaves; ++v) model.couplings.push_back({0, v, weight()});
  return model;
}

Ising repeated(const Ising& model, std::int32_t copies) {
  Ising all;
  all.n = model.n * copies;
  for (std::int32_t c = 0; c < copies; ++c) {
    all.fields.insert(all.fields.end(), model.fields.begin(), model.fields.end());
    for (const Edge& e : model.couplings) {
      all.couplings.push_back({e.u + c * model.n, e.v + c * model.n, e.weight});
    }
  }
  return all;
}

double direct_energy(const Ising& model, const std::vector<std::int8_t>& spins) {
  double energy = 0;
  for (std::size_t v = 0; v < model.fields.size(); ++v) energy += model.fields[v] * spins[v];
  for (const Edge& e : model.couplings) energy += e.weight * spins[idx(e.u)] * spins[idx(e.v)];
  return energy;
}

PlainModel plain_model(const Ising& model, const problems::PairwisePlan& plan) {
  PlainModel plain;
  plain.sites.resize(plan.variable.size());
  std::vector<std::int32_t> site_of(idx(model.n), -1);
  for (std::size_t site = 0; site < plan.variable.size(); ++site) {
    const std::int32_t variable = plan.variable[site];
    plain.sites[site].variable = variable;
    if (variable >= 0) site_of[idx(variable)] = static_cast<std::int32_t>(site);
  }
  for (const Edge& e : model.couplings) {
    const std::int32_t u = site_of[idx(e.u)], v = site_of[idx(e.v)];
    plain.sites[idx(u)].neighbors.push_back({v, e.v, e.weight});
    plain.sites[idx(v)].neighbors.push_back({u, e.u, e.weight});
  }
  for (PlainModel::Site& site : plain.sites) {
    if (site.variable < 0) continue;
    std::sort(site.neighbors.begin(), site.neighbors.end(),
              [](const auto& a, const auto& b) { return a.site < b.site; });
    double sum = 0;
    for (const PlainModel::Neighbor& neighbor : site.neighbors) sum += neighbor.weight;
    site.field = model.fields[idx(site.variable)];
    site.base = site.field + sum;
  }
  return plain;
}

namespace {

template <class T>
DeviceArray<T> uploaded(Queue& queue, const LargeVector<T>& values) {
  return {queue, std::vector<T>(values.begin(), values.end())};
}

}  // namespace

DeviceModel::DeviceModel(Queue& queue, const problems::PairwisePlan& plan)
    : class_begin_(queue, plan.class_begin),
      variable_(uploaded(queue, plan.variable)),
      row_begin_(uploaded(queue, plan.row_begin)),
      entries_(uploaded(queue, plan.entries)),
      weights_f64_(uploaded(queue, plan.weights_f64)),
      base_(uploaded(queue, plan.base)),
      field_(uploaded(queue, plan.field)) {
  view_.n_variables = plan.n_variables;
  view_.n_sites = plan.n_sites();
  view_.n_classes = plan.n_classes;
  view_.max_coupling_sum = plan.max_coupling_sum;
  view_.total_sum = plan.total_sum;
  view_.arithmetic = plan.arithmetic;
  view_.integral = plan.integral;
  view_.has_fields = plan.has_fields;
  view_.max_neighbors = static_cast<std::int32_t>(plan.longest_row);
  view_.sequential = plan.sequential;
  view_.class_begin = std::as_const(class_begin_).view();
  view_.variable = std::as_const(variable_).view();
  view_.row_begin = std::as_const(row_begin_).view();
  view_.entries = std::as_const(entries_).view();
  const problems::SliceRows slices = problems::slice_rows(plan);
  slice_sites_ = uploaded(queue, slices.sites);
  slice_runs_ = uploaded(queue, slices.runs);
  slice_terms_ = uploaded(queue, slices.terms);
  view_.slices = {slices.max_local, std::as_const(slice_sites_).view(),
                  std::as_const(slice_runs_).view(), std::as_const(slice_terms_).view()};
  const auto whole = problems::group_rows(plan);
  const auto half = problems::group_rows(plan, problems::RowPart::half);
  group_sites_ = uploaded(queue, whole.sites);
  group_terms_ = uploaded(queue, whole.terms);
  half_sites_ = uploaded(queue, half.sites);
  half_terms_ = uploaded(queue, half.terms);
  view_.groups = {whole.max_sum,
                  whole.one_plane,
                  whole.n_hubs,
                  std::as_const(group_sites_).view(),
                  std::as_const(group_terms_).view(),
                  whole.n_even};
  view_.half_groups = {half.max_sum,
                       half.one_plane,
                       half.n_hubs,
                       std::as_const(half_sites_).view(),
                       std::as_const(half_terms_).view(),
                       half.n_even};
  const problems::StagedSites staged = problems::staged_sites(plan, whole);
  staged_sites_ = uploaded(queue, staged.sites);
  stage_begin_ = uploaded(queue, staged.begin);
  view_.staged = {std::as_const(staged_sites_).view(), std::as_const(stage_begin_).view()};
  view_.weights_f64 = std::as_const(weights_f64_).view();
  view_.base = std::as_const(base_).view();
  view_.field = std::as_const(field_).view();
}

bool DeviceDense::fits(const problems::PairwisePlan& plan, std::int32_t max_sites) {
  return plan.integral && plan.n_sites() <= max_sites;
}

namespace {

std::int32_t bytes_of_weights(const problems::PairwisePlan& plan) {
  if (plan.arithmetic == Arithmetic::wide) return 8;
  const double largest = largest_weight(plan);
  return largest <= 127 ? 1 : largest <= 32767 ? 2 : 8;
}

template <class Weight>
DeviceArray<Weight> matrix_if(bool wanted, Queue& queue, const problems::PairwisePlan& plan) {
  return {queue, wanted ? matrix_of<Weight>(plan) : std::vector<Weight>{}};
}

}  // namespace

DeviceDense::DeviceDense(Queue& queue, const problems::PairwisePlan& plan, std::int64_t slots)
    : bytes_(bytes_of_weights(plan)),
      matrix_i8_(matrix_if<std::int8_t>(bytes_ == 1, queue, plan)),
      matrix_i16_(matrix_if<std::int16_t>(bytes_ == 2, queue, plan)),
      matrix_f64_(matrix_if<double>(bytes_ == 8, queue, plan)),
      fields_(queue, slots * plan.n_sites() * (bytes_ == 8 ? 8 : 4)),
      bits_(queue, slots * plan.n_sites() / 4),
      valid_(queue, std::vector<std::uint32_t>(idx(slots), 0u)),
      sign_planes_(problems::sign_planes(plan)) {
  if (sign_planes_ == 0) return;
  std::vector<std::int8_t> matrix = matrix_of<std::int8_t>(plan);
  matrix.resize(matrix.size() + idx(SignRows{plan.n_sites()}.bytes()));
  problems::write_sign_rows(matrix.data(), plan.n_sites());
  matrix_i8_ = DeviceArray<std::int8_t>(queue, matrix);
}

DenseView DeviceDense::view() {
  DenseView view;
  view.matrix = bytes_ == 1   ? static_cast<const void*>(matrix_i8_.data())
                : bytes_ == 2 ? static_cast<const void*>(matrix_i16_.data())
                              : matrix_f64_.data();
  view.bytes_per_weight = bytes_;
  view.sign_planes = sign_planes_;
  view.fields = fields_.data();
  view.bits = bits_.data();
  view.valid = valid_.data();
  return view;
}

}  // namespace kiln::test
