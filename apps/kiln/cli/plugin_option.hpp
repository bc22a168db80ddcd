// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/plugins/plugins.hpp"
#include "kiln/registry.hpp"

#include "cli/arguments.hpp"

namespace kiln::cli {

/// A plug-in that was found, but not named by the user, and refused: the program does without it.
struct LeftOutPlugin {
  std::filesystem::path path;
  Error reason;
};

/// What the program knows beside its kernels: Kiln's schedules and problem families, those of
/// plug-ins that are installed or in KILN_PLUGIN_PATH, and those of plug-ins that --plugin names.
/// The first call loads the plug-ins that are found.
const Registry& known_registry();

const std::vector<PluginInfo>& known_plugins();
const std::vector<LeftOutPlugin>& left_out_plugins();

/// The option of every verb that takes schedules or problems by name; may be given several times.
const OptionSpec& plugin_spec();

/// Loads what --plugin names. @throws PluginError if one is refused
void load_plugins(const Arguments& arguments);

}  // namespace kiln::cli
