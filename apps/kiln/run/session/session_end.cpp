// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// How the run of a session ends: its files, what is printed, and the exit code.
#include <fmt/format.h>

#include <exception>
#include <new>

#include "errors.hpp"
#include "fix_words.hpp"
#include "front/front_output.hpp"
#include "output/console.hpp"
#include "output/cost/memory_text.hpp"
#include "output/cost/profile_text.hpp"
#include "output/solve_text.hpp"
#include "output/text.hpp"
#include "run/memory_reserve.hpp"
#include "run/session/session_checks.hpp"
#include "run/session/session_run.hpp"

namespace kiln::cli {
namespace {

/// @param text  what the verb says of the result
void print_results(const CommandOptions& options, const Result& result, const std::string& text,
                   double read_s, const RunFolder* folder) {
  if (options.has("verbose")) {
    print_note(details_of(result, read_s));
    print_note(memory_text(result.memory));
  }
  if (!options.has("quiet")) print_note(advice_text(result.advice));
  if (options.has("json")) {
    print_result(options.is_extended ? continued_result_json(result) : result_json(result));
    return;
  }
  if (!result.verified) return;
  print_text(text);
  if (result.profile) print_text(profile_text(*result.profile));
  const std::string files = folder != nullptr && !options.has("quiet") ? folder->description() : "";
  // In a pipe, too: a list of names is for people.
  if (!files.empty()) print_result(fitted(fmt::format("files  {}\n", files), result_columns()));
}

bool is_lack_of_memory(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

ExitCode SessionRun::conclude(Result& result) {
  if (former() != nullptr) former()->improve(result, session_.loaded.problem);
  const bool asked = result.stop == Stop::interrupted && signals_->count() > 0;
  if (asked && signals_->exit_code() == ExitCode::terminated) result.stop = Stop::terminated;
  result.time.setup_s += session_.loaded.seconds;
  write_files(result);
  const bool heard = flush_results();
  return judge(result, asked, heard);
}

// Files first: an output that nobody reads, or a wrong answer, must not keep them from being there.
void SessionRun::write_files(Result& result) {
  if (!failure_) give_room_for_checkpoint();
  if (signals_->count() <= 1) record_.begin_last_checkpoint(run(), result);
  record_.keep_solution(result, signals_->count() > 1);
  compare_unless_in_a_hurry(result);
  const CommandOptions& options = session_.options;
  const RunFolder* const folder = session_.folder.get();
  const bool is_read = folder != nullptr || !options.has("json");
  const std::string text = result.verified && is_read
                               ? output_.text(options, result, session_.loaded.problem)
                               : std::string{};
  record_.finish(result, text);
  if (signals_->count() <= 1) record_.finish_last_checkpoint(result);
  print_results(options, result, text, session_.loaded.seconds, folder);
}

// Who asks twice does not wait for numbers that a file of the front can give at any time.
void SessionRun::compare_unless_in_a_hurry(Result& result) const {
  const Points& reference = session_.reference_front;
  if (signals_->count() <= 1) return compare_with(reference, result);
  if (!result.front || reference.empty()) return;
  result.advice.emplace_back(
      "the front was not compared with the reference front, because a second signal ended the run");
}

ExitCode SessionRun::judge(Result& result, bool asked, bool heard) {
  if (failure_) {
    result.sample.reset();  // its draws are in the folder, and a checkpoint needs room
    end_by(failure_);
  }
  require_verified(result, session_.loaded.problem);
  if (!asked) require_front(result, session_.loaded.problem);
  if (record_.error()) std::rethrow_exception(record_.error());
  if (!heard) return ExitCode::broken_pipe;
  if (asked) return signals_->exit_code();
  return result.misses_target() || result.misses_until() ? ExitCode::target_missed : ExitCode::ok;
}

// Where memory has ended between two ticks the run can continue from its state with more of it.
void SessionRun::end_by(const std::exception_ptr& failure) {
  if (!is_lack_of_memory(failure)) std::rethrow_exception(failure);
  const std::string less = less_memory(session_.options.verb->samples);
  give_room_for_checkpoint();
  if (!record_.keep_state(run())) {
    throw RunMemoryError("memory.host", "there is not enough memory", {},
                         "use " + less + ", or a machine with more memory");
  }
  const std::string folder = shell_word(session_.options.text("output"));
  throw RunMemoryError(
      "memory.host", "there is not enough memory; the run is kept in its last checkpoint", {},
      fmt::format("kiln resume {} with more memory, or a new run with {}", folder, less));
}

}  // namespace kiln::cli
