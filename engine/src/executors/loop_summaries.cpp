// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/executors/loop_summaries.hpp"

#include <string>

#include "kiln/errors.hpp"
#include "kiln/queue.hpp"

namespace kiln {

LoopSummaries::~LoopSummaries() = default;

SummaryTarget loop_summary_target(Queue& queue) {
  auto* const loops = dynamic_cast<LoopSummaries*>(&queue);
  return loops != nullptr ? loops->loop_summary_target() : SummaryTarget{};
}

void post_loop_summary(Queue& queue) {
  auto* const loops = dynamic_cast<LoopSummaries*>(&queue);
  if (loops != nullptr) return loops->post_loop_summary();
  throw InvalidArgument("queue.summaries",
                        std::string("backend ") + queue.backend_name() + " has no loops");
}

}  // namespace kiln
