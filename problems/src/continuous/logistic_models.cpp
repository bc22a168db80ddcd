// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "kiln/errors.hpp"
#include "kiln/objectives/catalog_density.hpp"
#include "kiln/objectives/generalized_linear.hpp"
#include "kiln/options.hpp"

#include "linear_model.hpp"
#include "posterior_models.hpp"
#include "squared.hpp"

namespace kiln::problems {
namespace {

std::vector<double> standardized(const ModelData& data, const DataArray& column) {
  const auto n = static_cast<double>(column.values.size());
  const double mean = std::accumulate(column.values.begin(), column.values.end(), 0.0) / n;
  double variance = 0;
  for (const double x : column.values) variance += squared(x - mean) / n;
  if (!(std::sqrt(variance) > 1e-14 * std::abs(mean))) {
    data.refuse(column.name, "has the same value in every row", "a column that varies");
  }
  std::vector<double> z(column.values.size());
  std::ranges::transform(column.values, z.begin(),
                         [&](double x) { return (x - mean) / std::sqrt(variance); });
  return z;
}

/// The weights of the columns at a point.
std::vector<double> weights_of(Point x, std::size_t k, ShrinkageKind kind) {
  std::vector<double> w(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(k));
  if (kind == ShrinkageKind::sparse) {
    for (std::size_t j = 0; j < k; ++j) w[j] *= std::exp(x[k + j]) * std::exp(x[2 * k]);
  }
  return w;
}

/// Minus the log likelihood, row by row.
double plain_misfit(const LogisticTable& table, Point w) {
  double energy = 0;
  for (std::size_t i = 0; i < table.label.size(); ++i) {
    double z = 0;
    for (std::size_t j = 0; j < w.size(); ++j) z += table.columns[j][i] * w[j];
    energy += std::log1p(std::exp(-std::abs(z))) + std::max(table.label[i] == 1 ? -z : z, 0.0);
  }
  return energy;
}

double plain_energy(const LogisticTable& table, ShrinkageKind kind, Point x) {
  const std::size_t k = table.columns.size();
  const std::vector<double> w = weights_of(x, k, kind);
  double energy = 0;
  if (kind == ShrinkageKind::sparse) {
    for (std::size_t j = 0; j < k; ++j) energy += squared(x[j]) / 2;
    // Gamma(1/2, 1/2) of e^l with the Jacobian e^l.
    for (std::size_t j = k; j < x.size(); ++j) {
      energy -= -0.5 * std::log(std::exp(x[j])) - std::exp(x[j]) / 2 + x[j];
    }
  } else {
    const double variance = std::exp(2 * x[k]);
    energy += 0.01 * variance - 2 * x[k];
    for (std::size_t j = 0; j < k; ++j) energy += squared(w[j]) / (2 * variance) + x[k];
  }
  return energy + plain_misfit(table, w);
}

}  // namespace

LogisticTable logistic_table(const ModelData& data, const std::string& target) {
  const DataArray& y = target_column(data, target);
  const auto [low, high] = std::ranges::minmax(y.values);
  for (const double value : y.values) {
    if (low < high && (value == low || value == high)) continue;
    data.refuse(y.name,
                low == high
                    ? "has the value " + kiln::detail::show_real(low) + " in every row"
                    : "has more than two values: " + kiln::detail::show_real(low) + ", " +
                          kiln::detail::show_real(value) + " and " + kiln::detail::show_real(high),
                "a target with two distinct values; the larger value is class 1");
  }
  LogisticTable table;
  for (const double value : y.values) table.label.push_back(value == high ? 1 : 0);
  for (const DataArray& column : data.arrays()) {
    if (column.name != y.name) table.columns.push_back(standardized(data, column));
  }
  table.columns.emplace_back(y.values.size(), 1.0);
  return table;
}

DensityModel logistic_regression(const ModelData& data, const std::string& target) {
  const auto table = std::make_shared<const LogisticTable>(logistic_table(data, target));
  const std::size_t k = table->columns.size(), n = table->label.size();
  GlmData glm;
  glm.link = GlmLink::logistic;
  glm.rows = static_cast<std::int64_t>(n);
  glm.columns = static_cast<int>(k);
  glm.y.assign(table->label.begin(), table->label.end());
  glm.prior_scale = {1};
  for (std::size_t i = 0; i < n; ++i) {
    for (const auto& column : table->columns) glm.x.push_back(column[i]);
  }
  DensityModel model;
  model.source = make_generalized_linear(glm);
  model.posterior.emplace();
  model.plain = [table](Point w) {
    double energy = plain_misfit(*table, w);
    for (const double wj : w) energy += squared(wj) / 2;
    return energy;
  };
  model.sizes = {{"rows", std::to_string(n)}};
  append_indexed(model.posterior->quantities.names, "w", k);
  model.posterior->quantities.compute = [](Point w, std::span<double> values) {
    std::ranges::copy(w, values.begin());
  };
  return model;
}

DensityModel shrinkage_logistic(const ModelData& data, const std::string& target,
                                ShrinkageKind kind) {
  const auto table = std::make_shared<const LogisticTable>(logistic_table(data, target));
  const std::size_t k = table->columns.size();
  ShrinkageLogistic density;
  density.kind = kind;
  density.rows = static_cast<int>(table->label.size());
  density.terms = static_cast<int>(k);
  std::vector<double> design;
  for (const auto& column : table->columns) {
    design.insert(design.end(), column.begin(), column.end());
  }
  auto source = std::make_shared<CatalogDensitySource<ShrinkageLogistic>>(density, true);
  source->array(&ShrinkageLogistic::design, std::move(design));
  source->array(&ShrinkageLogistic::label, table->label);
  DensityModel model;
  model.source = std::move(source);
  model.posterior.emplace();
  model.plain = [table, kind](Point x) { return plain_energy(*table, kind, x); };
  model.sizes = {{"rows", std::to_string(table->label.size())}};
  append_indexed(model.posterior->quantities.names, "w", k);
  const bool sparse = kind == ShrinkageKind::sparse;
  if (sparse) append_indexed(model.posterior->quantities.names, "local", k);
  model.posterior->quantities.names.emplace_back(sparse ? "global" : "sigma");
  model.posterior->quantities.compute = [k, kind](Point x, std::span<double> values) {
    std::ranges::copy(weights_of(x, k, kind), values.begin());
    for (std::size_t j = k; j < x.size(); ++j) values[j] = std::exp(x[j]);
  };
  return model;
}

}  // namespace kiln::problems
