// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "plugins/plugin_kernels.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "kiln/kernels/catalog.hpp"

namespace kiln {
namespace {

template <class... All>
bool is_one_of(const std::string& name, ComponentList<All...>) {
  return ((name == All::name) || ...);
}

struct Kept {
  std::mutex mutex;
  std::vector<PluginKernels> kernels;
};

Kept& kept() {
  static Kept* const all = new Kept;  // outlives the functions of plug-ins that it holds
  return *all;
}

}  // namespace

bool has_plugin_kernels(bool gpu, const std::string& name) {
  if (is_one_of(name, Components{})) return true;
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  return std::ranges::any_of(
      all.kernels, [&](const PluginKernels& one) { return one.gpu == gpu && one.name == name; });
}

void keep_plugin_kernels(std::vector<PluginKernels> kernels) {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  std::ranges::move(kernels, std::back_inserter(all.kernels));
}

void add_plugin_kernels(Backend& backend) {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  const bool gpu = backend.constants().gpu;
  for (const PluginKernels& one : all.kernels) {
    if (one.gpu == gpu) one.add(backend);
  }
}

}  // namespace kiln
