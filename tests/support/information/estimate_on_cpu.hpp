// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/information/estimate_information.hpp"

namespace kiln::test {

/// A map by two threads of the CPU.
inline InformationMap estimate_on_cpu(const std::vector<Series>& columns,
                                      const InformationOptions& options,
                                      const InformationColumns& which = {}) {
  return estimate_information(columns, which, options, *open_backend("cpu", 2).backend);
}

}  // namespace kiln::test
