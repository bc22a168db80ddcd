// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/export.hpp"

namespace kiln {

/// The similarity of the categories of one axis: a covariance of the values that belong to them.
/// The square of the distance of two categories is 1 less their similarity.
struct CategorySimilarity {
  std::int64_t levels = 0;     ///< 0: unknown; all different categories are 1 apart
  std::vector<double> values;  ///< [levels][levels], symmetric, semi-definite, 1 on the diagonal
};

/// Similarity of names by their common substrings, for example of molecules by their formulas: over
/// all substrings of one to three characters, the sum of the smaller counts over the sum of the
/// larger ones. A twentieth belongs to each name alone, so that different names never have
/// similarity 1.
/// @throws InvalidArgument for an empty name.
/// @par Source  Ralaivola, Swamidass, Saigo, Baldi, Neural Networks 18 (2005) 1093 (the MinMax
/// kernel); for text in Gaussian processes Griffiths et al., NeurIPS 36 (2023).
KILN_API CategorySimilarity similarity_of_names(const std::vector<std::string>& names);

}  // namespace kiln
