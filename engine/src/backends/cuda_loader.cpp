// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda_loader.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/version.hpp"

#include "backends/module_file.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_not_built(const std::string& where) {
#if defined(KILN_CUDA_BUILT) && KILN_CUDA_BUILT
  throw NotCompiled("device.not_built", "the CUDA module of this build was not found", where,
                    Fix("reinstall Kiln, or set KILN_CUDA_MODULE to the path of libkiln_cuda.so")
                        .or_else(Fix::use_device("cpu")));
#else
  std::string message = "this build has no CUDA module";
#if defined(KILN_CUDA_OFF_REASON)
  const std::string reason = KILN_CUDA_OFF_REASON;
  if (!reason.empty()) message += ": " + reason;
#endif
  throw NotCompiled("device.not_built", message, where,
                    Fix("build Kiln with -DKILN_CUDA=ON").or_else(Fix::use_device("cpu")));
#endif
}

#if !defined(KILN_STATIC)

constexpr const char* module_file = "libkiln_cuda.so";

std::string last_dl_error() {
  const char* const text = dlerror();
  return text != nullptr ? text : "unknown error";
}

// Folders that are searched, in order: that of libkiln itself, then where libraries are installed.
std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  static const char inside_libkiln = 0;
  Dl_info found{};
  if (dladdr(&inside_libkiln, &found) != 0 && found.dli_fname != nullptr) {
    folders.push_back(fs::path(found.dli_fname).parent_path());
  }
#if defined(KILN_INSTALL_LIBDIR)
  folders.emplace_back(KILN_INSTALL_LIBDIR);
#endif
  return folders;
}

#endif

std::string build_text(const CudaModule& module) {
  return std::string("Kiln ") + module.kiln_version;
}

}  // namespace

fs::path find_cuda_module() {
#if defined(KILN_STATIC)
  // The address of a weak symbol is null where nothing defines it.
  if (&kiln_cuda_module == nullptr) refuse_not_built("This is a static build.");
  return {};
#else
  const char* const named = std::getenv("KILN_CUDA_MODULE");
  if (named != nullptr && *named != '\0') {
    // dlopen would look for a bare name in the folders of the system, and this file in another.
    if (std::string(named).find('/') == std::string::npos) {
      throw PluginError("module.path", std::string("KILN_CUDA_MODULE is not a path: ") + named,
                        "a path with a '/'", std::string("KILN_CUDA_MODULE=./") + named);
    }
    std::error_code failed;
    if (!fs::exists(named, failed)) {
      refuse_not_built(std::string("KILN_CUDA_MODULE names ") + named + ", which does not exist.");
    }
    return named;
  }
  std::string searched;
  for (const fs::path& folder : module_folders()) {
    std::error_code failed;
    // Made absolute: dlopen would look for a bare name in the system's folders instead.
    fs::path path = fs::absolute(folder / module_file, failed);
    if (!failed && fs::exists(path, failed)) return path;
    searched += (searched.empty() ? "" : ", ") + folder.string();
  }
  refuse_not_built(std::string(module_file) + " was not found in these folders: " + searched);
#endif
}

const CudaModule& load_cuda_module(const fs::path& path) {
#if defined(KILN_STATIC)
  auto* const entry = &kiln_cuda_module;
#else
  // Before a constructor of it runs.
  check_module_file(
      path, module_note(cuda_module_abi, sizeof(CudaModule), cuda_module_fingerprint(), version()));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw PluginError("module.open", "the CUDA module cannot be opened: " + last_dl_error(), {},
                      "reinstall Kiln, or correct KILN_CUDA_MODULE if it is set");
  }
  using Entry = const CudaModule*() noexcept;
  auto* const entry = reinterpret_cast<Entry*>(dlsym(library, "kiln_cuda_module"));
  if (entry == nullptr) {
    throw PluginError("module.entry", path.string() + " is not a CUDA module of Kiln", {},
                      "correct KILN_CUDA_MODULE if it is set");
  }
#endif
  const CudaModule* const module = entry();
  const bool known = module != nullptr && module->struct_size == sizeof(CudaModule) &&
                     module->abi == cuda_module_abi;
  if (known && module->fingerprint == cuda_module_fingerprint() &&
      module->kiln_version == std::string(version())) {
    return *module;
  }
  // Without the layout that is known here not even its version can be read.
  throw PluginError("module.version",
                    "the CUDA module " + path.string() + " is part of " +
                        (known ? build_text(*module) : "another version of Kiln") +
                        ", but libkiln is part of Kiln " + version(),
                    "The CUDA module and libkiln must come from one build.",
                    "reinstall Kiln, or correct KILN_CUDA_MODULE if it is set");
}

}  // namespace kiln
