// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "stand_still.hpp"

namespace {

void add(kiln::PluginRegistrar& plugin) {
  plugin.add(kiln::test::stand_still_entry("new-name"));
  plugin.add(kiln::test::stand_still_entry("hmc"));
}

}  // namespace

KILN_PLUGIN("taken", "1.0", "a plug-in for tests", add)
