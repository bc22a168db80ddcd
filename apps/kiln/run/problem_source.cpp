// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/problem_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <streambuf>

#include "kiln/problems/best_known.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/problems/qubo.hpp"
#include "kiln/problems/table.hpp"
#include "kiln/problems/unpacked.hpp"

#include "cli/catalogue.hpp"
#include "cli/plugin_option.hpp"
#include "cli/sense.hpp"
#include "errors.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"
#include "run/input_file.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t peeked_bytes = 65536;

/// Lets a reader see from the start what was peeked at: pipes cannot be rewound.
class PeekedBuffer : public std::streambuf {
 public:
  PeekedBuffer(std::streambuf& source, std::string name)
      : source_(source), name_(std::move(name)), block_(peeked_bytes, '\0') {
    fill();
  }
  std::string_view peeked() const { return {eback(), static_cast<std::size_t>(egptr() - eback())}; }

 protected:
  int_type underflow() override {
    if (gptr() == egptr()) fill();
    return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
  }

 private:
  void fill() {
    std::streamsize n_read = 0;
    try {
      n_read = source_.sgetn(block_.data(), static_cast<std::streamsize>(block_.size()));
    } catch (const std::ios_base::failure&) {
      // The buffer of a file throws where a disk fails; here no stream catches it.
      throw IoError("io.read", name_ + ": reading failed");
    }
    setg(block_.data(), block_.data(), block_.data() + n_read);
  }
  std::streambuf& source_;
  std::string name_;
  std::string block_;
};

std::string instance_hint(const std::string& path) {
  const std::string problem = problem_of_instance(path, known_registry());
  if (problem.empty()) {
    return "check the path; kiln list formats and kiln list problems show valid names";
  }
  return fmt::format("for the generated instance, write {}", problem);
}

LoadedFile read(std::streambuf& source, const std::string& path, const std::string& format_name,
                const ReaderOptions& options) {
  LoadedFile file;
  file.name = path == "-" ? "standard input" : clean(path);
  problems::UnpackedBuffer unpacked(source, file.name);
  PeekedBuffer buffer(unpacked, file.name);
  std::istream in(&buffer);
  in.exceptions(std::ios_base::badbit);  // what the buffers throw shall come through
  const Format format = format_name.empty() ? problems::detect_format(file.name, buffer.peeked())
                                            : problems::format_by_name(format_name).value();
  file.format = format.name;
  file.content = problems::read_model(format, in, file.name, &file.report, options);
  file.outline = file.content.outline();
  return file;
}

[[noreturn]] void refuse_colors(const std::string& name, const std::string& fix) {
  throw InvalidArgument("cli.conflict",
                        fmt::format("--colors is for col files, and {} is not a col file", name),
                        {}, fix);
}

[[noreturn]] void refuse_setting(const std::string& option, const std::string& name,
                                 const Registry& registry, const std::string& fix = {},
                                 const std::string& expected = {}) {
  std::string families;
  for (const ProblemEntry* entry : registry.problems()) {
    if (std::ranges::count(entry->settings, option) == 0) continue;
    families += (families.empty() ? "" : " and ") + entry->name + ":";
  }
  throw InvalidArgument(
      "cli.conflict", fmt::format("--{} is an option of {}, and not of {}", option, families, name),
      expected, fix.empty() ? "remove --" + option : fix);
}

[[noreturn]] void refuse_data(const std::string& name) {
  throw InvalidArgument("cli.conflict",
                        fmt::format("--data is for models with data, and {} takes no data", name),
                        "for example posterior:linear-regression", "remove --data");
}

void check_settings(const std::string& name, const ProblemEntry& entry, const Registry& registry,
                    const ProblemSettings& settings) {
  for (const auto& [option, texts] : settings) {
    if (std::ranges::count(entry.settings, option) > 0) continue;
    refuse_setting(option, name, registry);
  }
}

