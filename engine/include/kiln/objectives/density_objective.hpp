// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/objective.hpp"
#include "kiln/objectives/density_kernels_impl.hpp"
#include "kiln/objectives/gradient_check.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// A density as the engine sees it on the host. Immutable.
class KILN_API DensitySource : public Queryable {
 public:
  ~DensitySource() override;
  virtual int dimension() const = 0;
  virtual int workspace() const = 0;        ///< doubles of scratch memory per chain
  virtual int fixed_dimension() const = 0;  ///< of the functor's type, 0: known at run time only
  virtual bool works_by_coordinates() const { return false; }  ///< as the functor's type declares
  virtual bool cuda() const = 0;                               ///< whether it runs on a GPU, too
  /// Whether base and term are separate, so that tempering may weight the term alone.
  virtual bool has_parts() const = 0;
  /// Whether the kernels of GPUs are compiled when they are launched first. A kernel for no chain
  /// is then launched before the ticks that use it.
  virtual bool is_compiled_late() const { return false; }
  /// Host, if an evaluation may take any time: a user's callable.
  virtual Pace pace() const { return Pace::device; }
  /// Bytes that bind() uploads.
  virtual std::uint64_t device_bytes() const { return 0; }
  virtual std::unique_ptr<BoundDensity> bind(Queue& queue) const = 0;
  /// Energy and gradient of one point on the host, with both weights 1; `gradient` may be empty.
  virtual EnergyParts evaluate(std::span<const double> x, std::span<double> gradient) const = 0;
};

/// An objective from a density. The space is `dimension()` reals in [lower, upper].
/// @throws InvalidArgument if the density has no dimension or the bounds are not ordered.
KILN_API std::shared_ptr<const Objective> make_density_objective(
    std::string name, std::shared_ptr<const DensitySource> source, double lower, double upper);
/// The same with an interval for each coordinate.
/// @throws InvalidArgument unless there are `dimension()` ordered intervals.
KILN_API std::shared_ptr<const Objective> make_density_objective(
    std::string name, std::shared_ptr<const DensitySource> source, std::vector<Bounds> box);

/// Makes an objective from a host callable, for all schedules that sample or minimise on reals. The
/// callable returns the value at x and writes all of `gradient`, unless that is empty because it is
/// not needed. It runs on the CPU backend only, chains in parallel if `thread_safe`. Exceptions of
/// the function end the run as ObjectiveError; values that are NaN or infinite are never accepted.
/// @throws InvalidArgument if the function is empty, `dimension` is below 1 or the bounds are not
/// ordered.
KILN_API std::shared_ptr<const Objective> make_density_objective(std::string name, int dimension,
                                                                 EnergyAndGradient function,
                                                                 Bounds bounds = {},
                                                                 bool thread_safe = true);

class Parameters;

/// Makes a posterior from such a callable, which returns the negative log density and reads the
/// values of `parameters`; these are sampled in unconstrained coordinates.
KILN_API Problem make_density_posterior(std::string name, const Parameters& parameters,
                                        EnergyAndGradient function, bool thread_safe = true);

/// Energy and gradient of one point on the host, with both weights 1; `gradient` may be empty.
template <class Density>
EnergyParts evaluate_on_host(const Density& density, std::span<const double> x,
                             std::span<double> gradient) {
  std::vector<double> work(static_cast<std::size_t>(density.workspace()));
  const DensityPoint at{x.data(), {}, gradient.empty() ? nullptr : gradient.data(), work.data()};
  return gradient.empty() ? density.template evaluate<Want::energy>(SingleTeam{}, at)
                          : density.template evaluate<Want::both>(SingleTeam{}, at);
}

/// The source of a host density functor: see "A *density* is" in kiln/device/density.hpp.
template <class Density>
class HostDensity final : public DensitySource {
 public:
  explicit HostDensity(Density density, bool parts = false) : density_(density), parts_(parts) {}

  int dimension() const override { return dimension_of(density_); }
  int workspace() const override { return density_.workspace(); }
  int fixed_dimension() const override { return Density::fixed_dimension; }
  bool cuda() const override { return false; }
  bool has_parts() const override { return parts_; }
  std::unique_ptr<BoundDensity> bind(Queue&) const override {
    return std::make_unique<Bound>(density_);
  }
  EnergyParts evaluate(std::span<const double> x, std::span<double> gradient) const override {
    return evaluate_on_host(density_, x, gradient);
  }

 private:
  struct Bound final : BoundDensity {
    explicit Bound(Density d)
        : BoundDensity(FunctorKernels<DensityFamily>::from<Counted<CpuDensityKernels<Density>>>(),
                       &density),
          density(d) {}
    Density density;
  };
  Density density_;
  bool parts_;
};

}  // namespace kiln
