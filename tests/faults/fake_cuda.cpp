// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands for libcuda.so.1 and for the CUDA module of this build at once, on machines without a GPU:
// device N opens unless the N-th number of KILN_FAKE_DEVICES ("46,0") is an error of CUDA. What
// opens is the CPU under the name of the device.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/version.hpp"

#include "backends/cuda_module.hpp"
#include "backends/module_file.hpp"

namespace {

std::vector<int> codes() {
  const char* const text = std::getenv("KILN_FAKE_DEVICES");
  std::vector<int> all;
  for (const char* at = text; at != nullptr && *at != '\0';) {
    char* end = nullptr;
    all.push_back(static_cast<int>(std::strtol(at, &end, 10)));
    at = *end == ',' ? end + 1 : end;
  }
  return all;
}

class FakeBackend final : public kiln::Backend {
 public:
  explicit FakeBackend(int device) : name_("cuda:" + std::to_string(device)) {}
  kiln::DeviceInfo info() const override {
    kiln::DeviceInfo info = cpu_->info();
    info.name = name_;
    info.description = "a device of the tests";
    return info;
  }
  std::unique_ptr<kiln::Queue> make_queue() override { return cpu_->make_queue(); }

 private:
  std::shared_ptr<kiln::Backend> cpu_ = kiln::open_backend("cpu", 1).backend;
  std::string name_;
};

int device_count(char*, std::size_t) noexcept { return static_cast<int>(codes().size()); }

int probe(int device, char* text, std::size_t size) noexcept {
  const int code = codes()[static_cast<std::size_t>(device)];
  std::snprintf(text, size, "what the driver says of %d", code);
  return code;
}

kiln::Backend* open(int device) { return new FakeBackend(device); }

}  // namespace

extern "C" {

extern const kiln::ModuleNote kiln_cuda_module_note;
[[gnu::used, gnu::section(".note.kiln"),
  gnu::aligned(4)]] constinit const kiln::ModuleNote kiln_cuda_module_note =
    kiln::module_note(kiln::cuda_module_abi, sizeof(kiln::CudaModule),
                      kiln::cuda_module_fingerprint(), KILN_VERSION);

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(codes().size());
  return 0;
}
}

const kiln::CudaModule* kiln_cuda_module() noexcept {
  static constexpr kiln::CudaModule module{
      .struct_size = sizeof(kiln::CudaModule),
      .abi = kiln::cuda_module_abi,
      .fingerprint = kiln::cuda_module_fingerprint(),
      .kiln_version = KILN_VERSION,
      .toolkit_version = 13000,
      .device_count = &device_count,
      .probe = &probe,
      .open = &open,
  };
  return &module;
}
