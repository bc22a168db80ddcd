// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kiln/backend.hpp"
#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/failures/failure_code.hpp"
#include "kiln/kiln.h"
#include "kiln/registry.hpp"
#include "kiln/version.hpp"

#include "c_interface/given_struct.hpp"
#include "c_interface/model_terms.hpp"

struct kiln_solver {
  kiln::OpenedBackend backend;
  std::string device;
  kiln::Registry registry;
  std::atomic<bool> is_running = false;
};

namespace kiln {
namespace {

namespace detail = problems::detail;

// C programs have the numbers of these enumerations compiled in.
static_assert(KILN_TARGET_REACHED == static_cast<int>(Stop::target_reached) &&
              KILN_TIME_LIMIT == static_cast<int>(Stop::time_limit) &&
              KILN_SWEEP_LIMIT == static_cast<int>(Stop::sweep_limit) &&
              KILN_EVALUATION_LIMIT == static_cast<int>(Stop::evaluation_limit) &&
              KILN_WORK_LIMIT == static_cast<int>(Stop::work_limit) &&
              KILN_CONVERGED == static_cast<int>(Stop::converged) &&
              KILN_INTERRUPTED == static_cast<int>(Stop::interrupted));
static_assert(KILN_INTERNAL == static_cast<int>(FailureCode::internal) &&
              KILN_USAGE == static_cast<int>(FailureCode::usage) &&
              KILN_INPUT == static_cast<int>(FailureCode::input) &&
              KILN_DEVICE == static_cast<int>(FailureCode::device) &&
              KILN_MEMORY == static_cast<int>(FailureCode::memory) &&
              KILN_OUTPUT == static_cast<int>(FailureCode::output) &&
              KILN_PLUGIN == static_cast<int>(FailureCode::plugin) &&
              KILN_SELF_CHECK == static_cast<int>(FailureCode::self_check) &&
              KILN_NO_ANSWER == static_cast<int>(FailureCode::no_answer) &&
              KILN_DEVICE_FAULT == static_cast<int>(FailureCode::device_fault));

// The recomputed value of the best state differs from the one that the engine claims.
class SelfCheckFailure : public Error {
 public:
  using Error::Error;
};

// Cut off before the first byte of a character of UTF-8 that does not fit.
void copy_text(const char* text, char* error, std::size_t size) noexcept {
  if (error == nullptr || size == 0) return;
  const std::size_t length = std::strlen(text);
  std::size_t n = std::min(length, size - 1);
  const auto goes_on = [&] { return (static_cast<unsigned char>(text[n]) & 0xC0U) == 0x80U; };
  while (n < length && n > 0 && goes_on()) --n;
  std::memcpy(error, text, n);
  error[n] = '\0';
}

// Calls `work` and turns what it throws into a code and a text.
template <class Work>
int guarded(char* error, std::size_t size, Work work) noexcept {
  copy_text("", error, size);
  try {
    work();
    return KILN_OK;
  } catch (const SelfCheckFailure& failure) {
    copy_text(failure.what(), error, size);
    return KILN_SELF_CHECK;
  } catch (const std::exception& failure) {
    copy_text(failure.what(), error, size);
    return static_cast<int>(failure_code_of(failure));
  } catch (...) {
    copy_text("internal.exception: an exception of unknown type", error, size);
    return KILN_INTERNAL;
  }
}

template <class Pointer>
void require(Pointer pointer, const char* name) {
  if (pointer == nullptr) {
    throw InvalidArgument("interface.null", std::string(name) + " is NULL", "a pointer");
  }
}

// Marks a solver as running, for the time of a call.
class Running {
 public:
  explicit Running(std::atomic<bool>& is_running) : is_running_(is_running) {
    if (is_running_.exchange(true)) {
      throw InvalidArgument("interface.busy", "the solver is running already",
                            "one run at a time for each solver", "open a solver for each thread");
    }
  }
  ~Running() { is_running_ = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::atomic<bool>& is_running_;
};

std::map<std::string, std::string> settings_of(const kiln_options& options) {
  if (options.settings_count > 0) require(options.settings, "kiln_options::settings");
  std::map<std::string, std::string> settings;
  for (std::size_t k = 0; k < options.settings_count; ++k) {
    require(options.settings[k], "an entry of kiln_options::settings");
    const std::string text = options.settings[k];
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw InvalidArgument("interface.setting", "setting '" + text + "' has no name or no value",
                            "name=value");
    }
    const std::string name = text.substr(0, equals);
    if (!settings.emplace(name, text.substr(equals + 1)).second) {
      throw InvalidArgument("interface.setting", "setting '" + name + "' is given twice");
    }
  }
  return settings;
}

std::unique_ptr<Schedule> schedule_of(const kiln_options& options, const Problem& problem,
                                      const Registry& registry) {
  std::string name = options.schedule == nullptr ? "" : options.schedule;
  if (name.empty()) name = registry.default_schedule(problem);
  if (name.empty()) name = "simulated-annealing";
  return registry.schedule(name).make(settings_of(options));
}

Budget budget_of(const kiln_options& options) {
  Budget budget;
  if (options.time_limit_s != 0) budget.time_limit_s = options.time_limit_s;
  if (options.sweeps != 0) budget.sweeps = options.sweeps;
  if (options.work_limit != 0) budget.work_limit = options.work_limit;
  if (options.target != nullptr) budget.target = *options.target;
  return budget;
}

Observers observers_of(const kiln_options& options) {
  if (options.callback == nullptr) return {};
  return {[callback = options.callback, data = options.callback_data](const ReportPoint& point) {
    const kiln_progress progress{sizeof(kiln_progress), point.time_s, point.sweeps,
                                 point.has_best ? 1 : 0, point.has_best ? point.best : 0};
    return callback(&progress, data) == 0 ? Next::go_on : Next::stop;
  }};
}

RunOptions run_options_of(const kiln_options& options) {
  if (!(options.report_interval_s >= 0)) {
    throw InvalidArgument("interface.value", "kiln_options::report_interval_s is negative",
                          "seconds, or 0 for the default");
  }
  RunOptions run;
  run.seed = options.seed;
  run.replicas = options.replicas;
  if (options.report_interval_s != 0) run.report_interval_s = options.report_interval_s;
  return run;
}

// Sides of a cut are written as 0 and 1, as in files; bits and spins are what they are.
void write_state(const Result& result, std::int32_t form, std::int8_t* state) {
  for (const std::int8_t value : result.spins()) {
    *state++ = form != KILN_MAX_CUT ? value : static_cast<std::int8_t>(value > 0 ? 0 : 1);
  }
}

void write_result(const Result& result, kiln_result& out) {
  const kiln_result own{out.struct_size,         result.objective,
                        result.integral ? 1 : 0, static_cast<std::int32_t>(result.stop),
                        result.work.sweeps,      result.work.replicas,
                        result.time.setup_s,     result.time.run_s,
                        result.time.to_best_s};
  std::memcpy(&out, &own, sizeof own);
}

void solve(kiln_solver& solver, const kiln_model& model, const kiln_options& given,
           kiln_result* out, std::int8_t* state) {
  const kiln_options options = detail::given_struct(given, "kiln_options");
  if (out != nullptr) detail::check_struct_size(out->struct_size, sizeof *out, "kiln_result");
  const Running running(solver.is_running);
  const Problem problem = detail::problem_of_terms(model, options.sense);
  const std::unique_ptr<Schedule> schedule = schedule_of(options, problem, solver.registry);
  Engine engine(run_options_of(options), solver.backend);
  const Result result = engine.run(problem, *schedule, budget_of(options), observers_of(options));
  if (result.failure) std::rethrow_exception(result.failure);
  if (!result.verified) {
    throw SelfCheckFailure("result.not_verified",
                           "the recomputed value of the best state differs from that of the run");
  }
  if (state != nullptr) write_state(result, model.form, state);
  if (out != nullptr) write_result(result, *out);
}

}  // namespace
}  // namespace kiln

