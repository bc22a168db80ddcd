// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/schedule.hpp"

namespace kiln {

Schedule::~Schedule() = default;
void Schedule::initialize(InitializeContext&) {}
void Schedule::annotate(ReportPoint&) const {}
void Schedule::descend(DescendContext&) {}
void Schedule::report(ReportContext&, Result&) {}
void Schedule::save(Archive&) const {}
void Schedule::load(const Archive&) {}

}  // namespace kiln
