// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

namespace kiln::test {

/// Mean and standard deviation of a quantity under its posterior.
struct Truth {
  std::string_view quantity;  ///< as in Posterior::quantities
  double mean = 0;
  double sd = 0;
};

/// What is known of a posterior.
struct PosteriorTruth {
  std::string_view problem;    ///< "posterior:eight-schools"
  std::string_view data_file;  ///< below $KILN_DATA; "" if the model has its data
  /// Independent draws that the numbers rest on: their means are good to 1 / sqrt(draws) standard
  /// deviations. 0: exact.
  double draws = 0;
  std::vector<Truth> truths;
};

/// Means and standard deviations from posteriordb (https://github.com/stan-dev/posteriordb,
/// BSD-3-Clause), for German credit from Inference Gym (Apache-2.0), and of laws that are known
/// exactly.
const std::vector<PosteriorTruth>& posterior_truths();

/// The folder that the environment variable KILN_DATA names, "" without one.
std::string_view data_folder();

}  // namespace kiln::test
