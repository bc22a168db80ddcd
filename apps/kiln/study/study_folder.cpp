// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "study/study_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>  // flock
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/version.hpp"

#include "cli/document_file.hpp"
#include "errors.hpp"
#include "experiments/evaluation_files.hpp"
#include "output/atomic_file.hpp"
#include "output/text.hpp"
#include "study/study_journal.hpp"

namespace kiln::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const DocumentKind study_document{"study.json", "kiln.study/1", "",
                                  "the folder of a study, which kiln ask --new made"};

[[noreturn]] void refuse_write(const fs::path& path, const std::string& reason) {
  throw IoError("io.write", clean(path.string()) + ": " + reason, {},
                "choose a folder that can be created and written");
}

StudySettings read_settings(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path / study_document.file, ignored)) {
    throw InputError("study.missing", clean(path.string()) + " is no folder of a study",
                     "expected: " + study_document.expected,
                     "kiln ask --new " + clean(path.string()) + " --var x=real:0:1");
  }
  const DocumentFile file = read_document(path.string(), study_document);
  StudySettings settings;
  try {
    for (const auto& text : file.json.at("variables")) {
      settings.variables.push_back(read_exact_text(text, file, study_document));
    }
    file.json.at("constraints").get_to(settings.constraints);
    file.json.at("sense").get_to(settings.sense);
    file.json.at("seed").get_to(settings.seed);
    file.json.at("device").get_to(settings.device);
    file.json.at("parameters").get_to(settings.parameters);
    if (!file.json.at("evaluations").is_null()) {
      settings.evaluations = file.json.at("evaluations").get<std::int64_t>();
    }
  } catch (const nlohmann::json::exception& error) {
    refuse_document(file, study_document, json_reason(error));
  }
  return settings;
}

// What a process that was killed while it made a study may have left.
bool is_unfinished(const fs::path& path) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename().string();
    const bool own = name == "waiting" || name == "claimed";
    if (!own || !entry.is_directory(error) || !fs::is_empty(entry.path(), error)) return false;
  }
  return !error;
}

}  // namespace

void StudyFolder::create(const fs::path& path, const StudySettings& settings) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) refuse_write(path, "the folder cannot be created: " + error.message());
  if (!is_unfinished(path)) {
    throw IoError(
        "io.exists", clean(path.string()) + " exists and is not empty", {},
        "choose another folder, or ask the study that is there: kiln ask " + clean(path.string()));
  }
  for (const char* name : {"waiting", "claimed"}) {
    fs::create_directory(path / name, error);
    if (error) refuse_write(path / name, "the folder cannot be created: " + error.message());
  }
  Json json = {{"schema", study_document.schema}, {"kiln", version()}};
  for (const std::string& text : settings.variables) json["variables"].push_back(exact_text(text));
  json["constraints"] = settings.constraints;
  json["sense"] = settings.sense;
  json["seed"] = settings.seed;
  json["device"] = settings.device;
  json["evaluations"] = settings.evaluations ? Json(*settings.evaluations) : Json();
  json["parameters"] = settings.parameters;
  write_file(path / study_document.file, document_text(json, 1), Existing::refuse);
}

StudyFolder::StudyFolder(fs::path path)
    : path_(std::move(path)), settings_(read_settings(path_)), problem_(settings_.problem()) {}

fs::path StudyFolder::file_of(const char* folder, std::int64_t id) const {
  return path_ / folder / fmt::format("{}.json", id);
}

std::vector<PointDocument> StudyFolder::claim(std::int64_t count) const {
  std::vector<std::int64_t> ids;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_ / "waiting", ignored)) {
    const std::string name = entry.path().filename().string();
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error == std::errc() && std::string_view(end) == ".json") ids.push_back(id);
  }
  std::ranges::sort(ids);
  std::vector<PointDocument> points;
  for (const std::int64_t id : ids) {
    if (static_cast<std::int64_t>(points.size()) == count) break;
    // Of all who rename a file one succeeds.
    const fs::path mine = file_of("claimed", id);
    fs::rename(file_of("waiting", id), mine, ignored);
    if (ignored) continue;
    std::ifstream in(mine);
    Json point = Json::parse(in, nullptr, false);
    if (!point.is_object() || !point.contains("id") || !point.contains("point")) {
      throw ParseError(clean(mine.string()), {{0, 0, "this is no point of a study", ""}}, 1,
                       "kiln tell " + clean(path_.string()) + fmt::format(" {} --failed", id));
    }
    points.push_back(std::move(point));
  }
  return points;
}

StudyRecord StudyFolder::read() const { return read_journal(path_ / journal_name, problem_); }

void StudyFolder::repair(const StudyRecord& record) const {
  std::error_code ignored;
  for (const auto& [id, point] : record.points) {
    // First where a point is, then where it may have been moved since.
    const bool waits = fs::exists(file_of("waiting", id), ignored);
    const bool has_file = waits || fs::exists(file_of("claimed", id), ignored);
    if (point.told && has_file) forget(id);
    if (!point.told && !has_file) publish(point, false);
  }
}

