// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/memory/memory_account.hpp"
#include "kiln/objectives/device_bundle.hpp"

namespace kiln {

/// A functor with the arrays that its pointers refer to.
///
/// Made from a functor whose pointers are still null; array() sets the values of each. On the host
/// they point into this object; bind() uploads all arrays in one copy and returns the functor with
/// device pointers:
///
///     FunctorArrays<MyFunctor> arrays(MyFunctor{n});
///     arrays.array(&MyFunctor::y, std::move(y));
template <class Functor>
class FunctorArrays {
  static_assert(std::is_trivially_copyable_v<Functor>);

 public:
  explicit FunctorArrays(Functor functor) : functor_(functor) {}
  FunctorArrays(const FunctorArrays&) = delete;
  FunctorArrays& operator=(const FunctorArrays&) = delete;

  /// Sets a pointer of the functor to these values; call it before the functor is used.
  void array(const double* Functor::*member, std::vector<double> values) {
    attach(reals_, member, std::move(values));
  }
  void array(const std::int32_t* Functor::*member, std::vector<std::int32_t> values) {
    attach(integers_, member, std::move(values));
  }

  /// The functor with host pointers.
  const Functor& on_host() const { return functor_; }
  /// Device memory of the arrays in a bundle, each of which begins on a line.
  std::uint64_t bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& array : reals_) bytes += device_lines(array.values.size() * sizeof(double));
    for (const auto& array : integers_) {
      bytes += device_lines(array.values.size() * sizeof(std::int32_t));
    }
    return bytes;
  }

  /// The functor with pointers to a queue's device, in memory that `bundle` receives.
  Functor bind(Queue& queue, DeviceBundle& bundle) const {
    std::vector<DeviceBundle::Place<double>> reals;
    std::vector<DeviceBundle::Place<std::int32_t>> integers;
    for (const auto& array : reals_) reals.push_back(bundle.add(array.values));
    for (const auto& array : integers_) integers.push_back(bundle.add(array.values));
    if (!reals.empty() || !integers.empty()) bundle.upload(queue);
    Functor functor = functor_;
    for (std::size_t i = 0; i < reals.size(); ++i) {
      reals_[i].point(functor, bundle.view(reals[i]).data);
    }
    for (std::size_t i = 0; i < integers.size(); ++i) {
      integers_[i].point(functor, bundle.view(integers[i]).data);
    }
    return functor;
  }

 private:
  template <class T>
  struct Array {
    std::function<void(Functor&, const T*)> point;
    std::vector<T> values;
  };

  template <class T>
  void attach(std::vector<Array<T>>& arrays, const T* Functor::*member, std::vector<T> values) {
    arrays.push_back(
        {[member](Functor& functor, const T* data) { functor.*member = data; }, std::move(values)});
    // The values stay in place when the list of arrays grows.
    functor_.*member = arrays.back().values.data();
  }

  Functor functor_;
  std::vector<Array<double>> reals_;
  std::vector<Array<std::int32_t>> integers_;
};

}  // namespace kiln
