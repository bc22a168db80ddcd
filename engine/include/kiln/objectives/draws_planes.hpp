// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "kiln/export.hpp"

namespace kiln {

/// Ability of objectives whose sweeps obey SweepArgs::naming.
class KILN_API DrawsPlanes {
 public:
  static constexpr std::string_view interface_name = "draws by planes";
  /// Whether this model is one for DrawNaming::planes. It depends on the model alone, never on the
  /// device.
  virtual bool can_draw_by_planes() const noexcept = 0;

 protected:
  ~DrawsPlanes() = default;
};

}  // namespace kiln
