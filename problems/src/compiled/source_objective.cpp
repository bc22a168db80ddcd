// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/source_objective.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/objectives/compiled_density.hpp"
#include "kiln/objectives/density_objective.hpp"

#include "compiled/nvrtc.hpp"
#include "compiled/objective_cache.hpp"
#include "compiled/objective_unit.hpp"
#include "continuous/density_model.hpp"
#include "expensive/settings.hpp"
#include "expressions/expression_variables.hpp"
#include "expressions/formula_states.hpp"
#include "readers/text_reader.hpp"
#include "sha256.hpp"

namespace kiln::problems {
namespace {

using detail::ObjectiveCache;
using detail::ObjectiveText;
using detail::printable;

constexpr std::uintmax_t max_text = std::uintmax_t{1} << 20;

[[noreturn]] void refuse_file(const std::string& file, const std::string& why) {
  throw InvalidArgument("objective.file", printable(file) + " " + why,
                        "a file with a function 'objective'",
                        "kiln solve --objective FILE.cu --allow-jit --var 'x[10]=real:-5:5'");
}

std::string text_of(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) refuse_file(file, "is no file");
  if (std::filesystem::file_size(file, error) > max_text) refuse_file(file, "has over 1 MiB");
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) refuse_file(file, "cannot be read");
  if (text.find('\0') != text.npos) refuse_file(file, "is no text");
  if (text.starts_with(detail::utf8_mark)) text.erase(0, detail::utf8_mark.size());
  return text;
}

/// A user's function: on the host a shared library, for GPUs the code of each kernel.
class SourceCode final : public CompiledCode {
 public:
  SourceCode(ObjectiveText objective, const std::string& compiler)
      : objective_(std::move(objective)), cache_(compiler, objective_.file) {
    const std::filesystem::path path = cache_.compiled(detail::host_unit(objective_), "cpu");
    library_.reset(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* open) {
      if (open != nullptr) ::dlclose(open);
    });
    if (library_ != nullptr) {
      function_ =
          reinterpret_cast<CompiledDensity::Function>(::dlsym(library_.get(), "kiln_objective"));
    }
    if (function_ == nullptr) refuse_library(path);
  }

  std::string gpu_code(std::string_view kernel, std::string_view form,
                       int architecture) const override {
    const std::scoped_lock lock(mutex_);
    if (ahead_.empty()) compile_ahead(form, architecture);
    const auto found = ahead_.find(name_of(kernel, form, architecture));
    if (found != ahead_.end()) return found->second.get();
    return compiled_for(kernel, form, architecture);
  }

  CompiledDensity density() const { return {objective_.dimension, function_, this}; }

 private:
  static std::string name_of(std::string_view kernel, std::string_view form, int architecture) {
    return std::string(kernel) + " " + std::string(form) + " " + std::to_string(architecture);
  }

  std::string compiled_for(std::string_view kernel, std::string_view form, int architecture) const {
    return cache_.contents(detail::gpu_unit(objective_, kernel, form),
                           std::to_string(architecture));
  }

  // What most runs need next is compiled at the same time, each by a process.
  void compile_ahead(std::string_view form, int architecture) const {
    const std::string without = form == "thread" ? "lanes" : std::string(form);
    const std::pair<std::string, std::string> wanted[] = {{"density_energy", std::string(form)},
                                                          {"density_sweep", std::string(form)},
                                                          {"density_descent", without}};
    for (const auto& one : wanted) {
      ahead_.emplace(name_of(one.first, one.second, architecture),
                     std::async(std::launch::async, [this, one, architecture] {
                       return compiled_for(one.first, one.second, architecture);
                     }).share());
    }
  }

  [[noreturn]] void refuse_library(const std::filesystem::path& path) const {
    const char* const text = ::dlerror();
    std::string why = text != nullptr ? text : "it lacks the function";
    if (why.starts_with(path.string() + ": ")) why.erase(0, path.string().size() + 2);
    throw InvalidArgument(
        "objective.load",
        printable(objective_.file) + " was compiled and cannot be loaded: " + printable(why));
  }

  ObjectiveText objective_;
  ObjectiveCache cache_;
  std::shared_ptr<void> library_;
  CompiledDensity::Function function_ = nullptr;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_future<std::string>> ahead_;  // last: waits at its end
};

