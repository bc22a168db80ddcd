// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/cuda/density_kernels.cuh"
#include "kiln/cuda/vector_function_kernels.cuh"
#include "kiln/objectives/functor_objective.hpp"
#include "kiln/objectives/vector_objective.hpp"

/// Makes objectives and posteriors from functors in a user's .cu file: one source for CPU and GPU.
/// Mark the functor's members KILN_HD. Its kernels are compiled into the program that includes this
/// header; Kiln's CUDA module is not linked.
namespace kiln {
namespace cuda::detail {

inline void check_runtime(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw CudaError("cuda.objective",
                  std::string("could not ") + what + ": " + cudaGetErrorString(error));
}

/// The device that holds a queue's memory.
inline int device_of(Queue& queue) {
  const DeviceArray<double> probe(queue, 1);
  cudaPointerAttributes attributes{};
  check_runtime(cudaPointerGetAttributes(&attributes, probe.data()), "find the queue's device");
  return attributes.device;
}

/// Makes a device current for a scope: kernels run on the current device.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    check_runtime(cudaGetDevice(&before_), "read the current device");
    if (device == before_) return;
    check_runtime(cudaSetDevice(device), "change to the queue's device");
    changed_ = true;
  }
  ~OnDevice() {
    if (changed_) static_cast<void>(cudaSetDevice(before_));
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// A density outside Kiln's module, with its data, on one device.
template <class Density>
class BoundOnDevice final : public BoundDensity {
 public:
  template <class Make>
  BoundOnDevice(const Make& make, const std::vector<double>& data, Queue& queue)
      : BoundDensity(FunctorKernels<DensityFamily>::from<Counted<Launchers>>(), this),
        data_(queue, data),
        density_(make(std::as_const(data_).view())),
        device_(device_of(queue)) {}

 private:
  struct Launchers {
    template <class Kernel>
    static void launch(const Kernel& kernel, const void* self, Queue& queue) {
      const auto& bound = *static_cast<const BoundOnDevice*>(self);
      const OnDevice current(bound.device_);
      DensityKernels<Density>::run(kernel, bound.density_, queue);
    }
  };

  DeviceArray<double> data_;
  Density density_;
  int device_;
};

/// The source of a functor's density on the CPU and on GPUs.
template <class Density>
class DeviceFunctorSource final : public functor::FunctorSource<Density> {
 public:
  using Base = functor::FunctorSource<Density>;
  static_assert(std::is_trivially_copyable_v<Density>,
                "a functor for GPUs is copied to the device byte by byte: it may hold numbers, "
                "arrays and views (see with_data), no std::vector or std::function");
  using Base::Base;

  bool cuda() const override { return true; }
  std::unique_ptr<BoundDensity> bind(Queue& queue) const override {
    if (queue.on_cpu()) return Base::bind(queue);
    return std::make_unique<BoundOnDevice<Density>>(this->make_, this->data_, queue);
  }
};

/// The source of a vector function on the CPU and on GPUs.
template <class Function>
class DeviceVectorSource final : public FunctorVectorSource<Function> {
 public:
  using Base = FunctorVectorSource<Function>;
  using Base::Base;

  bool cuda() const override { return true; }
  std::unique_ptr<BoundVectorFunction> bind(Queue& queue) const override {
    if (queue.on_cpu()) return Base::bind(queue);
    return std::make_unique<Bound>(*this->arrays_, queue);
  }

 private:
  struct Bound final : BoundVectorFunction {
    Bound(const FunctorArrays<Function>& arrays, Queue& queue)
        : BoundVectorFunction(FunctorKernels<VectorFunctionFamily>::from<Counted<Launchers>>(),
                              this),
          function(arrays.bind(queue, bundle)),
          device(device_of(queue)) {}
    DeviceBundle bundle;
    Function function;
    int device;
  };
  struct Launchers {
    template <class Kernel>
    static void launch(const Kernel& kernel, const void* self, Queue& queue) {
      const auto& bound = *static_cast<const Bound*>(self);
      const OnDevice current(bound.device);
      VectorFunctionKernels<Function>::run(kernel, bound.function, queue);
    }
  };
};

}  // namespace cuda::detail

/// make_functor_vector_objective for CPU and GPU, from a functor or one with its arrays: one GPU
/// thread per state.
template <class Function>
std::shared_ptr<const Objective> make_device_vector_objective(
    std::string name, const Space& space, std::shared_ptr<const FunctorArrays<Function>> function) {
  return make_vector_objective(
      std::move(name), space,
      std::make_shared<cuda::detail::DeviceVectorSource<Function>>(std::move(function)));
}
template <class Function>
std::shared_ptr<const Objective> make_device_vector_objective(std::string name, const Space& space,
                                                              Function function) {
  return make_device_vector_objective<Function>(
      std::move(name), space, std::make_shared<const FunctorArrays<Function>>(std::move(function)));
}

/// make_functor_objective for CPU and GPU: with `fixed` up to 32 each GPU thread has one chain,
/// else a warp or a block works on each.
template <int fixed = 0, class F>
std::shared_ptr<const Objective> make_device_objective(std::string name, F given, int dimension,
                                                       Bounds bounds = {}) {
  return functor::make_objective<cuda::detail::DeviceFunctorSource, fixed>(
      std::move(name), std::move(given), dimension, bounds);
}
template <int fixed = 0, class F>
std::shared_ptr<const Objective> make_device_objective(std::string name, F given,
                                                       Bounds bounds = {}) {
  const int dimension = functor::declared_dimension<fixed>(given);
  return functor::make_objective<cuda::detail::DeviceFunctorSource, fixed>(
      std::move(name), std::move(given), dimension, bounds);
}

/// make_functor_posterior for CPU and GPU: with `coordinates` up to 32 each GPU thread has one
/// chain.
template <int fixed = 0, int coordinates = 0, class F>
Problem make_device_posterior(std::string name, F given, const Parameters& parameters) {
  return functor::make_posterior<cuda::detail::DeviceFunctorSource, fixed, coordinates>(
      std::move(name), std::move(given), parameters);
}

}  // namespace kiln