/// Of families whose models are generated.
void fix_in_family(const ProblemEntry& entry, const std::string& parameters,
                   const ProblemOptions& options, LoadedProblem& loaded) {
  const std::string name = clean(entry.name + (parameters.empty() ? "" : ":" + parameters));
  if (!options.data.empty() && !entry.takes_data) refuse_data(name);
  if (!problems::is_generated(entry.name)) refuse_fixed(name);
  problems::GeneratedProblem made = problems::generate(entry.name, parameters);
  loaded.problem = fixed_problem(options.fixed, made.model, problems::native_format(made.model),
                                 options.sense.value_or(made.sense), made.name);
}

/// A family with its parameters, its options, and the data of a model where it has any.
void make_from_family(const std::string& text, const ProblemOptions& options,
                      const Registry& registry, LoadedProblem& loaded) {
  const std::string name = clean(text);
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string parameters = text.substr(std::min(colon + 1, text.size()));
  const ProblemEntry& entry = registry.problem(text.substr(0, colon));
  ProblemSettings settings = options.settings;
  if (options.sense && std::ranges::count(entry.settings, "sense") > 0) {
    settings["sense"] = {option_of(*options.sense)};
  }
  check_settings(name, entry, registry, settings);
  if (!options.fixed.empty()) {
    fix_in_family(entry, parameters, options, loaded);
    return;
  }
  if (options.data.empty()) {
    loaded.problem = in_sense(entry.make({parameters, nullptr, settings}), options.sense);
    return;
  }
  if (!entry.takes_data) refuse_data(name);
  const ModelData data = load_data(options.data);
  loaded.fingerprint = data.fingerprint();
  loaded.problem = in_sense(entry.make({parameters, &data, settings}), options.sense);
}

}  // namespace

ModelData load_data(const std::string& path) {
  try {
    std::ifstream file;
    if (path != "-") file = open_input(path);
    const std::string name = path == "-" ? "standard input" : clean(path);
    problems::UnpackedStream in(path == "-" ? std::cin : file, name);
    return problems::read_data(in, name);
  } catch (const IoError& error) {
    throw InputError("input.read", error.message());
  }
}

void check_format_name(const std::string& name) {
  if (name.empty() || problems::format_by_name(name)) return;
  std::vector<std::string> names;
  for (const FormatInfo& info : problems::formats()) names.push_back(info.name);
  throw InvalidArgument(
      "cli.unknown", fmt::format("unknown format '{}'{}", clean(name), nearest_hint(name, names)),
      {}, "kiln list formats shows all formats");
}

namespace {

void require_variables(const LoadedFile& file) {
  if (file.outline.variables > 0) return;
  throw InputError("input.value", file.name + ": the model has no variables",
                   "a model needs at least one variable", "add a variable, or name another file");
}

// Below it, products of a coefficient and the greatest beta do not decide about moves.
constexpr double min_sum = 1e-290;

void warn_of_tiny_sums(const LoadedFile& file, std::vector<std::string>& notes) {
  const double sum = file.outline.magnitude;
  if (sum == 0 || sum >= min_sum) return;
  notes.push_back(
      fmt::format("the coefficients are so small (absolute values sum to {:.3g}) that no "
                  "temperature can freeze the search; multiply them by a large factor",
                  sum));
}

// What is checked can be solved: energies are sums of up to four times as much.
void require_finite_sums(const LoadedFile& file) {
  if (std::isfinite(4 * file.outline.magnitude)) return;
  throw InputError("input.value", file.name + ": the coefficients are too large to add up",
                   "the absolute values of the coefficients must sum to less than 4e307");
}

}  // namespace

LoadedFile load_file(const std::string& path, const std::string& format,
                     const ReaderOptions& options) {
  check_format_name(format);
  std::ifstream in;
  if (path != "-") in = open_input(path, {}, instance_hint(path));
  try {
    LoadedFile file = read(path == "-" ? *std::cin.rdbuf() : *in.rdbuf(), path, format, options);
    require_finite_sums(file);
    return file;
  } catch (const IoError& error) {
    throw InputError("input.read", error.message());
  }
}

