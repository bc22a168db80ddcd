// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/objectives/gradient_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/kernels/run/random_state.hpp"
#include "kiln/objective.hpp"
#include "kiln/objectives/density_objective.hpp"

namespace kiln {
namespace {

struct Derivative {
  double value = 0;
  double uncertainty = std::numeric_limits<double>::infinity();
};

/// Differences of an energy along one coordinate of a point, which is put back afterwards.
class Line {
 public:
  Line(const EnergyAndGradient& function, std::vector<double>& x, std::size_t coordinate)
      : function_(function), x_(x), at_(coordinate), centre_(x[coordinate]) {}
  ~Line() { x_[at_] = centre_; }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  /// (U(x + h) - U(x - h)) / 2h, with the steps as they come out in floating point.
  Derivative difference(double h) {
    const double up = centre_ + h, down = centre_ - h;
    const double above = energy_at(up), below = energy_at(down);
    const double rounding = std::numeric_limits<double>::epsilon() *
                            std::max(std::abs(above), std::abs(below)) / (up - down);
    return {(above - below) / (up - down), rounding};
  }

 private:
  double energy_at(double value) {
    x_[at_] = value;
    return function_(x_, {});
  }

  const EnergyAndGradient& function_;
  std::vector<double>& x_;
  std::size_t at_;
  double centre_;
};

// The first step at which both energies are finite; so small that none is if there is none.
double first_step(Line& line, double x) {
  double h = 0.1 * std::max(1.0, std::abs(x));
  for (int i = 0; i < 40 && !std::isfinite(line.difference(h).value); ++i) h /= 2;
  return h;
}

Derivative extrapolate(Line& line, double h) {
  // Column c of a row has no errors of order h^2 ... h^2c. The best entry is that which differs
  // least from those that it was made of.
  constexpr std::size_t rows = 10;
  std::array<std::array<double, rows>, rows> table{};
  Derivative best;
  for (std::size_t row = 0; row < rows; ++row, h /= 2) {
    const Derivative difference = line.difference(h);
    table[row][0] = difference.value;
    double power = 1;
    for (std::size_t c = 1; c <= row; ++c) {
      power *= 4;
      const double finer = table[row][c - 1], coarser = table[row - 1][c - 1];
      table[row][c] = finer + (finer - coarser) / (power - 1);
      const double moved =
          std::max(std::abs(table[row][c] - finer), std::abs(table[row][c] - coarser));
      const double uncertainty = moved + 2 * difference.uncertainty;
      if (uncertainty < best.uncertainty) best = {table[row][c], uncertainty};
    }
  }
  return best;
}

}  // namespace

bool GradientCheck::agrees(double tolerance) const {
  const double size = std::max({1.0, std::abs(energy), std::abs(energy_with_gradient)});
  return std::abs(energy - energy_with_gradient) <= 1e-12 * size && error <= tolerance;
}

std::string GradientCheck::text(double tolerance) const {
  if (agrees(tolerance)) {
    return fmt::format(
        "the gradient agrees with finite differences of the energy: relative error at most {:.1e}, "
        "resolution of the check {:.1e}",
        error, resolution);
  }
  if (error <= tolerance) {
    return fmt::format(
        "the energy is {:.17g} when computed alone, and {:.17g} when computed with the gradient; "
        "the two values must be equal",
        energy, energy_with_gradient);
  }
  return fmt::format(
      "the gradient at coordinate {} (counted from 0) is {:.10g}, but finite differences of the "
      "energy give {:.10g} +- {:.1e}; the relative error is {:.1e}",
      coordinate, given, measured, uncertainty, error);
}

GradientCheck check_gradient(const EnergyAndGradient& function, std::span<const double> x) {
  std::vector<double> point(x.begin(), x.end()), gradient(x.size());
  GradientCheck check;
  check.energy = function(point, {});
  check.energy_with_gradient = function(point, gradient);
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!finite(check.energy) || !std::all_of(gradient.begin(), gradient.end(), finite)) {
    throw InvalidArgument("gradient.point",
                          "the energy or its gradient is not finite at the point to check; "
                          "expected a point with finite values");
  }
  std::vector<Derivative> measured;
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    Line line(function, point, i);
    measured.push_back(extrapolate(line, first_step(line, x[i])));
    largest = std::max(largest, std::abs(measured[i].value));
  }
  // Among coordinates without an error that with the largest difference is told.
  std::pair<double, double> worst{-1, -1};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto& [value, uncertainty] = measured[i];
    const double size = std::max({std::abs(gradient[i]), std::abs(value), 1e-3 * largest,
                                  std::numeric_limits<double>::min()});
    const double apart = std::abs(gradient[i] - value);
    check.resolution = std::max(check.resolution, uncertainty / size);
    const std::pair rank{std::max(0.0, apart - 2 * uncertainty) / size, apart / size};
    if (rank > worst) {
      worst = rank;
      check.coordinate = static_cast<int>(i);
      check.given = gradient[i];
      check.measured = value;
      check.uncertainty = uncertainty;
      check.error = rank.first;
      check.difference = rank.second;
    }
  }
  return check;
}

