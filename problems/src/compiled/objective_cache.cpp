// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "compiled/objective_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stop_token>
#include <system_error>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/source_objective.hpp"
#include "kiln/version.hpp"

#include "expensive/process.hpp"
#include "readers/text_reader.hpp"
#include "sha256.hpp"

namespace kiln::problems::detail {
namespace {

namespace fs = std::filesystem;

constexpr double time_limit_s = 30;  // the child's processor time ends before
constexpr int no_compiler = 3;

fs::path cache_folder() {
  const auto set = [](const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? fs::path(value) : fs::path();
  };
  if (const fs::path own = set("KILN_CACHE_DIR"); !own.empty()) return own / "objectives";
  if (const fs::path all = set("XDG_CACHE_HOME"); !all.empty()) return all / "kiln/objectives";
  if (const fs::path home = set("HOME"); !home.empty()) return home / ".cache/kiln/objectives";
  return {};
}

[[noreturn]] void refuse_folder(const fs::path& folder, const std::string& why) {
  throw InvalidArgument(
      "objective.cache",
      "compiled objectives cannot be kept in " + printable(folder.string()) + ": " + why,
      "a folder of yours", "KILN_CACHE_DIR=FOLDER kiln solve ...");
}

// What is in it is executed, so nobody else may write it.
void require_private(const fs::path& folder) {
  struct stat found = {};
  if (::lstat(folder.c_str(), &found) != 0) refuse_folder(folder, std::strerror(errno));
  if (!S_ISDIR(found.st_mode)) refuse_folder(folder, "it is no folder");
  if (found.st_uid != ::geteuid()) refuse_folder(folder, "it belongs to another user");
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) != 0) refuse_folder(folder, "others may write it");
}

/// A folder that is removed with what is in it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& parent) : path_((parent / "new.XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) refuse_folder(parent, std::strerror(errno));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  fs::path path() const { return path_; }

 private:
  std::string path_;
};

/// The first lines of the messages; the rest of an error in a template tells nothing new.
std::string first_lines(const std::string& text) {
  constexpr std::size_t max_lines = 12, max_width = 160;
  std::string lines;
  std::size_t at = 0;
  for (std::size_t line = 0; line < max_lines && at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += "\n  ";
    for (const char c : text.substr(at, std::min(end - at, max_width))) {
      lines += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
    at = end + 1;
  }
  return lines;
}

}  // namespace

ObjectiveCache::ObjectiveCache(std::string compiler, std::string file)
    : folder_(cache_folder()), compiler_(std::move(compiler)), file_(std::move(file)) {
  if (folder_.empty()) refuse_folder("~/.cache", "HOME is not set");
  std::error_code error;
  fs::create_directories(folder_.parent_path(), error);
  if (::mkdir(folder_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    refuse_folder(folder_, std::strerror(errno));
  }
  require_private(folder_);
}

fs::path ObjectiveCache::compiled(const std::string& unit, const std::string& target) const {
  Sha256 hash;
  const char* const host = std::getenv("CXX");
  hash.update(std::string(version()) + "\n" + target + "\n" +
              (target == "cpu" && host != nullptr ? host : "") + "\n" + unit);
  const fs::path result =
      folder_ / (hash.hex().substr(0, 32) + (target == "cpu" ? ".so" : ".cubin"));
  std::error_code error;
  if (fs::exists(result, error)) return result;
  const ScratchFolder scratch(folder_);
  const fs::path source = scratch.path() / "unit.cpp", made = scratch.path() / "result";
  std::ofstream out(source, std::ios::binary);
  out << unit << std::flush;
  if (!out)
    refuse_folder(folder_, "a file cannot be written: " + std::string(std::strerror(errno)));
  compile(source, target, made);
  fs::rename(made, result, error);  // whoever comes second replaces the same by the same
  if (error) refuse_folder(folder_, error.message());
  return result;
}

void ObjectiveCache::compile(const fs::path& unit, const std::string& target,
                             const fs::path& result) const {
  std::vector<std::string> words{compiler_, compile_objective_verb};
  if (target == "cpu") {
    words.emplace_back("cpu");
  } else {
    words.insert(words.end(), {"gpu", target});
  }
  words.insert(words.end(), {unit.string(), result.string()});
  const ProcessResult child = run_process(words, time_limit_s, std::stop_token{});
  using End = ProcessResult::End;
  if (child.end == End::exited && child.code == 0) return;
  const std::string whose = target == "cpu" ? "C++ compiler" : "CUDA run-time compiler (NVRTC)";
  if (child.end == End::exited && child.code == no_compiler) {
    throw InvalidArgument("objective.compiler", "there is no " + whose,
                          target == "cpu" ? "a compiler for C++20, named by CXX, or c++"
                                          : "libnvrtc.so of the CUDA toolkit",
                          target == "cpu" ? "CXX=g++ kiln solve ..." : "--device cpu");
  }
  const std::string how = child.end == End::exited      ? ""
                          : child.end == End::timed_out ? " within its time limit"
                          : child.end == End::killed    ? " within its limits (10 s, 4 GiB)"
                                                        : ": the compiler cannot be started";
  throw InvalidArgument("objective.compile", printable(file_) + " does not compile" + how +
                                                 first_lines(child.errors + child.output));
}

}  // namespace kiln::problems::detail