bool names_a_family(const std::string& text, const Registry& registry) {
  const std::size_t colon = text.find(':');
  if (colon == 0) return false;
  std::error_code ignored;
  if (std::filesystem::exists(text, ignored)) return false;
  if (colon == std::string::npos) return registry.has_problem(text);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), is_letter);
}

// Options of a program beside what is no file: the program lacks its family.
static std::string fix_by_program(const std::string& words) {
  const bool quoted = words.find('\'') != std::string::npos;
  return quoted ? "for a program write command:PROGRAM ARGUMENTS, for a formula expr:FORMULA"
                : fmt::format("for a program write 'command:{0}', for a formula 'expr:{0}'", words);
}

void check_file_options(const std::string& path, const ProblemOptions& options,
                        const Registry& registry) {
  const std::string name = clean(path);
  if (!options.data.empty()) refuse_data(name);
  if (options.settings.empty()) return;
  const std::string& option = options.settings.begin()->first;
  if (std::ranges::count(registry.problem("table").settings, option) == 0) {
    std::error_code ignored;
    const bool file = std::filesystem::exists(path, ignored);
    refuse_setting(option, name, registry, file ? "" : fix_by_program(name));
  }
  const auto objective = options.settings.find("objective");
  refuse_setting(
      option, name, registry,
      problems::table_call(path == "-" ? "FILE" : name, objective == options.settings.end()
                                                            ? "COLUMN"
                                                            : clean(objective->second.front())),
      "give a table of measurements as table:FILE; for a model, leave out --" + option);
}

void check_colors(const LoadedFile& file, const ProblemOptions& options) {
  const bool colored = file.content.as<Coloring>() != nullptr;
  if (options.reading.colors != 0 && !colored)
    refuse_colors(file.name, "remove --colors, or add --format col");
}

LoadedProblem load_problem(const std::string& text, const ProblemOptions& options,
                           const Registry& registry) {
  const auto begin = std::chrono::steady_clock::now();
  LoadedProblem loaded;
  if (names_a_family(text, registry)) {
    if (options.reading.colors != 0)
      refuse_colors(clean(text), "remove --colors; kiln describe coloring shows the named graphs");
    try {
      // The bytes as they were given: of a file or a command every one of them counts.
      make_from_family(text, options, registry, loaded);
      loaded.problem.identity.name = clean(loaded.problem.identity.name);
      loaded.notes = loaded.problem.identity.notes;
      const std::string& fingerprint = loaded.problem.identity.fingerprint;
      if (!fingerprint.empty()) loaded.fingerprint = fingerprint;
    } catch (const IoError& error) {
      const bool opened = error.code() != "io.open";
      throw InputError(opened ? "input.read" : "input.open", error.message(), error.expected(),
                       error.fix_steps());
    }
  } else {
    check_file_options(text, options, registry);
    LoadedFile file = load_file(text, options.format, options.reading);
    check_colors(file, options);
    require_variables(file);
    loaded.fingerprint = file.content.fingerprint();
    loaded.notes = file.report.notes;
    warn_of_tiny_sums(file, loaded.notes);
    const Sense natural = file.content.natural_sense();
    if (!options.sense && file.content.as<Qubo>() != nullptr) {
      loaded.notes.emplace_back("a QUBO is minimised by default; --maximize maximises it");
    }
    const Sense sense = options.sense.value_or(natural);
    if (options.fixed.empty()) {
      loaded.problem = make_problem(std::move(file.content), sense, file.name);
    } else {
      loaded.problem =
          fixed_problem(options.fixed, file.content, problems::format_by_name(file.format).value(),
                        sense, file.name);
      loaded.fingerprint = loaded.problem.identity.fingerprint;
    }
    const std::vector<std::string>& more = loaded.problem.identity.notes;
    loaded.notes.insert(loaded.notes.end(), more.begin(), more.end());
  }
  loaded.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return loaded;
}

}  // namespace kiln::cli
