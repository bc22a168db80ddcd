// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_device.hpp"

#include <cudaTypedefs.h>

#include <cstdio>
#include <limits>

#include "kiln/errors.hpp"

#include "backends/driver_release.hpp"
#include "cuda_check.hpp"
#include "kernels/linear_algebra/packed_product.hpp"
#include "kernels/sweeps/metropolis_sweep_dense.hpp"
#include "queue_parts.hpp"

namespace kiln::cuda {
namespace {

// The few driver functions that the runtime has no counterpart for. They are looked up, so that the
// module does not need libcuda to be opened.
struct DriverApi {
  PFN_cuDevicePrimaryCtxRetain_v7000 retain = nullptr;
  PFN_cuDevicePrimaryCtxRelease_v11000 release = nullptr;
  PFN_cuCtxGetCurrent_v4000 get_current = nullptr;
  PFN_cuCtxPushCurrent_v4000 push = nullptr;
  PFN_cuCtxPopCurrent_v4000 pop = nullptr;
};

template <class Function>
void look_up(Function& function, const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  // 12000: the form that a function had in CUDA 12.0.
  cuda_check(cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found),
             "look up a driver function");
  if (found != cudaDriverEntryPointSuccess || address == nullptr) {
    throw CudaError("device.cuda", std::string("the driver has no function ") + name);
  }
  function = reinterpret_cast<Function>(address);
}

const DriverApi& driver() {
  static const DriverApi api = [] {
    DriverApi found;
    look_up(found.retain, "cuDevicePrimaryCtxRetain");
    look_up(found.release, "cuDevicePrimaryCtxRelease");
    look_up(found.get_current, "cuCtxGetCurrent");
    look_up(found.push, "cuCtxPushCurrent");
    look_up(found.pop, "cuCtxPopCurrent");
    return found;
  }();
  return api;
}

void driver_check(CUresult status, const char* doing) {
  if (status == CUDA_SUCCESS) return;
  // The two interfaces share the numbers of the errors that can occur here.
  const auto same = static_cast<cudaError_t>(status);
  throw_device_fault(static_cast<int>(same), std::string(doing) + ": " + cudaGetErrorString(same) +
                                                 " (" + cudaGetErrorName(same) + ")");
}

std::string gib(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / 0x1p30);
  return text;
}

cudaMemPool_t make_pool(int ordinal) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  cudaMemPool_t pool = nullptr;
  cuda_check(cudaMemPoolCreate(&pool, &properties), "create a memory pool");
  std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
  const cudaError_t status = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  if (status != cudaSuccess) static_cast<void>(cudaMemPoolDestroy(pool));
  cuda_check(status, "set up a memory pool");
  return pool;
}

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  cuda_check(cudaDeviceGetAttribute(&value, which, ordinal), "ask for an attribute of a device");
  return value;
}

DeviceLimits read_limits(int ordinal) {
  DeviceLimits limits;
  limits.compute_major = attribute(cudaDevAttrComputeCapabilityMajor, ordinal);
  limits.compute_minor = attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
  limits.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  limits.shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
  return limits;
}

// Devices of one model have the same file: "NVIDIA H200", also "NVIDIA H200 MIG 1g.18gb".
std::shared_ptr<const TunedShapes> open_shapes(const std::string& label, int ordinal,
                                               const DeviceLimits& limits) {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, ordinal), "ask for the properties of a device");
  TuneDevice device;
  device.name = properties.name;
  device.driver = driver_release();
  device.toolkit = cuda_version_text(CUDART_VERSION);
  device.limits = {.gpu = true,
                   .parallel_units = limits.multiprocessors,
                   .max_block_threads = properties.maxThreadsPerBlock,
                   .shared_bytes = limits.shared_bytes};
  return open_tuned_shapes(label, std::move(device));
}

}  // namespace

CudaDevice::CudaDevice(int ordinal)
    : ordinal_(ordinal), idle_(std::make_unique<IdleList<QueueParts>>()) {
  driver_check(driver().retain(&context_, ordinal), "create the context of a device");
  try {
    const CurrentDevice current(*this);
    limits_ = read_limits(ordinal);
    shapes_ = open_shapes(name(), ordinal, limits_);
    pool_ = make_pool(ordinal);
  } catch (...) {
    static_cast<void>(driver().release(ordinal));
    throw;
  }
}

