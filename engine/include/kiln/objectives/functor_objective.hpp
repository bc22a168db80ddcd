// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/device/functor_density.hpp"
#include "kiln/objectives/density_objective.hpp"
#include "kiln/parameters.hpp"

/// Objectives and posteriors from functors, on the CPU. With kiln/cuda/device_objective.cuh the
/// same functors run on GPUs too; see docs/guides/your_own_density.md.
namespace kiln {

/// Data beside a functor: `make(View1<const double>)` returns the functor that reads them. It is
/// called once for the host and once for each device that receives the data.
template <class Make>
struct WithData {
  std::vector<double> data;
  Make make;
};
template <class Make>
WithData<Make> with_data(std::vector<double> data, Make make) {
  return {std::move(data), std::move(make)};
}

namespace functor {

template <class F>
struct IsWithData : std::false_type {};
template <class Make>
struct IsWithData<WithData<Make>> : std::true_type {};

inline View1<const double> view_of(const std::vector<double>& values) {
  return {values.data(), static_cast<std::int64_t>(values.size())};
}

/// The functor that is finally called, on the host's data.
template <class F>
auto functor_of(const F& given) {
  if constexpr (IsWithData<F>::value) {
    return given.make(
        View1<const double>{given.data.data(), static_cast<std::int64_t>(given.data.size())});
  } else {
    return given;
  }
}
template <class F>
using FunctorOf = decltype(functor_of(std::declval<const F&>()));

/// `fixed`, or the dimension that the functor declares.
template <int fixed, class F>
constexpr int known_dimension() {
  return fixed > 0 ? fixed : fixed_dimension_of<FunctorOf<F>>();
}

/// The functor that reads `data`.
template <class F>
FunctorOf<F> functor_on(const F& given, View1<const double> data) {
  if constexpr (IsWithData<F>::value) {
    return given.make(data);
  } else {
    return given;
  }
}

template <class F>
const std::vector<double>& data_of(const F& given) {
  if constexpr (IsWithData<F>::value) {
    return given.data;
  } else {
    static const std::vector<double> none;
    return none;
  }
}

/// A density of constrained values.
template <int coordinates, class Density>
Constrained<Density, coordinates> constrained(const Density& density,
                                              const ParameterLayout& layout) {
  return {density, layout};
}

/// A CPU density with its data.
template <class Density>
class BoundWithData final : public BoundDensity {
 public:
  template <class Make>
  BoundWithData(const Make& make, const std::vector<double>& data, Queue& queue)
      : BoundDensity(FunctorKernels<DensityFamily>::from<Counted<CpuDensityKernels<Density>>>(),
                     &density_),
        data_(queue, data),
        density_(make(std::as_const(data_).view())) {}

 private:
  DeviceArray<double> data_;
  Density density_;
};

/// The source of a functor's density on the CPU. Its type does not depend on `make`: nvcc writes
/// out the types of kernels and cannot name a lambda.
template <class Density>
class FunctorSource : public DensitySource {
 public:
  using Make = std::function<Density(View1<const double>)>;

  FunctorSource(Make make, std::vector<double> data, bool parts)
      : make_(std::move(make)),
        data_(std::move(data)),
        parts_(parts),
        host_(make_(view_of(data_))) {}

  int dimension() const override { return dimension_of(host_); }
  int workspace() const override { return host_.workspace(); }
  int fixed_dimension() const override { return Density::fixed_dimension; }
  bool works_by_coordinates() const override { return kiln::works_by_coordinates<Density>; }
  bool cuda() const override { return false; }
  bool has_parts() const override { return parts_; }
  std::uint64_t device_bytes() const override { return data_.size() * sizeof(double); }
  std::unique_ptr<BoundDensity> bind(Queue& queue) const override {
    return std::make_unique<BoundWithData<Density>>(make_, data_, queue);
  }
  EnergyParts evaluate(std::span<const double> x, std::span<double> gradient) const override {
    return evaluate_on_host(host_, x, gradient);
  }

 protected:
  Make make_;
  std::vector<double> data_;

