// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/problems/model_data.hpp"

namespace kiln::problems {

// Data that are small and public enough to come with their models, as posteriordb has them
// (https://github.com/stan-dev/posteriordb, BSD-3-Clause).

/// Rubin, J. Educ. Stat. 6 (1981) 377.
ModelData eight_schools_data();
/// Mean summer temperatures at Kilpisjarvi 1952 .. 2013, by the Finnish Meteorological Institute;
/// years + 2000.
ModelData kilpisjarvi_data();
/// The made-up points of gp_regr and gp_pois_regr.
ModelData gaussian_process_data();
/// Pelts of lynx and hare, in thousands, 1900 .. 1920, from the Hudson's Bay Company.
ModelData lynx_hare_data();

}  // namespace kiln::problems
