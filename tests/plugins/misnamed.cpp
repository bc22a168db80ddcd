// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "stand_still.hpp"

namespace {

// No user could name this schedule: `a>b` is a pipeline.
void add(kiln::PluginRegistrar& plugin) { plugin.add(kiln::test::stand_still_entry("a>b")); }

}  // namespace

KILN_PLUGIN("misnamed", "1.0", "a plug-in for tests", add)
