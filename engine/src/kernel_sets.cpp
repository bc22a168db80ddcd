// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <string>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernel_set.hpp"

namespace kiln {

std::size_t component_number(std::string_view name) {
  static std::mutex mutex;
  static std::vector<std::string> names;
  const std::lock_guard lock(mutex);
  const auto known = std::find(names.begin(), names.end(), name);
  if (known != names.end()) return static_cast<std::size_t>(known - names.begin());
  names.emplace_back(name);
  return names.size() - 1;
}

void KernelSets::add(const char* component, std::shared_ptr<const void> set) {
  const std::size_t number = component_number(component);
  if (number >= sets_.size()) sets_.resize(number + 1);
  if (sets_[number] != nullptr) {
    throw InvalidArgument(
        "kernel.component_known",
        "the backend has kernels of the component '" + std::string(component) + "' already",
        "add a kernel set once, and give each component a unique name");
  }
  sets_[number] = std::move(set);
}

void KernelSets::refuse(const char* component) {
  throw InvalidArgument(
      "kernel.component_missing",
      "the backend has no kernels of the component '" + std::string(component) + "'",
      "add its kernel set with Backend::add_kernels() before the run is made");
}

Backend::Backend() : Backend(KernelSets{}) {}
Backend::Backend(KernelSets kernels)
    : kernels_(std::make_shared<const KernelSets>(std::move(kernels))) {}
Backend::~Backend() = default;

std::shared_ptr<const KernelSets> Backend::kernels() const {
  const std::lock_guard lock(mutex_);
  return kernels_;
}

void Backend::replace_kernels(FunctionRef<void(KernelSets&)> change) {
  const std::lock_guard lock(mutex_);
  auto changed = std::make_shared<KernelSets>(*kernels_);
  change(*changed);
  kernels_ = std::move(changed);
}

}  // namespace kiln
