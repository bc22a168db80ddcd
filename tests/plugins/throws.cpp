// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "stand_still.hpp"

namespace {

void add(kiln::PluginRegistrar& plugin) {
  plugin.add(kiln::test::stand_still_entry());
  throw 42;  // after it has added everything
}

}  // namespace

KILN_PLUGIN("throws", "1.0", "a plug-in for tests", add)
