// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/information/information_map.hpp"
#include "kiln/information/options.hpp"

#include "ksg_estimator.hpp"

namespace kiln {

/// Takes significance from links that the other significant sources of their targets explain: the
/// least significant link, given all others, is left out until all that remain are significant.
void keep_direct_links(const InformationColumns& which, const InformationOptions& options,
                       std::int32_t k, const SurrogatePlan& wish, KsgEstimator& estimator,
                       InformationMap& map);

}  // namespace kiln
