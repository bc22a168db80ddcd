// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/fronts/front.hpp"
#include "kiln/objective.hpp"
#include "kiln/objectives/functor_arrays.hpp"
#include "kiln/objectives/vector_function_kernels_impl.hpp"
#include "kiln/problem.hpp"

namespace kiln {

/// A vector function as the engine sees it on the host. Immutable.
class KILN_API VectorFunctionSource {
 public:
  virtual ~VectorFunctionSource();
  virtual int objectives() const = 0;
  virtual int constraints() const = 0;
  virtual bool cuda() const = 0;  ///< whether it runs on a GPU, too
  /// Host, if an evaluation may take any time: a user's callable.
  virtual Pace pace() const { return Pace::device; }
  /// Bytes that bind() uploads.
  virtual std::uint64_t device_bytes() const { return 0; }
  virtual std::unique_ptr<BoundVectorFunction> bind(Queue& queue) const = 0;
  /// Computes objectives and constraints of one state, all variables as numbers.
  virtual void evaluate(std::span<const double> x, std::span<double> f,
                        std::span<double> g) const = 0;
};

/// The source of a vector function that backends know by its name, with its arrays, see
/// FunctorArrays.
template <class Function>
class CatalogVectorFunctionSource final : public VectorFunctionSource {
 public:
  explicit CatalogVectorFunctionSource(Function function) : arrays_(function) {}

  /// Sets a pointer of the functor to these values; call it before the source is used.
  template <class T>
  CatalogVectorFunctionSource& array(const T* Function::*member, std::vector<T> values) {
    arrays_.array(member, std::move(values));
    return *this;
  }

  /// The functor with host pointers.
  const Function& on_host() const { return arrays_.on_host(); }

  int objectives() const override { return on_host().objectives(); }
  int constraints() const override { return on_host().constraints(); }
  bool cuda() const override { return true; }
  std::uint64_t device_bytes() const override { return arrays_.bytes(); }
  std::unique_ptr<BoundVectorFunction> bind(Queue& queue) const override {
    DeviceBundle bundle;
    const Function function = arrays_.bind(queue, bundle);
    return std::make_unique<Bound>(VectorFunctionRef(function), std::move(bundle));
  }
  void evaluate(std::span<const double> x, std::span<double> f,
                std::span<double> g) const override {
    on_host()(ValuesPoint{x.data()}, f.data(), g.data());
  }

 private:
  struct Bound final : BoundNamedFunctor<VectorFunctionFamily> {
    Bound(const VectorFunctionRef& ref, DeviceBundle arrays)
        : BoundNamedFunctor(ref), bundle(std::move(arrays)) {}
    DeviceBundle bundle;
  };

  FunctorArrays<Function> arrays_;
};

/// The source of a user's vector function on the CPU: a functor, see "A *vector function* is" in
/// kiln/device/vector_function.hpp, with its arrays if it has any.
template <class Function>
class FunctorVectorSource : public VectorFunctionSource {
 public:
  explicit FunctorVectorSource(std::shared_ptr<const FunctorArrays<Function>> arrays)
      : arrays_(std::move(arrays)) {}
  int objectives() const override { return arrays_->on_host().objectives(); }
  int constraints() const override { return arrays_->on_host().constraints(); }
  bool cuda() const override { return false; }
  std::uint64_t device_bytes() const override { return arrays_->bytes(); }
  std::unique_ptr<BoundVectorFunction> bind(Queue&) const override {
    return std::make_unique<Bound>(arrays_);
  }
  void evaluate(std::span<const double> x, std::span<double> f,
                std::span<double> g) const override {
    arrays_->on_host()(ValuesPoint{x.data()}, f.data(), g.data());
  }

 protected:
  std::shared_ptr<const FunctorArrays<Function>> arrays_;

 private:
  struct Bound final : BoundVectorFunction {
    explicit Bound(std::shared_ptr<const FunctorArrays<Function>> a)
        : BoundVectorFunction(FunctorKernels<VectorFunctionFamily>::from<
                                  Counted<CpuVectorFunctionKernels<Function>>>(),
                              &a->on_host()),
          arrays(std::move(a)) {}
    std::shared_ptr<const FunctorArrays<Function>> arrays;
  };
};

/// Makes a vector-valued objective from a vector function, with `space.outputs()` values.
/// @throws InvalidArgument for fewer than 2 or more than max_objectives objectives, more than
/// max_constraints constraints, or reals without bounds, which cannot be varied.
KILN_API std::shared_ptr<const Objective> make_vector_objective(
    std::string name, const Space& space, std::shared_ptr<const VectorFunctionSource> source);

/// Writes the objectives, all minimised, and constraints, met where at most 0, of a state.
using HostVectorCallable =
    std::function<void(StateSpan, std::span<double> objectives, std::span<double> constraints)>;

/// Makes a vector-valued objective from a host callable. It runs on the CPU backend only, states in
/// parallel if `thread_safe`. Exceptions of the function end the run as ObjectiveError; states with
/// a NaN are counted and never on a front.
KILN_API std::shared_ptr<const Objective> make_host_vector_objective(
    std::string name, const Space& space, int objectives, int constraints,
    HostVectorCallable function, bool thread_safe = true);

/// Makes a vector-valued objective from a functor, on the CPU; make_device_vector_objective() of
/// kiln/cuda/device_objective.cuh runs it on GPUs too.
template <class Function>
std::shared_ptr<const Objective> make_functor_vector_objective(
    std::string name, const Space& space, std::shared_ptr<const FunctorArrays<Function>> function) {
  return make_vector_objective(
      std::move(name), space, std::make_shared<FunctorVectorSource<Function>>(std::move(function)));
}
template <class Function>
std::shared_ptr<const Objective> make_functor_vector_objective(std::string name, const Space& space,
                                                               Function function) {
  return make_functor_vector_objective<Function>(
      std::move(name), space, std::make_shared<const FunctorArrays<Function>>(std::move(function)));
}

/// Makes a problem of several objectives. Fields missing in `objectives` are filled in: names f1,
/// f2, ..., nothing maximised, and `evaluate` from the objective. The single value of such a
/// problem is the hypervolume of its front, which is maximised.
/// @throws InvalidArgument if the objective has one value only, or a list of `objectives` has
/// another length.
KILN_API Problem make_multi_objective_problem(std::string name, std::string family,
                                              std::shared_ptr<const Objective> objective,
                                              Objectives objectives = {});

}  // namespace kiln