 private:
  bool parts_;
  Density host_;
};

KILN_API void require_dimension(const std::string& name, int known, int given);
KILN_API void require_values(const std::string& name, int known, int values);

/// The source of the density that `make` returns; `prototype` gives its type.
template <template <class> class Source, class Density, class Make>
std::shared_ptr<const DensitySource> make_source(const Density& prototype, Make make,
                                                 const std::vector<double>& data, bool parts) {
  static_cast<void>(prototype);
  return std::make_shared<const Source<Density>>(std::move(make), data, parts);
}

/// The common part of make_functor_objective and make_device_objective, which differ in Source
/// only.
template <template <class> class Source, int fixed, class F>
std::shared_ptr<const Objective> make_objective(std::string name, F given, int dimension,
                                                Bounds bounds) {
  constexpr int known = known_dimension<fixed, F>();
  const std::vector<double> data = data_of(given);
  const auto make = [given = std::move(given), dimension](View1<const double> values) {
    return density_from<known>(functor_on(given, values), dimension);
  };
  const auto prototype = make(view_of(data));
  require_dimension(name, dimension_of(prototype), dimension);
  return make_density_objective(
      std::move(name), make_source<Source>(prototype, make, data, has_parts<FunctorOf<F>>()),
      bounds.lower, bounds.upper);
}

template <template <class> class Source, int fixed, int coordinates, class F>
Problem make_posterior(std::string name, F given, const Parameters& parameters) {
  constexpr int known = known_dimension<fixed, F>();
  const std::vector<double> data = data_of(given);
  const auto make = [given = std::move(given),
                     layout = parameters.layout()](View1<const double> values) {
    return constrained<coordinates>(density_from<known>(functor_on(given, values), layout.values),
                                    layout);
  };
  const auto prototype = make(view_of(data));
  require_values(name, dimension_of(prototype.density), parameters.values());
  if constexpr (coordinates > 0) {
    require_dimension(name, coordinates, parameters.dimension());
  }
  const Bounds everywhere;
  return kiln::make_posterior(
      make_density_objective(std::move(name),
                             make_source<Source>(prototype, make, data, has_parts<FunctorOf<F>>()),
                             everywhere.lower, everywhere.upper),
      parameters.quantities());
}

/// The dimension that a functor declares, for calls without one.
template <int fixed, class F>
int declared_dimension(const F& given) {
  if constexpr (known_dimension<fixed, F>() > 0) {
    return known_dimension<fixed, F>();
  } else {
    static_assert(
        requires(const FunctorOf<F>& f) { f.dimension(); },
        "give the dimension: make_...(name, functor, dimension, bounds)");
    return functor_of(given).dimension();
  }
}

}  // namespace functor

/// Makes an objective from a functor, on the CPU. The functor is one of
///
///     double operator()(const double* x, double* gradient) const;   // gradient may be null
///     template <class T> T operator()(const T* x) const;            // T: double or Dual<n>
///
/// or a density (kiln/device/density.hpp), or with_data(values, make) around one of them. The
/// second form needs a dimension that the compiler knows: `static constexpr int fixed_dimension` of
/// the functor, or make_functor_objective<3>(...); it may return Parts<T>.
/// @throws InvalidArgument for a dimension below 1 or other than the functor's, or bounds out of
/// order.
template <int fixed = 0, class F>
std::shared_ptr<const Objective> make_functor_objective(std::string name, F given, int dimension,
                                                        Bounds bounds = {}) {
  return functor::make_objective<functor::FunctorSource, fixed>(std::move(name), std::move(given),
                                                                dimension, bounds);
}
template <int fixed = 0, class F>
std::shared_ptr<const Objective> make_functor_objective(std::string name, F given,
                                                        Bounds bounds = {}) {
  const int dimension = functor::declared_dimension<fixed>(given);
  return functor::make_objective<functor::FunctorSource, fixed>(std::move(name), std::move(given),
                                                                dimension, bounds);
}

/// Makes a posterior. The functor returns the negative log density and reads the values of
/// `parameters`, which are sampled in unconstrained coordinates, with the Jacobian. `fixed` is the
/// number of values, `coordinates` the value of Parameters::dimension(), if the compiler should
/// know them.
/// @throws InvalidArgument if the functor reads another number of values.
template <int fixed = 0, int coordinates = 0, class F>
Problem make_functor_posterior(std::string name, F given, const Parameters& parameters) {
  return functor::make_posterior<functor::FunctorSource, fixed, coordinates>(
      std::move(name), std::move(given), parameters);
}

}  // namespace kiln
