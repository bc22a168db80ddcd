// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "kiln/export.hpp"

namespace kiln {

/// Ability of objectives that know where a ladder over temperatures should end.
///
/// An anneal passes each temperature once and has to freeze at its end (Objective::beta_range). The
/// coldest replicas of a ladder stay at theirs and should still move.
class KILN_API EndsLadders {
 public:
  static constexpr std::string_view interface_name = "end of ladders";
  /// Inverse temperature of the coldest rung, in 1/stored energy, at most beta_range().cold.
  virtual double ladder_end() const = 0;

 protected:
  ~EndsLadders() = default;
};

}  // namespace kiln
