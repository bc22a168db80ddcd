// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kiln/problem.hpp"
#include "kiln/queue.hpp"

#include "bench/timing.hpp"

namespace kiln::cli {

/// An instance of a built-in family: "gset:G1", "k2000". @throws InvalidArgument
Problem make_instance(const std::string& name);

/// What the cases of a suite share while they are prepared.
class BenchContext {
 public:
  explicit BenchContext(Queue& queue) : queue_(queue) {}
  Queue& queue() { return queue_; }
  bool cuda() const { return queue_.can_capture(); }
  /// An instance of a family, "gset:G1"; made once, however many cases use it.
  const Problem& problem(const std::string& name);

 private:
  Queue& queue_;
  std::map<std::string, Problem> problems_;
};

/// A kernel with its arguments on a device, ready to be launched.
struct PreparedKernel {
  Launches launches;    ///< own, through captured shared pointers, all device memory they need
  double bytes = 0;     ///< that one launch moves at least: each value it needs once, in and out
  double attempts = 0;  ///< of one launch, for a sweep
  std::int64_t replicas = 0;  ///< where their number depends on the device; 0: see the shape
  double gradients = 0;       ///< of one launch, for a transition: of one chain each, over all data
  double points = 0;          ///< of one launch, for a search of neighbours: of all problems
};

/// One row of the suite `kernels`.
struct KernelCase {
  std::string shape;  ///< "gset:G22", "1000 groups"
  std::function<PreparedKernel(BenchContext&)> prepare;
  std::optional<double> gate_us = std::nullopt;  ///< on a GPU it must not take longer
};

/// The cases of a kernel. There is no general form: each kernel of the catalogue has a
/// specialisation in kernels/<component>/<name>.cpp, and one that is missing is named by the
/// linker.
template <class Kernel>
std::vector<KernelCase> bench_cases();

}  // namespace kiln::cli