GradientCheck check_gradient(const DensitySource& density, std::span<const double> x) {
  if (static_cast<int>(x.size()) != density.dimension()) {
    throw InvalidArgument("gradient.point",
                          fmt::format("the point to check has {} numbers; expected {}, "
                                      "the dimension of the density",
                                      x.size(), density.dimension()));
  }
  return check_gradient(
      [&density](std::span<const double> at, std::span<double> gradient) {
        return density.evaluate(at, gradient).total();
      },
      x);
}

namespace {

// Where an energy changes within the shortest steps, differences of it say nothing.
constexpr double coarsest = 1e-4;

// Where a replica begins, as the kernel random_state draws it.
std::vector<double> start_of(const Block& block, std::int64_t replica, std::uint64_t seed) {
  RandomState draw;
  draw.block.kind = block.kind;
  const DrawName name{seed, 0, static_cast<std::uint32_t>(replica), RngDomain::initial_state, 0};
  std::vector<double> x;
  for (std::int64_t i = 0; i < block.count; ++i) {
    const Bounds bounds = block.bounds(i);
    draw.block.lower = bounds.lower;
    draw.block.upper = bounds.upper;
    x.push_back(draw.value(i, draw_word(name, static_cast<std::uint32_t>(i))));
  }
  return x;
}

bool all_finite(const EnergyAndGradient& function, std::span<const double> x) {
  std::vector<double> gradient(x.size());
  const auto finite = [](double value) { return std::isfinite(value); };
  return finite(function(x, gradient)) && std::all_of(gradient.begin(), gradient.end(), finite);
}

// Ordered as a reader would: what fails, what is beyond rounding, what is left.
std::tuple<bool, double, double> badness(const GradientCheck& check) {
  return {!check.agrees(), check.error, check.difference};
}

}  // namespace

GradientCheckAtStarts check_gradient(const Objective& objective, int starts, std::uint64_t seed) {
  const EnergyAndGradient function = objective.gradient_reference();
  if (!function) {
    throw InvalidArgument(
        "gradient.missing",
        fmt::format("objective '{}' has no gradient that the host can compute", objective.name()));
  }
  if (starts < 1) {
    throw InvalidArgument("gradient.starts", fmt::format("the number of starts is {}", starts),
                          "a positive number");
  }
  const Block& block = objective.space().blocks().front();
  GradientCheckAtStarts all;
  const std::int64_t most = std::int64_t{100} * starts;
  for (std::int64_t replica = 0; replica < most && all.starts < starts; ++replica) {
    const std::vector<double> x = start_of(block, replica, seed);
    if (!all_finite(function, x)) continue;
    const GradientCheck check = check_gradient(function, x);
    if (check.resolution > coarsest) continue;
    const bool worse = badness(check) > badness(all.worst);
    if (all.starts == 0 || worse) {
      all.worst = check;
      all.replica = replica;
    }
    ++all.starts;
  }
  if (all.starts == starts) return all;
  throw ObjectiveError(
      "objective.start",
      fmt::format("the gradient of objective '{}' can be checked at only {} of {} random starts",
                  objective.name(), all.starts, most),
      "at a start, energy and gradient must be finite, and the energy must be smooth; random "
      "starts lie between both bounds, within 4 of a single bound, or in -2 .. 2 without bounds");
}

}  // namespace kiln
