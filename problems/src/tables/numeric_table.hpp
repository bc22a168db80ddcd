// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "kiln/export.hpp"
#include "kiln/problems/numeric_table.hpp"

#include "tables/records.hpp"

namespace kiln::problems::detail {

/// read_numeric_table() with other limits: for the tests, which is why it is exported. The result
/// does not depend on the size of the blocks.
KILN_API NumericTable read_table_of_numbers(std::istream& in, const std::string& file_name,
                                            const NumericTableOptions& options, TableLimits limits);

}  // namespace kiln::problems::detail
