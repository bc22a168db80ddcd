// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "stand_still.hpp"

namespace {

void add(kiln::PluginRegistrar& plugin) {
  plugin.add(kiln::test::stand_still_entry());
  plugin.add_cpu_kernels(kiln::test::count_ticks_on_cpu());
}

}  // namespace

KILN_PLUGIN("fine", "1.0", "a plug-in for tests", add)
