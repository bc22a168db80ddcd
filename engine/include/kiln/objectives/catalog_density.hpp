// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kiln/objectives/density_objective.hpp"
#include "kiln/objectives/functor_arrays.hpp"

namespace kiln {

/// The source of a density that backends know by its name, with its arrays, see FunctorArrays:
///
///     auto source = std::make_shared<CatalogDensitySource<MyDensity>>(MyDensity{n}, true);
///     source->array(&MyDensity::y, std::move(y));
template <class Density>
class CatalogDensitySource final : public DensitySource {
 public:
  /// @param density  the functor, without its arrays
  /// @param parts  whether base and term are separate.
  explicit CatalogDensitySource(Density density, bool parts) : arrays_(density), parts_(parts) {}

  /// Sets a pointer of the functor to these values; call it before the source is used.
  template <class T>
  CatalogDensitySource& array(const T* Density::*member, std::vector<T> values) {
    arrays_.array(member, std::move(values));
    return *this;
  }

  /// The functor with host pointers.
  const Density& on_host() const { return arrays_.on_host(); }

  int dimension() const override { return dimension_of(on_host()); }
  int workspace() const override { return on_host().workspace(); }
  int fixed_dimension() const override { return Density::fixed_dimension; }
  bool works_by_coordinates() const override { return kiln::works_by_coordinates<Density>; }
  bool cuda() const override { return true; }
  bool has_parts() const override { return parts_; }
  std::uint64_t device_bytes() const override { return arrays_.bytes(); }

  std::unique_ptr<BoundDensity> bind(Queue& queue) const override {
    DeviceBundle bundle;
    const Density density = arrays_.bind(queue, bundle);
    return std::make_unique<Bound>(DensityRef(density), std::move(bundle));
  }

  EnergyParts evaluate(std::span<const double> x, std::span<double> gradient) const override {
    return evaluate_on_host(on_host(), x, gradient);
  }

 private:
  struct Bound final : BoundNamedFunctor<DensityFamily> {
    Bound(const DensityRef& ref, DeviceBundle arrays)
        : BoundNamedFunctor(ref), bundle(std::move(arrays)) {}
    DeviceBundle bundle;
  };

  FunctorArrays<Density> arrays_;
  bool parts_;
};

}  // namespace kiln
