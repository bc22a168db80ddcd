// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <string>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/objectives/density_objective.hpp"
#include "kiln/objectives/functor_objective.hpp"
#include "kiln/parameters.hpp"

namespace kiln {
namespace {

/// The callable with what its calls need; lives as long as the objective.
struct HostCallable {
  std::string name;
  EnergyAndGradient function;
  int dimension = 0;
  bool thread_safe = true;
};

/// A density that calls it. All term.
struct CallableDensity {
  static constexpr int fixed_dimension = 0;
  const HostCallable* callable = nullptr;

  int dimension() const { return callable->dimension; }
  int workspace() const { return 0; }
  bool thread_safe() const { return callable->thread_safe; }

  template <Want want, class Team>
  EnergyParts evaluate(const Team&, const DensityPoint& at) const {
    const auto n = static_cast<std::size_t>(callable->dimension);
    const std::span<double> gradient =
        wants_gradient(want) ? std::span<double>(at.gradient, n) : std::span<double>();
    const double value = call({at.x, n}, gradient);
    for (double& g : gradient) g *= at.weights.term;
    return {0, value};
  }

  double call(std::span<const double> x, std::span<double> gradient) const {
    try {
      return callable->function(x, gradient);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw ObjectiveError("objective.threw", "objective '" + callable->name +
                                                  "' threw an exception: " + error.what());
    } catch (...) {
      throw ObjectiveError("objective.threw", "objective '" + callable->name +
                                                  "' threw an object that is not a std::exception");
    }
  }
};

/// The same of constrained values.
struct ConstrainedCallable : Constrained<CallableDensity> {
  bool thread_safe() const { return density.thread_safe(); }
};

template <class Density>
class CallableSource final : public DensitySource {
 public:
  CallableSource(std::shared_ptr<const HostCallable> callable, Density density)
      : callable_(std::move(callable)), inner_(density) {}

  int dimension() const override { return inner_.dimension(); }
  int workspace() const override { return inner_.workspace(); }
  int fixed_dimension() const override { return 0; }
  bool cuda() const override { return false; }
  bool has_parts() const override { return false; }
  Pace pace() const override { return Pace::host; }
  std::unique_ptr<BoundDensity> bind(Queue& queue) const override { return inner_.bind(queue); }
  EnergyParts evaluate(std::span<const double> x, std::span<double> gradient) const override {
    return inner_.evaluate(x, gradient);
  }

 private:
  std::shared_ptr<const HostCallable> callable_;
  HostDensity<Density> inner_;
};

std::shared_ptr<const HostCallable> callable_from(const std::string& name, int dimension,
                                                  EnergyAndGradient function, bool thread_safe) {
  if (!function) throw InvalidArgument("objective.empty", "objective '" + name + "' is empty");
  functor::require_dimension(name, dimension, dimension);
  return std::make_shared<const HostCallable>(
      HostCallable{name, std::move(function), dimension, thread_safe});
}

}  // namespace

namespace functor {

void require_dimension(const std::string& name, int known, int given) {
  if (given < 1) {
    throw InvalidArgument(
        "objective.dimension",
        "objective '" + name + "' cannot have " + std::to_string(given) + " dimensions",
        "1 or more");
  }
  if (known == given) return;
  throw InvalidArgument("objective.dimension", "the functor of objective '" + name + "' has " +
                                                   std::to_string(known) + " dimensions, not " +
                                                   std::to_string(given));
}

void require_values(const std::string& name, int known, int values) {
  if (values < 1) {
    throw InvalidArgument("objective.dimension", "posterior '" + name + "' has no parameters",
                          "Parameters().real(\"mu\").positive(\"tau\")");
  }
  if (known == values) return;
  throw InvalidArgument("objective.dimension", "the functor of posterior '" + name + "' reads " +
                                                   std::to_string(known) +
                                                   " values, but the parameters have " +
                                                   std::to_string(values) + " values");
}

}  // namespace functor

std::shared_ptr<const Objective> make_density_objective(std::string name, int dimension,
                                                        EnergyAndGradient function, Bounds bounds,
                                                        bool thread_safe) {
  auto callable = callable_from(name, dimension, std::move(function), thread_safe);
  const CallableDensity density{callable.get()};
  auto source =
      std::make_shared<const CallableSource<CallableDensity>>(std::move(callable), density);
  return make_density_objective(std::move(name), std::move(source), bounds.lower, bounds.upper);
}

Problem make_density_posterior(std::string name, const Parameters& parameters,
                               EnergyAndGradient function, bool thread_safe) {
  functor::require_values(name, parameters.values(), parameters.values());
  auto callable = callable_from(name, parameters.values(), std::move(function), thread_safe);
  const ConstrainedCallable density{{{callable.get()}, parameters.layout()}};
  auto source =
      std::make_shared<const CallableSource<ConstrainedCallable>>(std::move(callable), density);
  const Bounds everywhere;
  return make_posterior(make_density_objective(std::move(name), std::move(source), everywhere.lower,
                                               everywhere.upper),
                        parameters.quantities());
}

}  // namespace kiln
