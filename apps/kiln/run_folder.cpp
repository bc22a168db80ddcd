// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run_folder.hpp"

#include <fmt/format.h>

#include <system_error>

#include "atomic_file.hpp"
#include "errors.hpp"
#include "text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// The next name that is free: out/g22 -> out/g22-2.
std::string free_name_like(const fs::path& path) {
  for (int number = 2; number < 10000; ++number) {
    std::string name = fmt::format("{}-{}", path.string(), number);
    std::error_code error;
    if (!fs::exists(name, error)) return name;
  }
  return path.string() + "-new";
}

[[noreturn]] void refuse_existing(const fs::path& path) {
  throw IoError("io.exists",
                clean(path.string()) + " has files in it; an existing run is never overwritten", {},
                "-o " + clean(free_name_like(path)));
}

}  // namespace

Trace::Trace(bool integral)
    : integral_(integral),
      text_("time_s,sweeps,attempts,best,mean,acceptance_rate,beta,attempts_per_ns\n") {}

void Trace::add(const ReportPoint& p) {
  std::string best;
  if (p.has_best) best = integral_ ? fmt::format("{:.0f}", p.best) : fmt::format("{}", p.best);
  text_ += fmt::format("{:.6f},{},{:.0f},{},{},{},{},{}\n", p.time_s, p.sweeps, p.attempts, best,
                       p.mean, p.acceptance_rate, p.beta, p.attempts_per_ns);
}

RunFolder::RunFolder(const std::string& path) : path_(fs::path(path).lexically_normal()) {
  // `out/run/` names the same folder as `out/run`.
  if (!path_.has_filename()) path_ = path_.parent_path();
  if (path_.empty()) path_ = ".";
  std::error_code error;
  made_here_ = fs::create_directories(path_, error);
  if (error) {
    throw IoError(
        "io.write",
        fmt::format("{}: cannot be made a folder: {}", clean(path_.string()), error.message()), {},
        "choose a folder that can be made and written to, for example -o out/run");
  }
  const bool is_empty = fs::is_empty(path_, error);
  if (!error && !is_empty) refuse_existing(path_);
  check_writable(path_);
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  if (made_here_ && names_.empty()) fs::remove(path_, ignored);  // only if it is empty
}

void RunFolder::write(const std::string& name, std::string_view content) {
  write(name, content, name);
}

void RunFolder::write(const std::string& name, std::string_view content,
                      const std::string& listed_as) {
  write_file(path_ / name, content);
  const bool listed = names_ == listed_as || names_.ends_with("," + listed_as);
  if (!listed) names_ += (names_.empty() ? "" : ",") + listed_as;
}

std::string RunFolder::description() const {
  return clean((path_ / ("{" + names_ + "}")).string());
}

}  // namespace kiln::cli
