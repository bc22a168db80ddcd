// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/generalized_linear.hpp"

#include <bit>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/host_scratch.hpp"
#include "kiln/objectives/device_bundle.hpp"

#include "idx.hpp"

namespace kiln {
namespace {

void require_size(const char* what, std::size_t size, std::int64_t expected) {
  if (size == idx(expected)) return;
  throw InvalidArgument("glm.shape",
                        std::string("the ") + what + " of a generalised linear model has " +
                            std::to_string(size) + " values",
                        std::to_string(expected) + " values");
}

bool fits_link(GlmLink link, double y) {
  switch (link) {
    case GlmLink::logistic:
      return y >= 0 && y <= 1;
    case GlmLink::identity:
      return std::isfinite(y);
    case GlmLink::log:
      return std::isfinite(y) && y >= 0 && y == std::floor(y);
  }
  return false;
}

const char* values_of(GlmLink link) {
  switch (link) {
    case GlmLink::logistic:
      return "values from 0 to 1";
    case GlmLink::identity:
      return "finite values";
    case GlmLink::log:
      return "counts: 0, 1, 2, ...";
  }
  return "";
}

void check_shape(const GlmData& data) {
  if (data.rows < 1 || data.columns < 1) {
    throw InvalidArgument("glm.shape",
                          "a generalised linear model has " + std::to_string(data.rows) +
                              " rows and " + std::to_string(data.columns) + " columns",
                          "at least one row and one column");
  }
  require_size("matrix x", data.x.size(), data.rows * data.columns);
  require_size("list of observations y", data.y.size(), data.rows);
  if (data.prior_scale.size() != 1) {
    require_size("list of prior scales", data.prior_scale.size(), data.columns);
  }
}

void check(const GlmData& data) {
  check_shape(data);
  for (std::size_t i = 0; i < data.x.size(); ++i) {
    if (std::isfinite(data.x[i])) continue;
    const std::size_t row = i / idx(data.columns), column = i % idx(data.columns);
    throw InvalidArgument("glm.value", "x in row " + std::to_string(row + 1) + ", column " +
                                           std::to_string(column + 1) + " is not finite");
  }
  for (std::size_t row = 0; row < data.y.size(); ++row) {
    if (fits_link(data.link, data.y[row])) continue;
    throw InvalidArgument("glm.value",
                          "y in row " + std::to_string(row + 1) + " is " +
                              std::to_string(data.y[row]) +
                              ", which the link function does not allow",
                          values_of(data.link));
  }
  for (const double scale : data.prior_scale) {
    if (std::isfinite(scale) && scale > 0) continue;
    throw InvalidArgument("glm.value", "a prior scale is " + std::to_string(scale),
                          "a positive number");
  }
  if (!(std::isfinite(data.noise) && data.noise > 0)) {
    throw InvalidArgument("glm.value", "the noise is " + std::to_string(data.noise),
                          "a positive number");
  }
}

/// The arrays as GeneralizedLinear has them: rows and columns filled up with zeros.
struct Arrays {
  explicit Arrays(const GlmData& data, int width)
      : x(idx((data.rows + 7) / 8 * 8 * width)), y(idx((data.rows + 7) / 8 * 8)) {
    for (std::int64_t r = 0; r < data.rows; ++r) {
      for (int j = 0; j < data.columns; ++j)
        x[idx(r * width + j)] = data.x[idx(r * data.columns + j)];
      y[idx(r)] = data.y[idx(r)];
    }
    for (int j = 0; j < data.columns; ++j) {
      const double scale = data.prior_scale[data.prior_scale.size() == 1 ? 0 : idx(j)];
      prior_precision.push_back(1.0 / (scale * scale));
    }
  }
  std::vector<double> x, y, prior_precision;
};

// To the nearest: a GPU would cut the last 13 bits off, which is the nearest below.
float tf32_of(float value) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x1000u) & 0xFFFFE000u);
}

// In single precision, for coarse forces to the nearest number of TF32.
std::vector<float> singles_of(const std::vector<double>& values, GlmForces forces) {
  std::vector<float> singles(values.begin(), values.end());
  if (forces != GlmForces::tf32) return singles;
  for (float& value : singles) value = tf32_of(value);
  return singles;
}

/// Transitions of fixed length are GlmTransition where its tiles hold the columns; all else is done
/// as with any density.
class BoundGlm final : public BoundDensity {
 public:
  BoundGlm(const GeneralizedLinear& density, DeviceBundle arrays, GlmForces forces, bool tiles)
      : BoundDensity(FunctorKernels<DensityFamily>::from<Launchers>(), this),
        plain_(DensityRef(density)),
        density_(density),
        arrays_(std::move(arrays)),
        forces_(forces),
        tiles_(tiles) {}

