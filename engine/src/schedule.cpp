// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedule.hpp"

namespace kiln {

Schedule::~Schedule() = default;
void Schedule::finish(Run&) {}
void Schedule::report(Run&, Result&) {}

}  // namespace kiln
