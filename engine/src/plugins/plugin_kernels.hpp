// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kiln/backend.hpp"

namespace kiln {

/// Kernels of a plug-in for one kind of device.
struct PluginKernels {
  bool gpu = false;
  std::string name;  ///< of the component, or of a functor with its family
  std::function<void(Backend&)> add;
};

/// Whether kernels of that name are known for that kind of device: those of Kiln, or of a plug-in.
bool has_plugin_kernels(bool gpu, const std::string& name);

/// Keeps kernels for the life of the process. Thread-safe.
void keep_plugin_kernels(std::vector<PluginKernels> kernels);

/// Adds all that are kept to a backend that was just opened.
void add_plugin_kernels(Backend& backend);

}  // namespace kiln