void StudyFolder::append(StudyRecord& record, const std::vector<StudyEvent>& events,
                         const std::vector<StudyPoint>& points) const {
  StudyRecord next = record;
  for (const StudyPoint& point : points) next.points.emplace(point.id, point);
  std::string text;
  for (const StudyEvent& event : events) text += journal_line(next, event);
  GrowingFile file(path_ / journal_name, record.bytes);
  file.append(text, /*durable=*/true);
  if (!file.error().empty()) throw IoError("io.write", file.error(), {}, "make room on the disk");
  next.bytes += text.size();
  record = std::move(next);
}

void StudyFolder::publish(const StudyPoint& point, bool claimed) const {
  const fs::path file = file_of(claimed ? "claimed" : "waiting", point.id);
  write_file(file, document_text(document_of(point), -1));
}

bool StudyFolder::release(std::int64_t id) const {
  std::error_code error;
  fs::rename(file_of("claimed", id), file_of("waiting", id), error);
  return !error;
}

void StudyFolder::forget(std::int64_t id) const {
  std::error_code ignored;
  for (const char* folder : {"waiting", "claimed"}) fs::remove(file_of(folder, id), ignored);
}

bool StudyFolder::is_claimed(std::int64_t id) const {
  std::error_code ignored;
  return fs::exists(file_of("claimed", id), ignored);
}

void StudyFolder::write_table(const StudyRecord& record) const {
  EvaluationTable table(problem_);
  std::string text = table.header();
  for (const StudyEvent& event : record.events) {
    if (event.asked > 0) continue;
    Evaluation one;
    one.batch = event.told.id;
    one.state = state_of(problem_, record.points.at(event.told.id).numbers);
    one.value = event.told.value;
    one.constraints = event.told.constraints;
    text += table.row(one);
  }
  replace_file(path_ / "evaluations.csv", text);
}

void StudyFolder::save(const StudyRecord& record, const std::vector<double>& state) const {
  const std::string_view bytes(reinterpret_cast<const char*>(state.data()),
                               state.size() * sizeof(double));
  const Json head = {{"schema", "kiln.search/1"},
                     {"lines", record.sums.size()},
                     {"sum", record.sums.empty() ? "" : record.sums.back()},
                     {"state", sum_of("", bytes)}};
  replace_file(path_ / state_name, head.dump() + "\n" + std::string(bytes));
}

std::optional<StudyFolder::Saved> StudyFolder::saved(const StudyRecord& record) const {
  std::ifstream in(path_ / state_name, std::ios::binary);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  const Json head = Json::parse(line, nullptr, false);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto text_of = [&](const char* name) {
    return head.is_object() && head.contains(name) && head[name].is_string()
               ? head[name].get<std::string>()
               : std::string();
  };
  if (text_of("schema") != "kiln.search/1" || !head.contains("lines") ||
      !head["lines"].is_number_unsigned() || text_of("state") != sum_of("", bytes)) {
    return std::nullopt;
  }
  Saved saved;
  saved.lines = head["lines"].get<std::size_t>();
  if (saved.lines > record.sums.size()) {
    throw InputError(
        "study.journal",
        fmt::format("{} has {} lines, and had {} when the study was last asked: "
                    "points and values are lost",
                    clean((path_ / journal_name).string()), record.sums.size(), saved.lines),
        {}, "restore the journal from a copy, or begin a new study");
  }
  const bool same = saved.lines > 0 && saved.lines <= record.sums.size() &&
                    record.sums[saved.lines - 1] == text_of("sum");
  if (!same || bytes.size() % sizeof(double) != 0) return std::nullopt;
  saved.state.resize(bytes.size() / sizeof(double));
  std::memcpy(saved.state.data(), bytes.data(), bytes.size());
  return saved;
}

PointDocument StudyFolder::document_of(const StudyPoint& point) const {
  const State state = state_of(problem_, point.numbers);
  Json values = Json::object();
  std::size_t k = 0;
  for (const auto& [name, text] : problem_.solution.named_values(spans_of(state))) {
    const bool word = problem_.coordinates[k++].categorical;
    values[name] = word ? exact_text(text) : Json::parse(text);
  }
  return {{"id", point.id}, {"point", values}};
}

StudyLock::StudyLock(const StudyFolder& folder) {
  descriptor_ = ::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int done = descriptor_;
  while (done >= 0 && (done = ::flock(descriptor_, LOCK_EX)) < 0 && errno == EINTR) done = 0;
  if (done < 0) {
    throw IoError("study.lock",
                  clean(folder.path().string()) + " cannot be locked: " + std::strerror(errno), {},
                  "move the study to a file system that has locks");
  }
}

StudyLock::~StudyLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace kiln::cli
