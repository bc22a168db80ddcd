// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda_driver.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "kiln/errors.hpp"

#include "backends/driver_release.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view nvidia_vendor = "10de";

Fix or_on_cpu(const Fix& fix) { return fix.or_else(Fix::use_device("cpu")); }

// Whether the machine has an NVIDIA device that this process just cannot reach.
bool pci_device_present() {
  std::error_code failed;
  fs::directory_iterator device("/sys/bus/pci/devices", failed);
  for (; !failed && device != fs::directory_iterator(); device.increment(failed)) {
    std::string vendor;
    std::ifstream(device->path() / "vendor") >> vendor;
    if (vendor == "0x" + std::string(nvidia_vendor)) return true;
  }
  // One line per device: bus and slot, then vendor and device in eight digits.
  std::ifstream list("/proc/bus/pci/devices");
  for (std::string line, place, id; std::getline(list, line);) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos && line.compare(tab + 1, 4, nvidia_vendor) == 0) return true;
  }
  return false;
}

bool device_node_present() {
  std::error_code failed;
  return fs::exists("/dev/nvidiactl", failed) || fs::exists("/dev/nvidia0", failed) ||
         fs::exists("/dev/dxg", failed);  // the last one under Windows' Linux subsystem
}

std::string container_hint() {
  return pci_device_present()
             ? "An NVIDIA PCI device is present. If Kiln runs in a container, start "
               "the container with access to the GPU (docker run --gpus all)."
             : "";
}

[[noreturn]] void refuse_no_device() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && *visible == '\0') {
    throw NoDevice("device.none", "CUDA_VISIBLE_DEVICES is empty, which hides every device", {},
                   or_on_cpu("unset CUDA_VISIBLE_DEVICES"));
  }
  if (!device_node_present()) {
    throw NoDevice("device.none", "there is no device node /dev/nvidia*", container_hint(),
                   or_on_cpu("load the kernel driver, for example by a call of nvidia-smi"));
  }
  if (visible != nullptr) {
    throw NoDevice("device.none",
                   "CUDA_VISIBLE_DEVICES=" + std::string(visible) + " lists no existing device", {},
                   or_on_cpu("correct CUDA_VISIBLE_DEVICES; nvidia-smi -L lists the devices"));
  }
  throw NoDevice("device.none", "the driver finds no device", container_hint(),
                 or_on_cpu("check the driver with nvidia-smi"));
}

const char* needed_driver(int toolkit_major) {
  switch (toolkit_major) {
    case 12:
      return "525";
    case 13:
      return "580";
    default:
      return nullptr;
  }
}

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

// Never closed: the CUDA runtime keeps using it.
CudaDriver::CudaDriver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    throw NoDevice("device.no_driver", "driver library libcuda.so.1 not found", container_hint(),
                   or_on_cpu("install the NVIDIA driver"));
  }
}

void CudaDriver::require_version(int toolkit_version) const {
  int version = 0;
  auto* const ask = find<int(int*)>(library_, "cuDriverGetVersion");
  if (ask == nullptr || ask(&version) != 0) return;  // then device_count() says what is wrong
  const int major = toolkit_version / 1000;
  if (version / 1000 >= major) return;
  const std::string release = driver_release();
  const std::string cuda = "CUDA " + cuda_version_text(version);
  const char* const needed = needed_driver(major);
  const std::string found = release.empty() ? "driver for " + cuda : "driver " + release;
  const std::string expected =
      needed == nullptr ? "" : "; expected driver " + std::string(needed) + " or newer";
  throw NoDevice("device.driver_too_old",
                 found + " is too old for a build with CUDA " + std::to_string(major) + expected,
                 "The driver supports " + cuda + ", and this build uses CUDA " +
                     cuda_version_text(toolkit_version) + ".",
                 or_on_cpu("update the driver, or use a build for an older CUDA toolkit"));
}

int CudaDriver::device_count() const {
  auto* const init = find<int(unsigned)>(library_, "cuInit");
  auto* const count_devices = find<int(int*)>(library_, "cuDeviceGetCount");
  if (init == nullptr || count_devices == nullptr) {
    throw NoDevice("device.no_driver", "libcuda.so.1 is not a CUDA driver library", {},
                   or_on_cpu("install the NVIDIA driver"));
  }
  int count = 0;
  int code = init(0);
  if (code == 0) code = count_devices(&count);
  if (code != 0) refuse_cuda(code, "the CUDA driver", error_text(code));
  if (count < 1) refuse_no_device();
  return count;
}

std::string CudaDriver::error_text(int code) const {
  const char* text = nullptr;
  auto* const ask = find<int(int, const char**)>(library_, "cuGetErrorString");
  if (ask == nullptr || ask(code, &text) != 0 || text == nullptr) return "unknown error";
  return text;
}

void refuse_cuda(int code, const std::string& device, const std::string& detail) {
  const std::string says = ": " + detail + " (CUDA error " + std::to_string(code) + ")";
  switch (code) {
    case 34:
      throw NoDevice("device.no_driver", "libcuda.so.1 is the toolkit's stub, not a driver",
                     container_hint(),
                     or_on_cpu("remove the toolkit's stubs folder from LD_LIBRARY_PATH"));
    case 46:
      throw NoDevice("device.busy", device + " is busy or reserved for another process" + says, {},
                     or_on_cpu(Fix::use_another_gpu().or_else("wait until the device is free")));
    case 100:
    case 101:
      refuse_no_device();
    case 209:
      throw NoDevice("device.no_code", "this build has no GPU code for " + device + says, {},
                     or_on_cpu("build with -DCMAKE_CUDA_ARCHITECTURES=native on this machine"));
    case 222:
      throw NoDevice("device.no_code",
                     "the GPU code of this build is too new for the driver of " + device + says, {},
                     or_on_cpu("update the driver, or build with -DCMAKE_CUDA_ARCHITECTURES for "
                               "this device"));
    case 802:
      throw NoDevice("device.not_ready", device + " is not ready" + says,
                     "Machines with NVSwitch need the fabric manager.",
                     or_on_cpu("start nvidia-fabricmanager, in the same version as the driver"));
    case 803:
      throw NoDevice("device.not_ready",
                     "libcuda.so.1 and the kernel driver have different versions" + says,
                     "A driver update causes this error until the machine restarts.",
                     or_on_cpu("restart the machine, or load the new kernel driver"));
    case 804:
      throw NoDevice(
          "device.not_ready", "the CUDA compatibility package does not support " + device + says,
          {},
          or_on_cpu("remove the folder cuda-compat from LD_LIBRARY_PATH, or update the driver"));
    case 805:
    case 806:
    case 807:
    case 808:
    case 809:
    case 810:
      throw NoDevice("device.busy", "the MPS daemon does not grant " + device + says,
                     "Processes share the device through the daemon (CUDA_MPS_PIPE_DIRECTORY).",
                     or_on_cpu("check or restart nvidia-cuda-mps-control"));
    default:
      // Not initialised, a failed system call, unknown: what a missing device node looks like.
      if ((code == 3 || code == 304 || code == 999) && !device_node_present()) refuse_no_device();
      throw NoDevice("device.unusable", device + " cannot be used" + says, {},
                     or_on_cpu("check the device with nvidia-smi"));
  }
}

}  // namespace kiln
