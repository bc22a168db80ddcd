// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/interfaces.hpp"

namespace kiln {

Queryable::~Queryable() = default;
const void* Queryable::find(const std::type_info&) const noexcept { return nullptr; }

}  // namespace kiln
