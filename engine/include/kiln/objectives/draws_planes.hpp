// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/export.hpp"

namespace kiln {

/// How a sweep goes through the variables of a model.
struct SweepOrder {
  std::int32_t classes = 0;  ///< colour classes; 0: the variables are swept one by one
  double largest_sum = 0;    ///< max over variables of |h| + sum |J|, in stored units
};

/// Ability of objectives whose sweeps obey SweepArgs::naming.
class KILN_API DrawsPlanes {
 public:
  static constexpr std::string_view interface_name = "draws by planes";
  /// Why this model is none for DrawNaming::planes and DrawNaming::shared; "" if it is one. It
  /// depends on the model alone, never on the device.
  virtual std::string obstacle_to_planes() const = 0;
  virtual SweepOrder sweep_order() const = 0;

 protected:
  ~DrawsPlanes() = default;
};

}  // namespace kiln
