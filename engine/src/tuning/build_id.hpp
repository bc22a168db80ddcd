// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {

/// Identifies the build of the library or program that holds an object with static storage: the
/// hexadecimal digits of its build ID, which the linker computes from all of its contents. "" where
/// it has none.
std::string build_id_of(const void* object);

}  // namespace kiln
