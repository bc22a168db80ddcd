// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <mutex>
#include <string>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernel_set.hpp"

namespace kiln {

namespace {

/// Names in the order in which they came. Those of functors begin with their family.
class Names {
 public:
  std::size_t number(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto known = std::find(names_.begin(), names_.end(), name);
    if (known != names_.end()) return static_cast<std::size_t>(known - names_.begin());
    names_.push_back(name);
    return names_.size() - 1;
  }
  std::string name(std::size_t number) {
    const std::lock_guard lock(mutex_);
    return number < names_.size() ? names_[number] : "";
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> names_;
};

Names& names() {
  static Names names;
  return names;
}

}  // namespace

std::size_t component_number(std::string_view name) {
  return names().number("component " + std::string(name));
}

std::uint32_t functor_number(const char* family, const char* name) {
  return static_cast<std::uint32_t>(names().number(std::string(family) + " " + name));
}

bool KernelSets::has(std::string_view component) const {
  const std::size_t number = component_number(component);
  return number < sets_.size() && sets_[number] != nullptr;
}

void KernelSets::add(std::size_t number, const char* name, std::shared_ptr<const void> set) {
  if (number >= sets_.size()) sets_.resize(number + 1);
  if (sets_[number] != nullptr) {
    throw InvalidArgument("kernel.component_known",
                          "the backend already has kernels of '" + std::string(name) + "'",
                          "add each component and each functor once, under a unique name");
  }
  sets_[number] = std::move(set);
}

void KernelSets::refuse_functor(const char* family, std::uint32_t number) {
  const std::string name = names().name(number);
  throw InvalidArgument("kernel.functor_missing",
                        name.empty() ? "a kernel carries no " + std::string(family)
                                     : "the backend has no kernels of the functor '" + name + "'",
                        "add the functor with Backend::add_functor() before you make the run");
}

void KernelSets::refuse(const char* component) {
  throw InvalidArgument(
      "kernel.component_missing",
      "the backend has no kernels of the component '" + std::string(component) + "'",
      "add its kernel set with Backend::add_kernels() before you make the run");
}

Backend::Backend() : Backend(KernelSets{}) {}
Backend::Backend(KernelSets kernels)
    : kernels_(std::make_shared<const KernelSets>(std::move(kernels))) {}
Backend::~Backend() = default;
DeviceInfo Backend::constants() const {
  DeviceInfo constant = info();
  constant.memory_free = 0;
  return constant;
}
std::uint64_t Backend::idle_bytes() const { return 0; }
bool Backend::has_idle(std::uint64_t, std::uint64_t) const { return false; }
void Backend::trim() noexcept {}

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
