// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/registry.hpp"

#include "plugins/plugin_kernels.hpp"

namespace kiln {

/// Whether a text of a plug-in can stand in tables and messages: it has no control characters.
inline bool is_line(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// What a plug-in adds while it is loaded: nothing of it counts until it has added everything.
class PluginParts {
 public:
  /// @param kernels_known  whether the plug-in was loaded before, into another registry: its
  ///                       kernels are those of the process already
  PluginParts(const Registry& before, bool kernels_known)
      : registry(before), kernels_known_(kernels_known) {}

  void add(ScheduleEntry entry);
  void add(ProblemEntry entry);
  void add_kernels(bool gpu, std::string name, std::function<void(Backend&)> add);

  Registry registry;
  std::vector<PluginKernels> kernels;
  std::vector<std::string> schedules, problems, cpu_kernels, cuda_kernels;
  /// The first name that was taken, also if the plug-in has caught the exception.
  std::optional<InvalidArgument> taken;

 private:
  template <class Entry>
  void add_entry(Entry entry, std::vector<std::string>& names);
  [[noreturn]] void refuse(const InvalidArgument& error);

  bool kernels_known_;
};

}  // namespace kiln