 private:
  struct Launchers {
    template <class Kernel>
    static void launch(const Kernel& kernel, const void* self, Queue& queue) {
      const auto& bound = *static_cast<const BoundGlm*>(self);
      if constexpr (std::is_same_v<Kernel, HmcTransition>) {
        if (bound.tiles_) return queue.launch(bound.tiled(kernel));
      }
      bound.plain_.run(kernel, queue);
    }
  };

  GlmTransition tiled(const HmcTransition& kernel) const {
    GlmTransition tiled;
    tiled.density = density_;
    tiled.chains = kernel.chains;
    tiled.metric = kernel.metric;
    tiled.tuning = kernel.tuning;
    tiled.statistics = kernel.statistics;
    tiled.forces = forces_;
    return tiled;
  }

  BoundNamedFunctor<DensityFamily> plain_;
  GeneralizedLinear density_;
  DeviceBundle arrays_;
  GlmForces forces_;
  bool tiles_;
};

class GlmSource final : public Offers<DensitySource, TransitionScratch> {
 public:
  explicit GlmSource(const GlmData& data)
      : forces_(data.forces.value_or(forces_for(data))),
        arrays_(data, GlmTransition::width_for(data.columns)) {
    density_.link = data.link;
    density_.columns = data.columns;
    density_.width = GlmTransition::width_for(data.columns);
    density_.rows = data.rows;
    density_.precision = 1.0 / (data.noise * data.noise);
    density_.x = arrays_.x.data();
    density_.y = arrays_.y.data();
    density_.prior_precision = arrays_.prior_precision.data();
  }

  int dimension() const override { return density_.dimension(); }
  int workspace() const override { return density_.workspace(); }
  int fixed_dimension() const override { return 0; }
  bool cuda() const override { return true; }
  bool has_parts() const override { return true; }
  std::uint64_t device_bytes() const override {
    const std::size_t values = arrays_.x.size() + arrays_.y.size();
    const std::size_t each = sizeof(double) + (fits_tiles() ? sizeof(float) : 0);
    return values * each + arrays_.prior_precision.size() * sizeof(double);
  }

  HostTasks transition_tasks(std::int64_t replicas) const override {
    return glm_transition_tasks(replicas, density_.columns);
  }

  std::unique_ptr<BoundDensity> bind(Queue& queue) const override {
    const bool singles = !queue.on_cpu() && fits_tiles();
    DeviceBundle bundle;
    const auto x = bundle.add(arrays_.x), y = bundle.add(arrays_.y);
    const auto prior = bundle.add(arrays_.prior_precision);
    DeviceBundle::Place<float> x_single, y_single;
    if (singles) {
      x_single = bundle.add(singles_of(arrays_.x, forces_));
      y_single = bundle.add(singles_of(arrays_.y, GlmForces::single));
    }
    bundle.upload(queue);
    GeneralizedLinear density = density_;
    density.x = bundle.view(x).data;
    density.y = bundle.view(y).data;
    density.prior_precision = bundle.view(prior).data;
    if (singles) {
      density.x_single = bundle.view(x_single).data;
      density.y_single = bundle.view(y_single).data;
    }
    return std::make_unique<BoundGlm>(density, std::move(bundle), forces_,
                                      queue.on_cpu() || singles);
  }

  EnergyParts evaluate(std::span<const double> x, std::span<double> gradient) const override {
    return evaluate_on_host(density_, x, gradient);
  }

 private:
  bool fits_tiles() const { return density_.columns <= GlmTransition::max_columns; }

  GlmForces forces_;
  Arrays arrays_;
  GeneralizedLinear density_;
};

}  // namespace

// Coarse forces are those of a posterior of data that are rounded to 11 bits. It is displaced by
// about half the error of x w, in units of its own spread, for any number of rows; with weights
// that matter x w changes by about 1 over the spread of a column. One in five hundred costs no
// acceptance.
GlmForces forces_for(const GlmData& data) {
  constexpr double tolerance = 2e-3;
  const double rows = static_cast<double>(data.rows);
  double total = 0;
  for (std::int64_t j = 0; j < data.columns; ++j) {
    const auto x = [&](std::int64_t r) { return data.x[idx(r * data.columns + j)]; };
    double mean = 0, spread = 0, error = 0;
    for (std::int64_t r = 0; r < data.rows; ++r) mean += x(r) / rows;
    for (std::int64_t r = 0; r < data.rows; ++r) {
      const double rounding = static_cast<double>(tf32_of(static_cast<float>(x(r)))) - x(r);
      spread += (x(r) - mean) * (x(r) - mean);
      error += rounding * rounding;
    }
    const bool constant = spread <= 1e-24 * rows * mean * mean;
    const double scale = constant ? rows * mean * mean : spread;
    if (error > 0) total += error / scale;
  }
  return total <= tolerance * tolerance ? GlmForces::tf32 : GlmForces::single;
}

std::shared_ptr<const DensitySource> make_generalized_linear(const GlmData& data) {
  check(data);
  return std::make_shared<GlmSource>(data);
}

}  // namespace kiln
