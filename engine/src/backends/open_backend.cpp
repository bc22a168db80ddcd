// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/backend.hpp"
#include "kiln/device/device_wait.hpp"
#include "kiln/errors.hpp"

#include "backends/cpu_backend_factory.hpp"
#include "backends/cuda_driver.hpp"
#include "backends/cuda_loader.hpp"
#include "backends/next_backend.hpp"
#include "plugins/plugin_kernels.hpp"

namespace kiln {
namespace {

constexpr int no_device_code = 100;  // cudaErrorNoDevice

// A CUDA module that can be used, and how many devices it has.
struct Cuda {
  const CudaModule& module;
  int n_devices;
};

// The rungs are tried in the order in which their messages help: is there a module at all, a
// driver, a driver that is new enough, a device.
Cuda load_cuda() {
  const std::filesystem::path path = find_cuda_module();
  const CudaDriver driver;
  const CudaModule& module = load_cuda_module(path);
  driver.require_version(module.toolkit_version);
  static_cast<void>(driver.device_count());
  std::array<char, 256> text{};
  const int count = module.device_count(text.data(), text.size());
  if (count < 0) refuse_cuda(-count, "the CUDA runtime", text.data());
  if (count == 0) refuse_cuda(no_device_code, "the CUDA runtime", "no device");
  return {module, count};
}

std::shared_ptr<Backend> open_cuda(const Cuda& cuda, int device) {
  const std::string name = "cuda:" + std::to_string(device);
  if (device >= cuda.n_devices) {
    const std::string there =
        cuda.n_devices == 1
            ? "there is one CUDA device, cuda:0"
            : "there are " + std::to_string(cuda.n_devices) +
                  " CUDA devices, cuda:0 .. cuda:" + std::to_string(cuda.n_devices - 1);
    throw NoDevice("device.none", "there is no device " + name + ": " + there, {},
                   Fix("choose one of the listed devices").or_else(Fix::use_device("cpu")));
  }
  std::array<char, 512> text{};
  const int code = cuda.module.probe(device, text.data(), text.size());
  if (code != 0) refuse_cuda(code, name, text.data());
  std::shared_ptr<Backend> backend(cuda.module.open(device));
  add_plugin_kernels(*backend);
  return backend;
}

std::shared_ptr<Backend> open_cpu(int threads) {
  std::shared_ptr<Backend> backend = make_cpu_backend(threads);
  add_plugin_kernels(*backend);
  return backend;
}

// The first device from `first` on that works, with what is wrong with the first that does not;
// that is reported if none does.
OpenedBackend open_any_cuda(int first) {
  const Cuda cuda = load_cuda();
  std::optional<Error> complaint;
  for (int device = first; device < cuda.n_devices; ++device) {
    try {
      std::shared_ptr<Backend> backend = open_cuda(cuda, device);
      return {std::move(backend), complaint ? complaint->message() : ""};
    } catch (const Error& e) {
      if (!complaint) complaint = e;
    }
  }
  if (complaint) throw Error(*complaint);
  throw NoDevice("device.none", "there is no other CUDA device");
}

// The N of "cuda:N"; 0 for "cuda"; nothing for any other text.
std::optional<int> cuda_ordinal(const std::string& device) {
  const std::string prefix = "cuda:";
  if (device == "cuda") return 0;
  if (!device.starts_with(prefix)) return std::nullopt;
  int ordinal = -1;
  const char* const end = device.data() + device.size();
  const auto [rest, status] = std::from_chars(device.data() + prefix.size(), end, ordinal);
  if (status != std::errc() || rest != end || ordinal < 0) return std::nullopt;
  return ordinal;
}

[[noreturn]] void refuse_name(const std::string& device) {
  // "gpu" is nearer to "cpu" by letters, and as far as can be by meaning.
  const std::string nearest =
      device.starts_with("gpu") ? "cuda" : nearest_name(device, {"auto", "cpu", "cuda", "cuda:0"});
  const std::string hint = nearest.empty() ? "" : "; the nearest is '" + nearest + "'";
  throw InvalidArgument(
      "device.unknown", "unknown device '" + device + "'" + hint,
      "expected: auto, cpu, cuda, or cuda:N with N from 0",
      nearest.empty() ? "choose auto, cpu, cuda or cuda:N" : "use device " + nearest);
}

}  // namespace

OpenedBackend open_backend(const std::string& device, int threads) {
  if (device == "cpu") return {open_cpu(threads), {}};
  static_cast<void>(device_timeout());  // a text that is no time is no reason for the CPU
  if (device == "auto") {
    try {
      return open_any_cuda(0);
    } catch (const Error& e) {
      return {open_cpu(threads), "no usable GPU (" + e.message() + ")"};
    }
  }
  const std::optional<int> ordinal = cuda_ordinal(device);
  if (!ordinal) refuse_name(device);
  return {open_cuda(load_cuda(), *ordinal), {}};
}

OpenedBackend open_next_backend(const std::string& failed, const std::string& reason, int threads) {
  try {
    return {open_any_cuda(cuda_ordinal(failed).value_or(0) + 1).backend, reason};
  } catch (const Error&) {
    return {open_cpu(threads), "no usable GPU (" + reason + ")"};
  }
}

std::vector<DeviceProbe> probe_devices() {
  std::vector<DeviceProbe> probes{{"cpu", make_cpu_backend(0)->info()}};
  try {
    const Cuda cuda = load_cuda();
    for (int device = 0; device < cuda.n_devices; ++device) {
      DeviceProbe probe{"cuda:" + std::to_string(device)};
      try {
        probe.info = open_cuda(cuda, device)->info();
      } catch (const Error& e) {
        probe.complaint = e;  // the others may still work
      }
      probes.push_back(std::move(probe));
    }
  } catch (const Error& e) {
    probes.push_back({"cuda", std::nullopt, e});
  }
  return probes;
}

std::vector<DeviceInfo> list_devices(std::string* reason) {
  if (reason != nullptr) reason->clear();
  std::vector<DeviceInfo> devices;
  for (const DeviceProbe& probe : probe_devices()) {
    if (probe.info) devices.push_back(*probe.info);
    if (probe.complaint && reason != nullptr && reason->empty()) {
      *reason = probe.complaint->message();
    }
  }
  return devices;
}

}  // namespace kiln
