// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/backends.hpp"

#include <cstdlib>
#include <memory>
#include <string_view>

#include "kiln/backend.hpp"
#include "kiln/errors.hpp"

namespace kiln::test {
namespace {

struct Opened {
  bool tried = false;
  std::shared_ptr<Backend> backend;
  std::unique_ptr<Queue> queue;
  std::string reason;

  void close() {
    queue.reset();
    backend.reset();
    tried = false;
  }
};

Opened& slot_of(Device device) {
  static Opened cpu, cuda;
  return device == Device::cpu ? cpu : cuda;
}

void open(Device device, Opened& opened) {
  opened.tried = true;
  try {
    opened.backend = open_backend(to_string(device)).backend;
    opened.queue = opened.backend->make_queue();
  } catch (const Error& error) {
    opened.reason = error.message();
  }
}

}  // namespace

const char* to_string(Device device) { return device == Device::cpu ? "cpu" : "cuda"; }

DeviceQueue open_device(Device device) {
  Opened& opened = slot_of(device);
  if (!opened.tried) open(device, opened);
  return {opened.queue.get(), opened.reason};
}

void close_devices() {
  slot_of(Device::cuda).close();
  slot_of(Device::cpu).close();
}

bool gpu_required() {
  const char* const text = std::getenv("KILN_REQUIRE_GPU");
  return text != nullptr && std::string_view(text) == "1";
}

void skip_without(Device device) {
  const DeviceQueue opened = open_device(device);
  if (opened.queue != nullptr) return;
  if (device == Device::cpu || gpu_required()) {
    FAIL() << "no " << to_string(device) << " device: " << opened.reason;
  }
  GTEST_SKIP() << "no GPU: " << opened.reason;
}

ScopedEnvironment::ScopedEnvironment(const char* name, const std::string& value) : name_(name) {
  if (const char* const text = std::getenv(name)) before_ = text;
  if (value.empty()) {
    unsetenv(name);
  } else {
    setenv(name, value.c_str(), 1);
  }
}

ScopedEnvironment::~ScopedEnvironment() {
  if (before_) {
    setenv(name_, before_->c_str(), 1);
  } else {
    unsetenv(name_);
  }
}

}  // namespace kiln::test
