// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "compiled/objective_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/files/user_cache.hpp"
#include "kiln/problems/source_objective.hpp"
#include "kiln/version.hpp"

#include "expensive/process.hpp"
#include "readers/text_reader.hpp"
#include "sha256.hpp"

namespace kiln::problems::detail {
namespace {

namespace fs = std::filesystem;

constexpr double time_limit_s = 20;  // its processor time ends before, on a machine that is idle
constexpr int no_compiler = 3;

fs::path cache_folder() {
  const fs::path folder = user_cache_folder();
  return folder.empty() ? fs::path() : folder / "objectives";
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

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text << std::flush;
  if (!out) refuse_folder(path.parent_path(), "a file cannot be written");
}

fs::path sum_file(const fs::path& result) { return result.string() + ".sum"; }

std::string sum_of(const fs::path& path) {
  Sha256 hash;
  hash.update(read(path));
  return hash.hex();
}

/// Whether a result is there with all that was written: a full disk or a loss of power may have cut
/// it off.
bool is_whole(const fs::path& result) {
  std::error_code error;
  return fs::is_regular_file(result, error) && read(sum_file(result)) == sum_of(result);
}

/// Removes the scratch folders of processes that were ended while they compiled.
void remove_remains(const fs::path& folder) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& one : fs::directory_iterator(folder, error)) {
    if (!one.path().filename().string().starts_with("new.")) continue;
    const auto time = fs::last_write_time(one.path(), error);
    if (!error && now - time > std::chrono::hours(1)) fs::remove_all(one.path(), error);
  }
}

/// Whether a line of a compiler is about the user's text, or is an error about what Kiln adds.
bool is_telling(std::string_view line, const std::string& file) {
  const bool is_ours = line.find("the end of the objective:") == 0;
  return line.starts_with(file) || (is_ours && line.find("error: static assertion") != line.npos);
}

/// The first lines of the messages that tell the user something, or of all.
std::string first_lines(const std::string& text, const std::string& file) {
  constexpr std::size_t max_lines = 12, max_width = 240;
  std::vector<std::string_view> all, telling;
  bool tells = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    all.push_back(line);
    // An excerpt belongs to the message before it.
    const bool is_excerpt = line.starts_with(' ');
    tells = is_excerpt ? tells : is_telling(line, file);
    if (tells) telling.push_back(line);
    at = end + 1;
  }
  std::string lines;
  std::span<const std::string_view> shown(telling.empty() ? all : telling);
  for (const std::string_view line : shown.first(std::min(shown.size(), max_lines))) {
    lines += "\n  ";
    for (const char c : line.substr(0, max_width)) {
      lines += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
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
  // Whoever may write the parent may put another folder in this one's place.
  require_private(folder_.parent_path());
  require_private(folder_);
  remove_remains(folder_);
}

fs::path ObjectiveCache::compiled(const std::string& unit, const std::string& target) const {
  Sha256 hash;
  const char* const host = std::getenv("CXX");
  hash.update(std::string(version()) + "\n" + target + "\n" +
              (target == "cpu" && host != nullptr ? host : "") + "\n" + unit);
  const fs::path result =
      folder_ / (hash.hex().substr(0, 32) + (target == "cpu" ? ".so" : ".cubin"));
  if (is_whole(result)) return result;
  const ScratchFolder scratch(folder_);
  const fs::path source = scratch.path() / "unit.cpp", made = scratch.path() / "result";
  write(source, unit);
  compile(source, target, made);
  std::error_code error;
  if (!fs::is_regular_file(made, error)) {
    throw InvalidArgument("objective.compiler", "the compiler has ended without a result",
                          "a compiler for C++20, named by CXX, or c++");
  }
  // The sum first: what has none is compiled again. Whoever comes second replaces the same by the
  // same.
  const fs::path sum = scratch.path() / "sum";
  write(sum, sum_of(made));
  fs::rename(sum, sum_file(result), error);
  if (!error) fs::rename(made, result, error);
  if (error) refuse_folder(folder_, error.message());
  return result;
}

std::string ObjectiveCache::contents(const std::string& unit, const std::string& target) const {
  return read(compiled(unit, target));
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
  const std::string how =
      child.end == End::exited      ? ""
      : child.end == End::timed_out ? " within its time limit"
      : child.end == End::killed
          ? (child.code == SIGXCPU || child.code == SIGKILL
                 ? " within its limits (10 s, 4 GiB)"
                 : ": signal " + std::to_string(child.code) + " ended the compiler")
          : ": the compiler cannot be started";
  throw InvalidArgument("objective.compile", printable(file_) + " does not compile" + how +
                                                 first_lines(child.errors + child.output, file_));
}

}  // namespace kiln::problems::detail
