// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/device_shape.hpp"
#include "kiln/errors.hpp"
#include "kiln/export.hpp"
#include "kiln/function_ref.hpp"
#include "kiln/kernel_set.hpp"
#include "kiln/profile/device_clock.hpp"
#include "kiln/profile/tracer.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Describes the device of a backend: its shape, which the engine uses for choices, and text and
/// sizes for reports and result.json.
struct DeviceInfo : DeviceShape {
  std::string name;                ///< "cpu", "cuda:0"
  std::string description;         ///< "2 threads, AVX2", "NVIDIA H200, driver 580.65"
  std::uint64_t memory_total = 0;  ///< bytes; 0 where it is not known
  std::uint64_t memory_free = 0;
  std::string pci_bus_id = {};  ///< "0000:3b:00.0"; empty for the CPU
};

/// A device that can run the kernels. Made by open_backend(); safe to share between runs.
class KILN_API Backend {
 public:
  virtual ~Backend();
  virtual DeviceInfo info() const = 0;
  /// info() without the free memory, which stands at 0: it takes calls of the system.
  virtual DeviceInfo constants() const;
  virtual std::unique_ptr<Queue> make_queue() = 0;
  /// Memory that earlier queues left for later ones, bytes. It counts as free.
  virtual std::uint64_t idle_bytes() const;
  /// Whether a queue that is made now finds `all` bytes of it, `piece` of them in one piece.
  virtual bool has_idle(std::uint64_t piece, std::uint64_t all) const;
  /// Gives that memory back to the device.
  virtual void trim() noexcept;
  /// A clock for the work of one of its queues, which must outlive it.
  virtual std::unique_ptr<DeviceClock> make_clock(Queue& queue);
  /// Where runs show their ranges; null: nowhere.
  virtual Tracer* tracer() noexcept { return nullptr; }

  /// Adds the kernels of a component, as opening the backend adds Kiln's. Queues made from now on
  /// can launch them; runs in progress do not change. Thread-safe.
  /// @throws InvalidArgument if the backend has kernels of that component.
  template <class Component>
  void add_kernels(const KernelSet<Component>& set) {
    replace_kernels([&](KernelSets& sets) { sets.add(set); });
  }
  /// Adds the kernels of a functor type: a density or a vector function.
  template <class Functor, class Family>
  void add_functor(const FunctorKernels<Family>& kernels) {
    replace_kernels([&](KernelSets& sets) { sets.add_functor<Functor>(kernels); });
  }
  /// Whether queues made from now on can launch the kernels of the component of this name.
  bool has_kernels(std::string_view component) const { return kernels()->has(component); }

 protected:
  Backend();
  explicit Backend(KernelSets kernels);
  /// The kernel sets that a queue made now receives.
  std::shared_ptr<const KernelSets> kernels() const;

 private:
  void replace_kernels(FunctionRef<void(KernelSets&)> change);

  mutable std::mutex mutex_;
  std::shared_ptr<const KernelSets> kernels_;
};

/// A backend, with the reason if it is not the preferred one.
struct OpenedBackend {
  std::shared_ptr<Backend> backend;
  std::string fallback_reason;  ///< empty unless "auto" fell back to the CPU
};

/// Opens a device: "cpu", "cuda", "cuda:N", or "auto" (CUDA if it can be used, else the CPU and
/// why).
///
/// @param device one of these names
/// @param threads CPU threads; 0 means all that the process may use. Results do not depend on it.
/// @throws NotCompiled, NoDevice, PluginError for an explicit "cuda"; InvalidArgument for another
/// name.
KILN_API OpenedBackend open_backend(const std::string& device, int threads = 0);

/// A device, or the reason why it cannot be used.
struct DeviceProbe {
  std::string name;                               ///< "cpu", "cuda:0"; "cuda" if none is reached
  std::optional<DeviceInfo> info = std::nullopt;  ///< if it can be opened
  std::optional<Error> complaint = std::nullopt;  ///< if it cannot; code() says which rung failed
};

/// Tries every device: the CPU first, then each CUDA device, or CUDA as a whole if it is
/// unreachable. Does not throw because of a device.
KILN_API std::vector<DeviceProbe> probe_devices();

/// Every device that can be opened here; the reason why CUDA is absent goes to `reason` if given.
KILN_API std::vector<DeviceInfo> list_devices(std::string* reason = nullptr);

}  // namespace kiln
