// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/fronts/front.hpp"

namespace kiln {

/// Where members of a front lie beyond the reference point: how many, and a reference point beyond
/// all of them, as users give it. "" where none does.
std::string advice_on_reference(const Front& front);

}  // namespace kiln
