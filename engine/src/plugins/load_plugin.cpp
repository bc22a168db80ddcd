// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/plugins/plugin.hpp"
#include "kiln/plugins/plugins.hpp"
#include "kiln/version.hpp"

#include "backends/module_file.hpp"
#include "plugins/plugin_parts.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr ModuleWords words{.noun = "the plug-in",
                            .fix = "name another file",
                            .path_fix = "name a file that a plug-in's build has written",
                            .area = "plugin"};
constexpr const char* rebuild = "compile the plug-in with the headers of this Kiln";

// Links resolved: what is checked is what is opened, and a file is known by one name.
fs::path real_path(const fs::path& path) {
  std::error_code failed;
  fs::path real = fs::canonical(path, failed);
  if (!failed && fs::is_regular_file(real, failed)) return real;
  const bool there = fs::exists(path, failed);
  throw PluginError("plugin.missing",
                    there ? "the plug-in " + path.string() + " is no regular file"
                          : "there is no plug-in " + path.string(),
                    "a shared library (.so)", "correct the path");
}

// What can be known of a file without running code of it.
void check_file(const fs::path& path) {
  check_owner(path, words);
  const std::optional<ModuleNote> note = read_note(path);
  if (!note) {
    throw PluginError("plugin.entry", path.string() + " is not a plug-in of Kiln, or is cut off",
                      "a shared library in which KILN_PLUGIN stands once", words.path_fix);
  }
  if (note->kind != ModuleKind::plugin) {
    throw PluginError("plugin.entry", path.string() + " is the CUDA module of Kiln, not a plug-in",
                      {}, words.path_fix);
  }
  const std::string theirs(note->version, ::strnlen(note->version, sizeof note->version));
  if (note->abi != KILN_PLUGIN_ABI || note->struct_size != sizeof(kiln_plugin)) {
    throw PluginError("plugin.abi",
                      "the plug-in " + path.string() + " has version " + std::to_string(note->abi) +
                          " of the plug-in interface, but libkiln has version " +
                          std::to_string(KILN_PLUGIN_ABI),
                      "The plug-in was compiled with the headers of Kiln " + theirs + ".", rebuild);
  }
  const ModuleNote own = module_note(KILN_PLUGIN_ABI, sizeof(kiln_plugin), KILN_FINGERPRINT,
                                     version(), ModuleKind::plugin);
  if (*note == own) return;
  throw PluginError("plugin.version",
                    "the plug-in " + path.string() + " was compiled with other headers (Kiln " +
                        theirs + ") than libkiln (Kiln " + version() + ")",
                    "Types with other layouts would corrupt memory.", rebuild);
}

// Texts are shown in tables and messages.
bool is_short_line(const char* text, std::size_t longest) {
  const std::size_t length = ::strnlen(text, longest + 1);
  return length > 0 && length <= longest && is_line({text, length});
}

const kiln_plugin& open(const fs::path& path) {
#if defined(KILN_STATIC)
  throw PluginError("plugin.static", "this build of Kiln is static and has no plug-ins",
                    path.string() + " would bring a libkiln of its build",
                    "use a shared build of Kiln (BUILD_SHARED_LIBS=ON)");
#else
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const text = dlerror();
    throw PluginError("plugin.open",
                      "the plug-in " + path.string() +
                          " cannot be opened: " + (text != nullptr ? text : "unknown error"),
                      {}, "link the plug-in with all libraries that it uses, and build it again");
  }
  using Entry = decltype(kiln_plugin_entry);
  auto* const entry = reinterpret_cast<Entry*>(dlsym(library, "kiln_plugin_entry"));
  const kiln_plugin* plugin = nullptr;
  try {
    if (entry != nullptr) plugin = entry();
  } catch (...) {  // as if there were none
  }
  const bool known = plugin != nullptr && plugin->struct_size == sizeof(kiln_plugin) &&
                     plugin->abi == KILN_PLUGIN_ABI && plugin->add != nullptr &&
                     plugin->name != nullptr && plugin->version != nullptr &&
                     plugin->summary != nullptr && is_short_line(plugin->name, 40) &&
                     is_short_line(plugin->version, 40) && is_short_line(plugin->summary, 400);
  if (known) return *plugin;
  throw PluginError("plugin.entry",
                    "the plug-in " + path.string() + " has no valid entry point kiln_plugin_entry",
                    "a name, a version and a summary, each in a line",
                    "let KILN_PLUGIN define the entry point");
#endif
}

// Lets the plug-in add its parts. Whatever it throws becomes text.
void add_parts(const kiln_plugin& plugin, const std::string& who, PluginParts& parts) {
  std::array<char, 1024> text{};
  PluginRegistrar registrar(parts);
  int status = 0;
  try {
    status = plugin.add(reinterpret_cast<kiln_registrar*>(&registrar), text.data(), text.size());
  } catch (const std::exception& exception) {  // an entry point that is not KILN_PLUGIN's
    status = 1;
    std::strncpy(text.data(), exception.what(), text.size() - 1);
  } catch (...) {
    status = 1;
    std::strncpy(text.data(), "an exception of an unknown type", text.size() - 1);
  }
  if (parts.taken) {
    throw PluginError("plugin.taken", who + " cannot be added: " + parts.taken->message(), {},
                      "rename it in the plug-in, or leave the other plug-in out");
  }
  if (status == 0) return;
  text.back() = '\0';
  throw PluginError(
      "plugin.failed",
      who + " failed while it was loaded: " + (text[0] != '\0' ? text.data() : "it gave no reason"),
      "Nothing of the plug-in was added.", "report this to its author");
}

// Plug-ins of the process. Their kernels belong to it once, their entries to each registry.
struct Loaded {
  std::mutex mutex;
  std::vector<fs::path> paths;
};
Loaded& loaded() {
  static Loaded all;
  return all;
}

}  // namespace

PluginInfo load_plugin(const fs::path& given, Registry& registry) {
  const fs::path path = real_path(given);
  check_file(path);
  const std::lock_guard lock(loaded().mutex);
  const kiln_plugin& plugin = open(path);
  std::vector<fs::path>& paths = loaded().paths;
  const bool known = std::ranges::count(paths, path) > 0;
  PluginParts parts(registry, known);
  const std::string who = std::string("the plug-in ") + plugin.name + " (" + path.string() + ")";
  add_parts(plugin, who, parts);
  PluginInfo info{plugin.name,
                  plugin.version,
                  plugin.summary,
                  path,
                  std::move(parts.schedules),
                  std::move(parts.problems),
                  std::move(parts.cpu_kernels),
                  std::move(parts.cuda_kernels)};
  if (!known) {
    paths.push_back(path);
    keep_plugin_kernels(std::move(parts.kernels));
  }
  registry = std::move(parts.registry);
  return info;
}

}  // namespace kiln
