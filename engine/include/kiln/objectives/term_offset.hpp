// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "kiln/export.hpp"

namespace kiln {

/// Ability of objectives with a parameter, E_lambda = A + lambda B, whose stored energies omit the
/// constant of B.
class KILN_API TermOffset {
 public:
  static constexpr std::string_view interface_name = "term offset";
  /// The constant, in the user's units of energy per unit of lambda.
  virtual double term_offset() const = 0;

 protected:
  ~TermOffset() = default;
};

}  // namespace kiln