CudaDevice::~CudaDevice() {
  if (is_lost()) {
    static_cast<void>(idle_.release());
    return;
  }
  {
    const CurrentDevice current(*this, std::nothrow);
    idle_.reset();
    static_cast<void>(cudaMemPoolDestroy(pool_));
  }
  static_cast<void>(driver().release(ordinal_));
}

CudaDevice::Memory CudaDevice::memory() const {
  const CurrentDevice current(*this);
  std::size_t free = 0, total = 0;
  cuda_check(cudaMemGetInfo(&free, &total), "ask for the free memory");
  std::uint64_t reserved = 0, used = 0;
  cuda_check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved),
             "ask for the size of a memory pool");
  cuda_check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used),
             "ask for the use of a memory pool");
  return {total, free + (reserved > used ? reserved - used : 0) + idle_bytes()};
}

std::uint64_t CudaDevice::idle_bytes() const {
  return idle_->sum([](const QueueParts& parts) { return parts.arena.reserved_bytes(); });
}

bool CudaDevice::has_idle(std::uint64_t piece, std::uint64_t all) const {
  return idle_->any([=](const QueueParts& parts) { return parts.arena.has_free(piece, all); });
}

void CudaDevice::trim() const noexcept {
  if (is_lost()) return;
  const CurrentDevice current(*this, std::nothrow);
  idle_->clear();
  static_cast<void>(cudaMemPoolTrimTo(pool_, 0));
}

void CudaDevice::reserve_shared(const void* function, std::size_t bytes, const char* kernel) const {
  const std::lock_guard lock(reserving_);
  std::size_t& reserved = reserved_[function];
  if (bytes <= reserved) return;
  const std::string what = std::string("reserve shared memory for ") + kernel;
  // The attribute belongs to the context, which other objects of this device share: what one of
  // them reserved must not shrink.
  cudaFuncAttributes now{};
  cuda_check(cudaFuncGetAttributes(&now, function), what.c_str());
  reserved = static_cast<std::size_t>(now.maxDynamicSharedSizeBytes);
  if (bytes <= reserved) return;
  cuda_check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)),
             what.c_str());
  reserved = bytes;
}

DeviceShape CudaDevice::shape() const noexcept {
  return {.gpu = true,
          .parallel_units = limits_.multiprocessors,
          .max_dense_sites = max_dense_sites,
          .compute_capability = 10 * limits_.compute_major + limits_.compute_minor,
          .packed_products = has_packed_products(limits_.compute_major)};
}

void* CudaDevice::allocate(std::size_t bytes, cudaStream_t stream) const {
  void* memory = nullptr;
  cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
  if (status == cudaErrorMemoryAllocation) {  // what nobody uses makes room
    static_cast<void>(cudaGetLastError());
    trim();
    status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream);
  }
  if (status != cudaErrorMemoryAllocation) {
    cuda_check(status, "allocate device memory");
    return memory;
  }
  static_cast<void>(cudaGetLastError());  // not sticky: the device goes on working
  const Memory now = this->memory();
  throw OutOfDeviceMemory("an array needs " + gib(bytes) + "; " + name() + " has " + gib(now.free) +
                              " of " + gib(now.total) + " free",
                          bytes, now.free);
}

void CudaDevice::lose(std::chrono::nanoseconds waited) const noexcept {
  silent_s_ = std::chrono::duration<double>(waited).count();
  lost_ = true;
  note_silent_device();
}

void CudaDevice::refuse_lost(const char* doing) const { throw_no_answer(doing, silent_s_); }

CurrentDevice::CurrentDevice(const CudaDevice& device) {
  device.require_answers();
  CUcontext now = nullptr;
  driver_check(driver().get_current(&now), "ask for the current context");
  if (now == device.context()) return;
  driver_check(driver().push(device.context()), "make a device current");
  pushed_ = true;
}

CurrentDevice::CurrentDevice(const CudaDevice& device, std::nothrow_t) noexcept {
  if (device.is_lost()) return;
  CUcontext now = nullptr;
  if (driver().get_current(&now) == CUDA_SUCCESS && now == device.context()) return;
  pushed_ = driver().push(device.context()) == CUDA_SUCCESS;
}

CurrentDevice::~CurrentDevice() {
  CUcontext popped = nullptr;
  if (pushed_) static_cast<void>(driver().pop(&popped));
}

}  // namespace kiln::cuda
