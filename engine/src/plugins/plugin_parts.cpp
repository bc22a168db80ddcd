// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "plugins/plugin_parts.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
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
  if (!make) throw InvalidArgument("registry.entry", what + " has no function `make`");
  return [what, make = std::move(make)](const Argument& argument) -> Made {
    try {
      Made made = make(argument);
      if constexpr (std::is_same_v<Made, Problem>) {
        if (made.objective != nullptr) return made;
      } else {
        if (made != nullptr) return made;
      }
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      throw PluginError("plugin.failed", what + " of a plug-in cannot be made: " + error.what(), {},
                        "report this to the author of the plug-in");
    }
    throw PluginError("plugin.failed", what + " of a plug-in cannot be made: it gives nothing", {},
                      "report this to the author of the plug-in");
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

namespace {

// A name is a word of command lines, of `a > b` and of `family:parameters`.
void check_entry(const char* kind, std::string_view joints, const std::string& name,
                 const std::string& sentence) {
  const auto is_part = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           joints.find(c) != std::string_view::npos;
  };
  const bool valid = !name.empty() && name.size() <= 60 && name[0] >= 'a' && name[0] <= 'z' &&
                     std::ranges::all_of(name, is_part);
  if (valid && is_line(sentence)) return;
  throw InvalidArgument(
      "registry.entry", std::string("a plug-in has a ") + kind + " whose name or sentence is none",
      "names of small letters and digits, a letter first, for schedules also with "
      "hyphens and underlines; sentences in a line");
}

}  // namespace

void PluginParts::add(ScheduleEntry entry) {
  check_entry("schedule", "-_", entry.name, entry.sentence);
  for (const std::string& alias : entry.aliases) check_entry("schedule", "-_", alias, {});
  entry.make = guarded("schedule '" + entry.name + "'", std::move(entry.make));
  add_entry(std::move(entry), schedules);
}
void PluginParts::add(ProblemEntry entry) {
  check_entry("problem family", "", entry.name, entry.sentence);
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
