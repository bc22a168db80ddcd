// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_backend.hpp"

#include <string>

#include "kiln/errors.hpp"

#include "backends/driver_release.hpp"
#include "cuda_check.hpp"
#include "cuda_clock.hpp"
#include "cuda_queue.hpp"
#include "kernel_sets.hpp"
#include "nvtx_tracer.hpp"

namespace kiln::cuda {
namespace {

// "NVIDIA H200, driver 580.65.06 (CUDA 13.0)"
std::string describe(const char* device) {
  int version = 0;
  cuda_check(cudaDriverGetVersion(&version), "ask for the driver's version");
  const std::string release = driver_release();
  return std::string(device) + ", driver" + (release.empty() ? "" : " " + release) + " (CUDA " +
         cuda_version_text(version) + ")";
}

}  // namespace

CudaBackend::CudaBackend(int ordinal)
    : Backend(cuda_kernel_sets()),
      device_(std::make_shared<const CudaDevice>(ordinal)),
      tracer_(nvtx_tracer()) {
  const CurrentDevice current(*device_);
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, ordinal), "ask for the properties of a device");
  info_.name = device_->name();
  info_.description = describe(properties.name);
  char pci_bus_id[32] = {};  // 13 characters and the end, by its documentation
  cuda_check(cudaDeviceGetPCIBusId(pci_bus_id, sizeof pci_bus_id, ordinal),
             "ask for the place of a device");
  info_.pci_bus_id = pci_bus_id;
  static_cast<DeviceShape&>(info_) = device_->shape();
  info_.memory_total = device_->memory().total;
}

DeviceInfo CudaBackend::info() const {
  DeviceInfo now = info_;
  now.memory_free = device_->memory().free;
  return now;
}

std::unique_ptr<Queue> CudaBackend::make_queue() {
  return std::make_unique<CudaQueue>(kernels(), device_);
}

std::unique_ptr<DeviceClock> CudaBackend::make_clock(Queue& queue) {
  auto* const own = dynamic_cast<CudaQueue*>(&queue);
  if (own == nullptr) {
    throw InvalidArgument("queue.clock", "the queue belongs to another backend");
  }
  return std::make_unique<CudaClock>(device_, *own);
}

}  // namespace kiln::cuda
