// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kiln/errors.hpp"
#include "kiln/objective.hpp"

namespace kiln {

/// @throws InvalidArgument `objective.ability`: the objective lacks what the interface is for.
[[noreturn]] inline void refuse_ability(const Objective& objective, std::string_view ability,
                                        std::string purpose = {}, Fix fix = {}) {
  throw InvalidArgument(
      "objective.ability",
      "objective '" + objective.name() + "' does not offer " + std::string(ability),
      std::move(purpose), std::move(fix));
}

}  // namespace kiln
