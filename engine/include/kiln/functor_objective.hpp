// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/density_objective.hpp"
#include "kiln/device/functor_density.hpp"
#include "kiln/parameters.hpp"

/// Objectives and posteriors from functors, on the CPU. With kiln/cuda/device_objective.cuh the
/// same functors run on GPUs too; see docs/guides/your_own_density.md.
namespace kiln {

/// Data beside a functor: `make(View1<const double>)` gives the functor that reads them, once for
/// the host and once for each device that they are uploaded to.
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

/// The functor that is called in the end, on the host's data.
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

/// `fixed`, or what the functor says.
template <int fixed, class F>
constexpr int known_dimension() {
  return fixed > 0 ? fixed : fixed_dimension_of<FunctorOf<F>>();
}

/// From a functor to its density.
template <int fixed, class F>
struct PlainMaker {
  static constexpr int known = known_dimension<fixed, F>();
  F given;
  int dimension;
  auto operator()(View1<const double> data) const {
    if constexpr (IsWithData<F>::value) {
      return density_from<known>(given.make(data), dimension);
    } else {
      return density_from<known>(given, dimension);
    }
  }
};
/// The same of constrained values.
template <int fixed, int coordinates, class F>
struct ConstrainedMaker {
  PlainMaker<fixed, F> plain;
  ParameterLayout layout;
  auto operator()(View1<const double> data) const {
    using Density = decltype(plain(data));
    return Constrained<Density, coordinates>{plain(data), layout};
  }
};

template <class F>
const std::vector<double>& data_of(const F& given) {
  if constexpr (IsWithData<F>::value) {
    return given.data;
  } else {
    static const std::vector<double> none;
    return none;
  }
}

/// A density with the data that it reads, in memory of a queue's device.
template <class Density, template <class> class Kernels>
class BoundWithData final : public BoundDensity {
 public:
  template <class Make>
  BoundWithData(const Make& make, const std::vector<double>& data, Queue& queue)
      : data_(queue, data), density_(make(std::as_const(data_).view())) {}

  void energy(const DensityEnergy& kernel, Queue& queue) const override {
    queue.count_launch();
    Kernels<Density>::energy(kernel, density_, queue);
  }
  void transition(const HmcTransition& kernel, Queue& queue) const override {
    queue.count_launch();
    Kernels<Density>::transition(kernel, density_, queue);
  }
  void nuts(const NutsTransition& kernel, Queue& queue) const override {
    queue.count_launch();
    Kernels<Density>::nuts(kernel, density_, queue);
  }
  void sweep(const DensitySweep& kernel, Queue& queue) const override {
    queue.count_launch();
    Kernels<Density>::sweep(kernel, density_, queue);
  }

 private:
  DeviceArray<double> data_;
  Density density_;
};

/// The source of a functor's density on the CPU.
template <class Make>
class FunctorSource : public DensitySource {
 public:
  using Density = decltype(std::declval<const Make&>()(View1<const double>{}));

  FunctorSource(Make make, std::vector<double> data, bool parts)
      : make_(std::move(make)), data_(std::move(data)), parts_(parts), host_(make_(host_view())) {}

  int dimension() const override { return dimension_of(host_); }
  int workspace() const override { return host_.workspace(); }
  int fixed_dimension() const override { return Density::fixed_dimension; }
  bool cuda() const override { return false; }
  bool has_parts() const override { return parts_; }
  std::uint64_t device_bytes() const override { return data_.size() * sizeof(double); }
  std::unique_ptr<BoundDensity> bind(Queue& queue) const override {
    return std::make_unique<BoundWithData<Density, CpuDensityKernels>>(make_, data_, queue);
  }
  EnergyParts evaluate(std::span<const double> x, std::span<double> gradient) const override {
    return evaluate_on_host(host_, x, gradient);
  }

 protected:
  Make make_;
  std::vector<double> data_;

 private:
  View1<const double> host_view() const {
    return {data_.data(), static_cast<std::int64_t>(data_.size())};
  }
  bool parts_;
  Density host_;
};

KILN_API void require_dimension(const std::string& name, int known, int given);
KILN_API void require_values(const std::string& name, int known, int values);

/// What make_functor_objective and make_device_objective share; Source is the only difference.
template <template <class> class Source, int fixed, class F>
std::shared_ptr<const Objective> make_objective(std::string name, F given, int dimension,
                                                Bounds bounds) {
  using Make = PlainMaker<fixed, F>;
  constexpr bool parts = has_parts<FunctorOf<F>>();
  const std::vector<double> data = data_of(given);
  auto source =
      std::make_shared<const Source<Make>>(Make{std::move(given), dimension}, data, parts);
  require_dimension(name, source->dimension(), dimension);
  return make_density_objective(std::move(name), std::move(source), bounds.lower, bounds.upper);
}

template <template <class> class Source, int fixed, int coordinates, class F>
Problem make_posterior(std::string name, F given, const Parameters& parameters) {
  using Make = ConstrainedMaker<fixed, coordinates, F>;
  constexpr bool parts = has_parts<FunctorOf<F>>();
  const std::vector<double> data = data_of(given);
  const Make make{{std::move(given), parameters.values()}, parameters.layout()};
  const View1<const double> view{data.data(), static_cast<std::int64_t>(data.size())};
  require_values(name, dimension_of(make(view).density), parameters.values());
  if constexpr (coordinates > 0) {
    require_dimension(name, coordinates, parameters.dimension());
  }
  auto source = std::make_shared<const Source<Make>>(make, data, parts);
  const double infinity = std::numeric_limits<double>::infinity();
  return kiln::make_posterior(
      make_density_objective(std::move(name), std::move(source), -infinity, infinity),
      parameters.quantities());
}

/// The dimension that a functor declares, for calls that leave it out.
template <int fixed, class F>
int declared_dimension(const F& given) {
  if constexpr (known_dimension<fixed, F>() > 0) {
    return known_dimension<fixed, F>();
  } else {
    static_assert(
        requires(const FunctorOf<F>& f) { f.dimension(); },
        "say the dimension: make_...(name, functor, dimension, bounds)");
    return functor_of(given).dimension();
  }
}

}  // namespace functor

/// An objective from a functor, on the CPU. The functor is one of
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

/// A posterior to be sampled: the functor gives minus its log density and reads the values of
/// `parameters`, which are sampled in unconstrained coordinates with the Jacobian that this needs.
/// `fixed` is the number of values, `coordinates` that of Parameters::dimension(), where they are
/// to be known to the compiler.
/// @throws InvalidArgument if the functor reads another number of values.
template <int fixed = 0, int coordinates = 0, class F>
Problem make_functor_posterior(std::string name, F given, const Parameters& parameters) {
  return functor::make_posterior<functor::FunctorSource, fixed, coordinates>(
      std::move(name), std::move(given), parameters);
}

}  // namespace kiln
