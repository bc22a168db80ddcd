// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "worker_pool.hpp"

#include <algorithm>
#include <utility>

#include "kiln/errors.hpp"

#include "readers/text_reader.hpp"
#include "worker_lines.hpp"

namespace kiln::problems::detail {
namespace {

constexpr int workers_for_a_point = 2;  // of a point, each by another worker
constexpr double leave_s = 1;           // for a worker that ends by itself

void require_single_words(const CommandOptions& options) {
  for (const CommandVariable& variable : options.variables) {
    for (const std::string& label : variable.labels) {
      const bool single = std::ranges::all_of(
          label, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7f; });
      if (single && !label.empty()) continue;
      throw InvalidArgument("command.worker",
                            "'" + printable(label) + "' of the variable '" + variable.name +
                                "' is not a single word, which --worker words needs",
                            {}, "--worker json");
    }
  }
}

}  // namespace

WorkerPool::WorkerPool(const CommandOptions& options, std::vector<std::string> words)
    : options_(options), words_(std::move(words)) {
  if (options.worker == WorkerForm::words) require_single_words(options);
}

WorkerPool::~WorkerPool() {
  for (const auto& worker : free_) worker->close_input();
  for (const auto& worker : free_) worker->end(leave_s);
}

// Workers that ended, or that said more than they were asked, are replaced before they are asked.
std::unique_ptr<Worker> WorkerPool::take_free() {
  for (;;) {
    std::unique_ptr<Worker> worker;
    {
      const std::lock_guard lock(mutex_);
      if (free_.empty()) return nullptr;
      worker = std::move(free_.back());
      free_.pop_back();
    }
    if (worker->is_ready()) return worker;
    worker->end(0);
  }
}

void WorkerPool::give_back(std::unique_ptr<Worker> worker) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(worker));
}

CallOutcome WorkerPool::call(const std::vector<std::string>& values, const std::stop_token& stop,
                             const std::shared_ptr<ProgramKeeper>& keeper) {
  for (int tries = 1;; ++tries) {
    if (stop.stop_requested()) return {.end = CallOutcome::End::stopped};
    std::unique_ptr<Worker> worker = take_free();
    if (worker == nullptr) worker = std::make_unique<Worker>(words_, keeper);
    if (worker->reason() != 0)
      return {.end = CallOutcome::End::not_started, .reason = worker->reason()};
    bool sound = false, again = false;
    CallOutcome outcome = ask(*worker, values, stop, sound, again);
    if (sound) give_back(std::move(worker));
    if (!again || tries == workers_for_a_point) return outcome;
  }
}

/// @param sound  whether the worker can be asked again
/// @param again  whether another worker should be asked this
CallOutcome WorkerPool::ask(Worker& worker, const std::vector<std::string>& values,
                            const std::stop_token& stop, bool& sound, bool& again) {
  const std::int64_t id = next_id_++;
  const WorkerReply reply = worker.exchange(
      request_line(options_.worker, id, options_.variables, values), options_.timeout_s, stop);
  switch (reply.end) {
    case WorkerReply::End::stopped:
      worker.end(0);
      return {.end = CallOutcome::End::stopped};
    case WorkerReply::End::timed_out:
      worker.end(0);
      return {.why = "the worker took longer than --timeout"};
    case WorkerReply::End::ended:
      again = true;
      return {.why = "the worker ended before its answer: " + worker.end(leave_s)};
    case WorkerReply::End::too_long:
      again = true;
      worker.end(0);
      return {.why = "the worker printed a line of more than 1 MiB"};
    case WorkerReply::End::line:
      break;
  }
  WorkerAnswer answer = read_answer(options_.worker, id, reply.line,
                                    static_cast<std::size_t>(options_.constraints) + 1);
  if (answer.kind == WorkerAnswer::Kind::no_answer) {
    again = true;
    worker.end(0);
    return {.why = std::move(answer.why)};
  }
  sound = true;
  if (answer.kind == WorkerAnswer::Kind::failed) return {.why = std::move(answer.why)};
  return {.end = CallOutcome::End::values,
          .values = std::move(answer.numbers),
          .line = printable(reply.line)};
}

}  // namespace kiln::problems::detail