const char* kiln_version(void) { return kiln::version(); }

int kiln_open(const char* device, std::int32_t threads, kiln_solver** solver, char* error,
              std::size_t error_size) {
  return kiln::guarded(error, error_size, [&] {
    kiln::require(solver, "solver");
    kiln::OpenedBackend backend = kiln::open_backend(device == nullptr ? "auto" : device, threads);
    std::string name = backend.backend->info().name;
    *solver = new kiln_solver{std::move(backend), std::move(name), kiln::builtin_registry()};
  });
}

void kiln_close(kiln_solver* solver) { delete solver; }

const char* kiln_device(const kiln_solver* solver) {
  return solver == nullptr ? "" : solver->device.c_str();
}

const char* kiln_fallback_reason(const kiln_solver* solver) {
  return solver == nullptr ? "" : solver->backend.fallback_reason.c_str();
}

int kiln_solve(kiln_solver* solver, const kiln_model* model, const kiln_options* options,
               kiln_result* result, std::int8_t* state, char* error, std::size_t error_size) {
  return kiln::guarded(error, error_size, [&] {
    kiln::require(solver, "solver");
    kiln::require(model, "model");
    const kiln_options defaults = kiln_default_options();
    kiln::solve(*solver, *model, options == nullptr ? defaults : *options, result, state);
  });
}

const char* kiln_stop_name(std::int32_t stop) {
  const bool is_reason = stop >= KILN_TARGET_REACHED && stop <= KILN_INTERRUPTED;
  return is_reason ? kiln::to_string(static_cast<kiln::Stop>(stop)) : "unknown";
}
