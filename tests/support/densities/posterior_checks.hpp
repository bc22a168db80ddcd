// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/problems/densities/all.hpp"

#include "continuous/posterior_models.hpp"
#include "densities/density_checks.hpp"

namespace kiln::test {

using Law = std::function<double(std::span<const double>)>;

/// Checks a model in all that holds for every one of them.
template <class Density>
void expect_model(const problems::DensityModel& model, const Law& log_density, double width = 1) {
  const auto points = points_around_zero(model.source->dimension(), width, 6);
  expect_log_density(*model.source, points, log_density);
  const auto* const source = dynamic_cast<const CatalogDensitySource<Density>*>(model.source.get());
  ASSERT_NE(source, nullptr);
  expect_gradients(source->on_host(), points);
  expect_teams_agree(source->on_host(), points.front());
  EXPECT_TRUE(model.posterior && model.source->has_parts() && model.source->cuda());
  EXPECT_NEAR(model.plain(points[1]), model.source->evaluate(points[1], {}).total(), 1e-8);
}

inline Coordinates quantities_at(const problems::DensityModel& model, const Coordinates& x) {
  Coordinates values(model.posterior->quantities.names.size());
  model.posterior->quantities.compute(x, values);
  return values;
}

}  // namespace kiln::test
