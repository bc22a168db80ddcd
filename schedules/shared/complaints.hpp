// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

// What is wrong with the options of a schedule: all of it is collected, then said at once.
namespace kiln {

/// Adds a complaint if `low` is above `high`.
void complain_unless_ordered(std::vector<std::string>& complaints, const std::string& low_name,
                             double low, const std::string& high_name, double high);

/// The same for the range of inverse temperatures of `options`; a beta_max of 0 is still open.
template <class Options>
void complain_about_betas(std::vector<std::string>& complaints, const Options& options) {
  if (options.beta_max <= 0) return;
  complain_unless_ordered(complaints, "beta_min", options.beta_min, "beta_max", options.beta_max);
}

/// @throws InvalidArgument with all complaints, one a line, if there are any.
void refuse_if_any(const std::vector<std::string>& complaints);

}  // namespace kiln
