// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "diagnosis/diagnosis.hpp"

// How the series of a run are spread over tables and documents.
namespace kiln::cli {

/// Rungs of the ladder of a run that has one.
std::size_t rungs_of(const Diagnosis& run);

/// The series with a number per rung, in the order of the table; what is not known comes last.
std::vector<std::string> columns_of_rungs(const Diagnosis& run);

/// What is in neither table of a ladder; everything for other runs.
std::map<std::string, std::vector<Number>> remaining_series(const Diagnosis& run);

}  // namespace kiln::cli
