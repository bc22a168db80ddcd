// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/run_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>  // flock
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "kiln/options.hpp"

#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;

// The next name that is free: out/g22 -> out/g22-2. Names that cannot be typed or grow no longer
// give way to a plain one.
std::string free_name_like(fs::path path) {
  constexpr std::size_t longest = 250;
  const std::string last = path.filename().string();
  if (!is_clean(last) || last.size() > longest) path.replace_filename("run");
  for (int number = 2; number < 10000; ++number) {
    std::string name = fmt::format("{}-{}", path.string(), number);
    std::error_code error;
    if (!fs::exists(name, error)) return name;
  }
  return path.string() + "-new";
}

// Of a folder and those around it, innermost first, what is not there yet.
std::vector<fs::path> missing_of(fs::path path) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (; !path.empty() && !fs::exists(path, error); path = path.parent_path()) {
    missing.push_back(path);
  }
  return missing;
}

[[noreturn]] void refuse_existing(const fs::path& path) {
  throw IoError("io.exists",
                clean(path.string()) + " contains files, and Kiln never overwrites an existing run",
                {}, "-o " + shell_word(free_name_like(path)));
}

// Seven logs, a new file beside a checkpoint, a file that is read, and for commands the folder, its
// socket and a connection.
constexpr std::size_t open_files_of_run = 13;

// A limit that a run meets at its end costs its files. Only what counts is asked for: every other
// reason is said by the file that it concerns.
void require_open_files() {
  std::vector<int> descriptors;
  int reason = 0;
  while (reason == 0 && descriptors.size() < open_files_of_run) {
    const int descriptor = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    reason = descriptor < 0 ? errno : 0;
    if (descriptor >= 0) descriptors.push_back(descriptor);
  }
  for (const int descriptor : descriptors) ::close(descriptor);
  if (reason != EMFILE && reason != ENFILE) return;
  const std::size_t missing = open_files_of_run - descriptors.size();
  if (reason == ENFILE) {
    throw IoError("io.open_files", "the system cannot open any more files", {},
                  "end other programs, or raise fs.file-max");
  }
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  throw IoError("io.open_files",
                fmt::format("a process may have {} open files here, and a run with a run folder "
                            "needs {} more",
                            limit.rlim_cur, missing),
                "the limit is that of ulimit -n",
                fmt::format("ulimit -n {}, and then the same command",
                            std::max<std::uint64_t>(64, limit.rlim_cur + missing)));
}

}  // namespace

RunFolder::RunFolder(const std::string& path) : path_(fs::path(path).lexically_normal()) {
  // `out/run/` names the same folder as `out/run`.
  if (!path_.has_filename()) path_ = path_.parent_path();
  if (path_.empty()) path_ = ".";
  made_here_ = missing_of(path_);
  try {
    make();
  } catch (...) {
    give_back();
    throw;
  }
}

RunFolder::RunFolder(const std::string& path, Continues)
    : path_(fs::path(path).lexically_normal()), continues_(true) {
  if (!path_.has_filename()) path_ = path_.parent_path();
  if (path_.empty()) path_ = ".";
  std::error_code error;
  if (!fs::is_directory(path_, error)) {
    throw InputError("resume.missing", clean(path_.string()) + " is no run folder",
                     "expected: the folder that kiln solve or kiln sample wrote with -o");
  }
  if (!claim()) {
    throw InputError("resume.busy", clean(path_.string()) + " belongs to a run in progress", {},
                     "wait until the run has ended");
  }
  require_open_files();
  check_writable(path_ / "result.json");
  require_files();
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path_, error)) {
    written_.insert(entry.path().lexically_relative(path_).string());
  }
}

// A run that continues meets what others have put in the place of its files. A log is written to
// as it is; of the other files the run makes new ones, which take no place of a folder.
void RunFolder::require_files() const {
  const auto refuse = [&](const char* name, const char* why) {
    const std::string file = clean((path_ / name).string());
    throw IoError("io.write", fmt::format("{}: {}", file, why), {},
                  fmt::format("move {} away: the run makes a new one", shell_word(file)));
  };
  for (const char* name : {"trace.csv", "events.ndjson", "incumbents.ndjson", "telemetry.bin",
                           "evaluations.csv", "evaluations.sums", "commands.ndjson"}) {
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(path_ / name, ignored);
    if (!fs::exists(status)) continue;
    if (!fs::is_regular_file(status)) refuse(name, "this is no regular file, and no log of a run");
    if (::access((path_ / name).c_str(), W_OK) != 0) refuse(name, "the log cannot be written");
  }
  for (const char* name : {"result.json", "solution.txt", "front.csv", "front.svg", "summary.csv",
                           "draws.npy", "checkpoint.kiln", "checkpoint.prev.kiln", "report.html"}) {
    std::error_code ignored;
    if (fs::is_directory(fs::symlink_status(path_ / name, ignored))) {
      refuse(name, "this is a folder, and the run writes a file of this name");
    }
  }
}

