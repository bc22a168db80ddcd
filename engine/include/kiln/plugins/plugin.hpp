// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "kiln/backend.hpp"
#include "kiln/export.hpp"
#include "kiln/kernel_set.hpp"
#include "kiln/plugin.h"
#include "kiln/plugins/module_note.hpp"
#include "kiln/registry.hpp"

namespace kiln {

class PluginParts;

/// What a plug-in adds to, while KILN_PLUGIN's function runs. All is kept, or nothing.
class KILN_API PluginRegistrar {
 public:
  explicit PluginRegistrar(PluginParts& parts) : parts_(parts) {}

  /// @throws InvalidArgument if a name is taken
  void add(ScheduleEntry entry);
  void add(ProblemEntry entry);

  /// Adds the kernels of a component to each CPU that is opened later. The schedule that launches
  /// them says so in needs(): Needs::launches<Component>().
  /// @throws InvalidArgument if the kernels of that component are known
  template <class Component>
  void add_cpu_kernels(const KernelSet<Component>& set) {
    add_kernels(false, Component::name, [set](Backend& backend) { backend.add_kernels(set); });
  }
  /// The same for each GPU. Without them the schedule runs on the CPU only.
  template <class Component>
  void add_cuda_kernels(const KernelSet<Component>& set) {
    add_kernels(true, Component::name, [set](Backend& backend) { backend.add_kernels(set); });
  }

  /// Adds the kernels of a functor, a density or a vector function, to each CPU or GPU that is
  /// opened later. @throws InvalidArgument if they are known
  template <class Functor, class Family>
  void add_cpu_functor(const FunctorKernels<Family>& kernels) {
    add_functor<Functor>(false, kernels);
  }
  template <class Functor, class Family>
  void add_cuda_functor(const FunctorKernels<Family>& kernels) {
    add_functor<Functor>(true, kernels);
  }

 private:
  template <class Functor, class Family>
  void add_functor(bool gpu, const FunctorKernels<Family>& kernels) {
    add_kernels(gpu, std::string(Family::name) + " " + Functor::name,
                [kernels](Backend& backend) { backend.template add_functor<Functor>(kernels); });
  }
  void add_kernels(bool gpu, std::string name, std::function<void(Backend&)> add);

  PluginParts& parts_;
};

namespace detail {

/// Calls a function of a plug-in: its exceptions become a number and a text, the form in which they
/// may cross the interface in C.
inline int add_plugin_parts(void (*add)(PluginRegistrar&), kiln_registrar* registrar, char* error,
                            std::size_t error_size) noexcept {
  const auto say = [&](const char* text) { std::snprintf(error, error_size, "%s", text); };
  try {
    add(*reinterpret_cast<PluginRegistrar*>(registrar));
    return 0;
  } catch (const std::exception& exception) {
    say(exception.what());
  } catch (...) {
    say("an exception of an unknown type");
  }
  return 1;
}

}  // namespace detail
}  // namespace kiln

/// Makes a shared library a plug-in; stands once in it, outside of all namespaces.
///
/// NAME, VERSION and SUMMARY are string literals: the name of the plug-in, its own version, and
/// what it adds in a sentence. ADD is a `void (*)(kiln::PluginRegistrar&)`, which may throw.
#define KILN_PLUGIN(NAME, VERSION, SUMMARY, ADD)                                        \
  extern "C" {                                                                          \
  extern const kiln::ModuleNote kiln_plugin_note;                                       \
  [[gnu::used, gnu::section(".note.kiln"),                                              \
    gnu::aligned(4)]] constinit const kiln::ModuleNote kiln_plugin_note =               \
      kiln::module_note(KILN_PLUGIN_ABI, sizeof(kiln_plugin), KILN_FINGERPRINT,         \
                        KILN_HEADERS_VERSION, kiln::ModuleKind::plugin);                \
  }                                                                                     \
  const kiln_plugin* kiln_plugin_entry() {                                              \
    static constexpr kiln_plugin plugin{                                                \
        .struct_size = sizeof(kiln_plugin),                                             \
        .abi = KILN_PLUGIN_ABI,                                                         \
        .fingerprint = KILN_FINGERPRINT,                                                \
        .kiln_version = KILN_HEADERS_VERSION,                                           \
        .name = NAME,                                                                   \
        .version = VERSION,                                                             \
        .summary = SUMMARY,                                                             \
        .add =                                                                          \
            [](kiln_registrar* registrar, char* error, std::size_t error_size) {        \
              return kiln::detail::add_plugin_parts(ADD, registrar, error, error_size); \
            },                                                                          \
    };                                                                                  \
    return &plugin;                                                                     \
  }
