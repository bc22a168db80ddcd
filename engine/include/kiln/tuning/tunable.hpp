// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// Maximum number of parameters of a tunable.
inline constexpr std::size_t max_shape_parameters = 4;

/// Values of the parameters of a tunable, in their order; places beyond the last parameter hold 0.
using LaunchShape = std::array<std::int32_t, max_shape_parameters>;

/// One parameter of a launch, with the values that may be tried.
struct ShapeParameter {
  std::string name;
  std::vector<std::int32_t> values;
};

/// Limits of a device that constraints of shapes depend on.
struct ShapeLimits {
  bool gpu = false;
  int parallel_units = 1;         ///< multiprocessors, or CPU threads
  int max_block_threads = 1024;   ///< of a GPU
  std::int64_t shared_bytes = 0;  ///< of a GPU: shared memory that one block can have
};

/// Declares a choice of a launcher that `kiln tune` may measure. Every shape of a tunable gives the
/// same bits: thread-block sizes and the like, never an order of summation.
struct TunableDescription {
  std::string name;  ///< unique on the GPU or the CPU; the kernel's name, with a suffix if a kernel
                     ///< has several
  std::string kernel;  ///< the kernel of the catalogue that is launched
  bool gpu = true;     ///< whose launcher: of the GPU or of the CPU
  std::string size;    ///< what the launcher passes to find() as the size: "replicas"
  int version = 1;     ///< raise it if the meaning of a parameter changes
  std::vector<ShapeParameter> parameters;  ///< at most max_shape_parameters
  /// The shape without a tuned one; none if the launcher computes a shape for each launch.
  std::optional<LaunchShape> default_shape = std::nullopt;
  /// Whether a device can run a shape at all; null: any. What depends on the arguments of a launch
  /// is checked by the launcher, which then calls TunedShapes::decline().
  bool (*allows)(const LaunchShape& shape, const ShapeLimits& limits) = nullptr;
};

/// A declared tunable. Define one with static storage in the file of its launcher: it is registered
/// as long as it lives, in the order of construction.
class KILN_API Tunable {
 public:
  /// @throws InvalidArgument `tune.declaration` for a name that is taken, no parameter or too many,
  /// a parameter without values, or a default shape that is not allowed anywhere
  explicit Tunable(TunableDescription description);
  ~Tunable();
  Tunable(const Tunable&) = delete;
  Tunable& operator=(const Tunable&) = delete;

  const TunableDescription& description() const noexcept { return description_; }
  const std::string& name() const noexcept { return description_.name; }
  /// Place in the tables of TunedShapes; never used again.
  std::size_t id() const noexcept { return id_; }

  /// Number of all combinations of values.
  std::int64_t combinations() const noexcept;
  /// A combination. The last parameter changes fastest.
  LaunchShape combination(std::int64_t number) const;
  /// Why a device cannot run a shape: "threads=4096 is none of 64, 128, 256"; "" if it can.
  std::string refusal(const LaunchShape& shape, const ShapeLimits& limits) const;
  /// "words=4 warps=8".
  std::string text_of(const LaunchShape& shape) const;
  /// 16 hexadecimal digits that change with the name, the version, the parameters, the version of
  /// Kiln, or the build of the library that holds this object.
  const std::string& hash() const noexcept { return hash_; }

 private:
  TunableDescription description_;
  std::size_t id_ = 0;
  std::string hash_;
};

/// The registered tunables of GPUs or of the CPU, in the order of construction. Load plug-ins and
/// open devices before.
KILN_API std::vector<const Tunable*> tunables(bool gpu);

/// Half-decade of a size: 0 for 1 .. 3, 1 for 4 .. 9, 2 for 10 .. 31, 3 for 32 .. 99, ...; sizes
/// below 1 count as 1.
KILN_API int size_bucket(std::int64_t size) noexcept;
/// Sizes of a bucket: "10..31".
KILN_API std::string bucket_text(int bucket);

}  // namespace kiln
