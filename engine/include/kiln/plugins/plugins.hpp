// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/registry.hpp"

namespace kiln {

/// A plug-in that was loaded, and what it added.
struct PluginInfo {
  std::string name;
  std::string version;
  std::string summary;
  std::filesystem::path path;             ///< absolute, links resolved
  std::vector<std::string> schedules;     ///< names
  std::vector<std::string> problems;      ///< names of families
  std::vector<std::string> cpu_kernels;   ///< components, and functors as "family name"
  std::vector<std::string> cuda_kernels;  ///< the same with kernels for GPUs
};

/// Loads a plug-in: adds its schedules and problem families to a registry, and its kernels to each
/// device that this process opens later. So load plug-ins before you make an Engine. Either all of
/// it is added or nothing. The library is never closed. Thread-safe but for the registry.
///
/// The code of a plug-in has the rights of the process. The file is refused, before any of its code
/// runs, if users other than this one and the administrator can write to it or to its folder.
///
/// @throws PluginError: `plugin.missing` (no such file), `plugin.owner`, `plugin.entry` (not a
///   plug-in), `plugin.abi`, `plugin.version` (compiled with other headers of Kiln), `plugin.open`
///   (the system cannot open it), `plugin.taken` (a name is taken), `plugin.failed` (it threw)
KILN_API PluginInfo load_plugin(const std::filesystem::path& path, Registry& registry);

/// The folder where plug-ins are installed, beside libkiln: `LIBDIR/kiln/plugins`. Empty in a
/// static build, which has no plug-ins.
KILN_API std::filesystem::path plugin_folder();

/// The files `*.so` in plugin_folder(), and those that the environment variable KILN_PLUGIN_PATH
/// names: files, and folders whose files `*.so` are meant, separated by colons. Sorted within a
/// folder; each file once.
KILN_API std::vector<std::filesystem::path> find_plugins();

}  // namespace kiln
