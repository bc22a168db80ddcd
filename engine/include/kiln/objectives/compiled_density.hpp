// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "kiln/device/density.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// The GPU code of a density that is compiled while the program runs. A backend asks for it kernel
/// by kernel, because most runs need two of them. Thread-safe.
class KILN_API CompiledCode {
 public:
  CompiledCode() = default;
  virtual ~CompiledCode();
  CompiledCode(const CompiledCode&) = delete;
  CompiledCode& operator=(const CompiledCode&) = delete;

  /// The device code of a kernel, a cubin. The kernel's name in it is `kernel`.
  /// @param kernel  Kernel::name
  /// @param form  "thread", "lanes" (four), "warp" or "block": the threads of a chain
  /// @param architecture  90 for compute capability 9.0
  /// @throws Error if it does not compile
  virtual std::string gpu_code(std::string_view kernel, std::string_view form,
                               int architecture) const = 0;

  /// What the backend made of a piece of code, by its name; made by `load` if it is not there.
  std::shared_ptr<void> loaded(const std::string& name,
                               const std::function<std::shared_ptr<void>()>& load) const;

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<void>> loaded_;
};

/// A density whose code is not part of Kiln: a function on the host, and CompiledCode for GPUs. All
/// term, no base. The objects that it points to live as long as its objective.
struct CompiledDensity {
  static constexpr const char* name = "compiled";
  static constexpr int fixed_dimension = 0;

  /// The value at x. Writes [n] partial derivatives unless `gradient` is null.
  using Function = double (*)(const double* x, double* gradient);

  int n = 0;
  Function function = nullptr;
  const CompiledCode* code = nullptr;

  int dimension() const { return n; }
  int workspace() const { return 0; }

  /// On the host only: GPUs have CompiledCode.
  template <Want want, class Team>
  EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    double* const gradient = wants_gradient(want) ? at.gradient : nullptr;
    const double value = function(at.x, gradient);
    for (int i = 0; gradient != nullptr && i < n; ++i) gradient[i] *= at.weights.term;
    team.sync();
    return {0, value};
  }
};

}  // namespace kiln
