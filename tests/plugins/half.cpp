// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "stand_still.hpp"

namespace {

void add(kiln::PluginRegistrar& plugin) {
  plugin.add(kiln::test::stand_still_entry("half-done"));
  try {
    plugin.add(kiln::test::stand_still_entry("half-done"));
  } catch (const kiln::InvalidArgument&) {  // goes on as if nothing had happened
  }
}

}  // namespace

KILN_PLUGIN("half", "1.0", "a plug-in for tests", add)
