// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "compiled/nvrtc.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

namespace kiln::problems::detail {
namespace {

// The C interface of NVRTC, which has not changed since CUDA 11.1.
using Program = void*;
using Create = int (*)(Program*, const char*, const char*, int, const char* const*,
                       const char* const*);
using Compile = int (*)(Program, int, const char* const*);
using GetSize = int (*)(Program, std::size_t*);
using GetText = int (*)(Program, char*);
using Destroy = int (*)(Program*);

std::vector<std::string> candidates() {
  if (const char* const given = std::getenv("KILN_NVRTC"); given != nullptr) return {given};
  std::vector<std::string> paths{"libnvrtc.so.13", "libnvrtc.so.12"};
  for (const char* const name : {"CUDA_PATH", "CUDA_HOME"}) {
    const char* const folder = std::getenv(name);
    if (folder != nullptr) paths.push_back(std::string(folder) + "/lib64/libnvrtc.so");
  }
  paths.emplace_back("/usr/local/cuda/lib64/libnvrtc.so");
  return paths;
}

void* open_library() {
  for (const std::string& path : candidates()) {
    if (void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <class Function>
Function function(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

std::string text_of(void* library, Program program, const char* size_name, const char* text_name) {
  const auto get_size = function<GetSize>(library, size_name);
  const auto get_text = function<GetText>(library, text_name);
  std::size_t size = 0;
  if (get_size == nullptr || get_text == nullptr || get_size(program, &size) != 0) return {};
  std::string text(size, '\0');
  return get_text(program, text.data()) == 0 ? text : std::string{};
}

}  // namespace

bool Nvrtc::is_installed() {
  for (const std::string& path : candidates()) {
    if (path.find('/') != path.npos && ::access(path.c_str(), R_OK) == 0) return true;
  }
  return Nvrtc().found();
}

Nvrtc::Nvrtc() {
  static void* const library = open_library();
  library_ = library;
}

bool Nvrtc::compile(const std::string& unit, const std::string& architecture, std::string& code,
                    std::string& log) const {
  const auto create = function<Create>(library_, "nvrtcCreateProgram");
  const auto compile = function<Compile>(library_, "nvrtcCompileProgram");
  const auto destroy = function<Destroy>(library_, "nvrtcDestroyProgram");
  if (create == nullptr || compile == nullptr || destroy == nullptr) {
    log = "the library lacks functions of NVRTC\n";
    return false;
  }
  Program program = nullptr;
  if (create(&program, unit.c_str(), "objective", 0, nullptr, nullptr) != 0) {
    log = "NVRTC could not be started\n";
    return false;
  }
  const std::string target = "--gpu-architecture=sm_" + architecture;
  const std::array options{target.c_str(), "--std=c++20", "--device-as-default-execution-space"};
  const bool works = compile(program, static_cast<int>(options.size()), options.data()) == 0;
  log = text_of(library_, program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
  if (!log.empty() && log.back() == '\0') log.pop_back();
  if (works) code = text_of(library_, program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN");
  static_cast<void>(destroy(&program));
  return works && !code.empty();
}

}  // namespace kiln::problems::detail