void RunFolder::make() {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) {
    throw IoError(
        "io.write",
        fmt::format("{}: the folder cannot be created: {}", clean(path_.string()), error.message()),
        {}, "choose a folder that can be created and written, for example -o out/run");
  }
  if (!claim()) {
    made_here_.clear();  // the other run's now, which may not have written anything yet
    throw IoError("io.exists", clean(path_.string()) + " belongs to a run in progress", {},
                  "-o " + shell_word(free_name_like(path_)));
  }
  const bool is_empty = fs::is_empty(path_, error);
  if (!error && !is_empty) refuse_existing(path_);
  require_open_files();
  check_writable(path_ / "run.json");
}

// A lock, which no killed process leaves behind. File systems without locks have no claims. False:
// another run has it.
bool RunFolder::claim() {
  claim_.descriptor = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (claim_.descriptor < 0 || ::flock(claim_.descriptor, LOCK_EX | LOCK_NB) == 0) {
    require_own();
    return true;
  }
  return errno != EWOULDBLOCK;
}

// What was claimed is a folder, not a name: another run may have made one of the same name since.
bool RunFolder::is_own() const noexcept {
  if (claim_.descriptor < 0) return true;
  struct stat claimed = {}, there = {};
  return ::fstat(claim_.descriptor, &claimed) == 0 && ::stat(path_.c_str(), &there) == 0 &&
         claimed.st_dev == there.st_dev && claimed.st_ino == there.st_ino;
}

void RunFolder::require_own() const {
  if (is_own()) return;
  throw IoError("io.write",
                clean(path_.string()) + ": the folder of this run was removed or replaced", {},
                "do not change the folder of a run before the run has ended");
}

RunFolder::Claim::~Claim() {
  if (descriptor >= 0) ::close(descriptor);
}

RunFolder::~RunFolder() { give_back(); }

void RunFolder::give_back() noexcept {
  std::error_code ignored;
  if (!listed_.empty() || !is_own()) return;
  for (const fs::path& folder : made_here_) fs::remove(folder, ignored);  // only if it is empty
}

void RunFolder::discard() noexcept {
  std::error_code ignored;
  if (!is_own() || continues_) return;
  for (const std::string& name : written_) {
    fs::remove(path_ / name, ignored);
    const fs::path folder = fs::path(name).parent_path();
    if (!folder.empty()) fs::remove(path_ / folder, ignored);  // only if it is empty
  }
  listed_.clear();
  give_back();
}

void RunFolder::write(const std::string& name, std::string_view content) {
  write(name, Pieces{content}, name);
}

void RunFolder::write(const std::string& name, const Pieces& content,
                      const std::string& listed_as) {
  require_own();
  make_folder_of(name);
  write_file(path_ / name, content, written_.contains(name) ? Existing::replace : Existing::refuse);
  list(name, listed_as);
}

void RunFolder::replace(const std::string& name, std::string_view content) {
  require_own();
  replace_file(path_ / name, content);
  list(name, name);
}

// One below the folder, of files that are many.
void RunFolder::make_folder_of(const std::string& name) const {
  const fs::path folder = fs::path(name).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directory(path_ / folder, error);  // writing says what is wrong
}

std::unique_ptr<GrowingFile> RunFolder::grow(const std::string& name) {
  require_own();
  const auto kept = kept_.find(name);
  auto file = continues_ ? std::make_unique<GrowingFile>(path_ / name,
                                                         kept == kept_.end() ? ~0ull : kept->second)
                         : std::make_unique<GrowingFile>(path_ / name);
  list(name, name);
  return file;
}

void RunFolder::remove_remains() noexcept {
  std::error_code ignored;
  if (!is_own()) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".") && name.ends_with(".tmp")) fs::remove(entry.path(), ignored);
  }
}

fs::path RunFolder::place_of(const std::string& name) const {
  require_own();
  return path_ / name;
}

void RunFolder::list(const std::string& name, const std::string& listed_as) {
  written_.insert(name);
  if (std::ranges::find(listed_, listed_as) == listed_.end()) listed_.push_back(listed_as);
}

// What tells of the run as a whole first, logs last; files of a verb in between.
std::string RunFolder::description() const {
  if (!is_own()) return {};
  constexpr std::array<std::string_view, 3> first{"run.json", "result.json", "evaluations.csv"};
  constexpr std::array<std::string_view, 8> last{
      "incumbents",    "incumbents.ndjson", "trace.csv",       "events.ndjson",
      "telemetry.bin", "evaluations.sums",  "checkpoint.kiln", "report.html"};
  std::vector<std::string> names = listed_;
  std::ranges::stable_sort(names, {}, [&](const std::string& name) {
    const auto begin = std::ranges::find(first, name) - first.begin();
    const auto end = std::ranges::find(last, name);
    return end == last.end() ? begin : 10 + (end - last.begin());
  });
  return clean((path_ / fmt::format("{{{}}}", fmt::join(names, ","))).string());
}

}  // namespace kiln::cli