class CompiledSource final : public DensitySource {
 public:
  explicit CompiledSource(std::shared_ptr<const SourceCode> code)
      : code_(std::move(code)), density_(code_->density()) {}

  int dimension() const override { return density_.n; }
  int workspace() const override { return 0; }
  int fixed_dimension() const override {
    return density_.n <= max_dimension_of_thread ? density_.n : 0;
  }
  bool cuda() const override { return detail::Nvrtc::is_installed(); }
  bool has_parts() const override { return false; }
  bool is_compiled_late() const override { return true; }
  std::unique_ptr<BoundDensity> bind(Queue&) const override {
    return std::make_unique<BoundNamedFunctor<DensityFamily>>(DensityRef(density_));
  }
  EnergyParts evaluate(std::span<const double> x, std::span<double> gradient) const override {
    return evaluate_on_host(density_, x, gradient);
  }

 private:
  std::shared_ptr<const SourceCode> code_;
  CompiledDensity density_;
};

std::string fingerprint_of(const std::string& text,
                           const std::vector<ExpressionVariable>& variables) {
  detail::Sha256 hash;
  hash.update(text);
  for (const ExpressionVariable& one : variables) {
    for (std::int64_t i = 0; i < one.elements(); ++i) {
      hash.update("\n" + kiln::detail::show_real(one.lower) + " " +
                  kiln::detail::show_real(one.upper));
    }
  }
  return hash.hex().substr(0, 16);
}

void check(const SourceOptions& options) {
  ExpressionOptions variables;
  variables.variables = options.variables;
  check_expression_variables(variables);
  for (const ExpressionVariable& one : options.variables) {
    if (one.kind == ExpressionVariable::Kind::real) continue;
    throw InvalidArgument("objective.variable",
                          "the variable '" + one.name + "' of an objective in a file is not real",
                          one.name + "=real:LOW:HIGH");
  }
}

}  // namespace

Problem make_source_problem(const SourceOptions& options) {
  check(options);
  const auto states = std::make_shared<const FormulaStates>(options.variables);
  const double sign = options.sense == Sense::maximize ? -1 : 1;
  ObjectiveText objective{std::filesystem::path(options.file).filename().string(),
                          text_of(options.file), static_cast<int>(states->names().size()),
                          sign < 0};
  detail::check_objective_text(objective);
  DensityModel model;
  const std::string fingerprint = fingerprint_of(objective.text, options.variables);
  const auto source = std::make_shared<const CompiledSource>(
      std::make_shared<const SourceCode>(std::move(objective), options.compiler));
  model.source = source;
  model.box = states->space().blocks().front().box;
  model.plain = [source, sign](Point x) { return sign * source->evaluate(x, {}).total(); };
  Problem problem = to_problem(std::move(model), "source:" + options.file, "source");
  problem.units.sense = options.sense;
  problem.units.objective_of_stored = {0, sign};
  problem.identity.fingerprint = fingerprint;
  name_states(problem, states);
  return problem;
}

Problem source_by_name(const std::string& file, const ProblemSettings& settings) {
  SourceOptions options;
  options.file = file;
  options.compiler = detail::setting_or(settings, "allow-jit", "");
  if (options.compiler.empty()) {
    static_cast<void>(text_of(file));  // whether it is there at all comes first
    throw InvalidArgument("objective.refused",
                          printable(file) + " is source text, which can do all that you may do",
                          "--allow-jit, if you trust the file", "add --allow-jit");
  }
  options.sense = detail::sense_of(settings, Sense::minimize);
  options.variables = expression_variables_of(settings);
  return make_source_problem(options);
}

}  // namespace kiln::problems
