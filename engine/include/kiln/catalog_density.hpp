// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/density_objective.hpp"
#include "kiln/device_bundle.hpp"

namespace kiln {

/// The source of a density of the catalogue (kiln/densities/catalog.hpp) with its arrays.
///
/// Made from a functor whose pointers are still null; array() says what each of them is to point
/// to. On the host they point into this object, and bind() uploads all arrays in one piece and
/// makes the functor anew with the pointers of the device:
///
///     auto source = std::make_shared<CatalogDensitySource<MyDensity>>(MyDensity{n}, true);
///     source->array(&MyDensity::y, std::move(y));
template <class Density>
class CatalogDensitySource final : public DensitySource {
  static_assert(std::is_trivially_copyable_v<Density>);

 public:
  /// @param parts  whether base and term are both there.
  explicit CatalogDensitySource(Density density, bool parts) : density_(density), parts_(parts) {}
  CatalogDensitySource(const CatalogDensitySource&) = delete;
  CatalogDensitySource& operator=(const CatalogDensitySource&) = delete;

  /// Lets a pointer of the functor point to these values; before the source is used.
  CatalogDensitySource& array(const double* Density::*member, std::vector<double> values) {
    return attach(reals_, member, std::move(values));
  }
  CatalogDensitySource& array(const std::int32_t* Density::*member,
                              std::vector<std::int32_t> values) {
    return attach(integers_, member, std::move(values));
  }

  /// The functor with pointers of the host.
  const Density& on_host() const { return density_; }

  int dimension() const override { return dimension_of(density_); }
  int workspace() const override { return density_.workspace(); }
  int fixed_dimension() const override { return Density::fixed_dimension; }
  bool cuda() const override { return true; }
  bool has_parts() const override { return parts_; }
  std::uint64_t device_bytes() const override {
    std::uint64_t bytes = 0;
    for (const auto& array : reals_) bytes += array.values.size() * sizeof(double);
    for (const auto& array : integers_) bytes += array.values.size() * sizeof(std::int32_t);
    return bytes;
  }

  std::unique_ptr<BoundDensity> bind(Queue& queue) const override {
    DeviceBundle bundle;
    std::vector<DeviceBundle::Place<double>> reals;
    std::vector<DeviceBundle::Place<std::int32_t>> integers;
    for (const auto& array : reals_) reals.push_back(bundle.add(array.values));
    for (const auto& array : integers_) integers.push_back(bundle.add(array.values));
    if (!reals.empty() || !integers.empty()) bundle.upload(queue);
    Density density = density_;
    for (std::size_t i = 0; i < reals.size(); ++i) {
      density.*reals_[i].member = bundle.view(reals[i]).data;
    }
    for (std::size_t i = 0; i < integers.size(); ++i) {
      density.*integers_[i].member = bundle.view(integers[i]).data;
    }
    return std::make_unique<Bound>(DensityRef(density), std::move(bundle));
  }

  EnergyParts evaluate(std::span<const double> x, std::span<double> gradient) const override {
    return evaluate_on_host(density_, x, gradient);
  }

 private:
  template <class T>
  struct Array {
    const T* Density::*member;
    std::vector<T> values;
  };

  template <class T>
  CatalogDensitySource& attach(std::vector<Array<T>>& arrays, const T* Density::*member,
                               std::vector<T> values) {
    arrays.push_back({member, std::move(values)});
    // The values keep their place when the list of arrays grows.
    density_.*member = arrays.back().values.data();
    return *this;
  }

  struct Bound final : BoundCatalogDensity {
    Bound(const DensityRef& ref, DeviceBundle arrays)
        : BoundCatalogDensity(ref), bundle(std::move(arrays)) {}
    DeviceBundle bundle;
  };

  Density density_;
  bool parts_;
  std::vector<Array<double>> reals_;
  std::vector<Array<std::int32_t>> integers_;
};

}  // namespace kiln
