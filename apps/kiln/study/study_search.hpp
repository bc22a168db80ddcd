// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "study/study_folder.hpp"

namespace kiln::cli {

/// The next points of a study, which are in its journal then, and the state of the search in
/// search.state. They are those of a BayesianOptimizer that was asked and told what the journal
/// says. Wants a StudyLock.
/// @throws ObjectiveError `study.complete` where the space, or the study, has no further point
/// @throws SelfCheckError `study.replay` if a search does not find the points of the journal
std::vector<StudyPoint> next_points(const StudyFolder& folder, StudyRecord& record,
                                    std::int64_t count);

}  // namespace kiln::cli
