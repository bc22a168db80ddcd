// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "plugins/plugin_parts.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "kiln/plugins/plugin.hpp"

namespace kiln {

void PluginParts::refuse(const InvalidArgument& error) {
  if (!taken) taken = error;
  throw InvalidArgument(error);
}

namespace {

// What the maker of a schedule or a problem throws is a text for the user if it is an Error of
// Kiln. Of any other exception the user learns whose it is.
template <class Made, class Argument>
std::function<Made(const Argument&)> guarded(const std::string& what,
                                             std::function<Made(const Argument&)> make) {
  if (!make) return make;
  return [what, make = std::move(make)](const Argument& argument) -> Made {
    try {
      return make(argument);
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw PluginError("plugin.failed", what + " of a plug-in cannot be made: " + error.what(), {},
                        "report this to the author of the plug-in");
    }
  };
}

}  // namespace

template <class Entry>
void PluginParts::add_entry(Entry entry, std::vector<std::string>& names) {
  const std::string name = entry.name;
  try {
    registry.add(std::move(entry));
  } catch (const InvalidArgument& error) {
    refuse(error);
  }
  names.push_back(name);
}

void PluginParts::add(ScheduleEntry entry) {
  entry.make = guarded("schedule '" + entry.name + "'", std::move(entry.make));
  add_entry(std::move(entry), schedules);
}
void PluginParts::add(ProblemEntry entry) {
  entry.make = guarded("problem '" + entry.name + "'", std::move(entry.make));
  add_entry(std::move(entry), problems);
}

void PluginParts::add_kernels(bool gpu, std::string name, std::function<void(Backend&)> add) {
  std::vector<std::string>& names = gpu ? cuda_kernels : cpu_kernels;
  const bool known = !kernels_known_ && has_plugin_kernels(gpu, name);
  if (known || std::ranges::count(names, name) > 0) {
    refuse(InvalidArgument(
        "registry.taken",
        "kernels of '" + name + "' for the " + (gpu ? "GPU" : "CPU") + " are already registered"));
  }
  names.push_back(name);
  if (!kernels_known_) kernels.push_back({gpu, std::move(name), std::move(add)});
}

void PluginRegistrar::add(ScheduleEntry entry) { parts_.add(std::move(entry)); }
void PluginRegistrar::add(ProblemEntry entry) { parts_.add(std::move(entry)); }
void PluginRegistrar::add_kernels(bool gpu, std::string name, std::function<void(Backend&)> add) {
  parts_.add_kernels(gpu, std::move(name), std::move(add));
}

}  // namespace kiln
