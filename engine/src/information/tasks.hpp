// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kiln/information/information_map.hpp"
#include "kiln/information/options.hpp"

#include "columns.hpp"

namespace kiln {

/// The links that a request asks for, by target, source and lag, without estimates.
/// @throws InvalidArgument for numbers that are no columns, and for a request without links
std::vector<InformationLink> links_of(const std::vector<Series>& columns,
                                      const InformationColumns& which,
                                      const InformationOptions& options);

/// What a link is an estimate of.
InformationTask task_of(const InformationLink& link, const InformationColumns& which,
                        const InformationOptions& options);

/// @throws InvalidArgument for an option out of its range, or one that the measure has no use for
void check_options(const InformationOptions& options, std::int64_t rows);

/// Whether the measure is the same from source to target and back.
bool is_symmetric(InformationMeasure measure);
/// Whether the measure is estimated from bins.
bool is_binned(InformationMeasure measure);
/// Whether the measure is of one column alone.
bool is_of_one_column(InformationMeasure measure);

}  // namespace kiln
