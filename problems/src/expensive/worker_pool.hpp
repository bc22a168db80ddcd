// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "kiln/problems/command.hpp"

#include "call_outcome.hpp"
#include "worker.hpp"

namespace kiln::problems::detail {

/// Workers of one program, as many as there are points at the same time. Used from several threads.
class WorkerPool {
 public:
  /// Both must outlive it. @throws InvalidArgument for what the form cannot write
  WorkerPool(const CommandOptions& options, std::vector<std::string> words);
  /// Tells all workers that no request follows, and ends those that stay.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Has a point evaluated by a free worker, or by a new one.
  /// @param values  the text of each variable
  CallOutcome call(const std::vector<std::string>& values, const std::stop_token& stop,
                   const std::shared_ptr<ProgramKeeper>& keeper);

 private:
  std::unique_ptr<Worker> take_free();
  void give_back(std::unique_ptr<Worker> worker);
  CallOutcome ask(Worker& worker, const std::vector<std::string>& values,
                  const std::stop_token& stop, bool& sound, bool& again);

  const CommandOptions& options_;
  std::vector<std::string> words_;
  std::mutex mutex_;  // of free_
  std::vector<std::unique_ptr<Worker>> free_;
  std::atomic<std::int64_t> next_id_{1};
};

}  // namespace kiln::problems::detail
