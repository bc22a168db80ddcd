// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/interfaces.hpp"

namespace kiln {

Queryable::~Queryable() = default;
std::string InterfaceSet::missing_in(const Queryable& object) const {
  for (const Member& member : members_) {
    if (object.find(*member.type) == nullptr) return member.name;
  }
  return {};
}

const void* Queryable::find(const std::type_info&) const noexcept { return nullptr; }

}  // namespace kiln
