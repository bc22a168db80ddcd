// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/interruption.hpp"

#include <cstdlib>
#include <utility>

#include "output/console.hpp"
#include "output/live_row.hpp"

namespace kiln::cli {

// The main thread may be anywhere, so that nothing is taken down in order.
void end_by_signal(const std::string& doing, const std::string& found) {
  close_live_row();
  print_note("error[run.interrupted]: interrupted while " + doing + "; " + found + "\n");
  std::_Exit(static_cast<int>(exit_code_of_signal()));
}

EndBySignal::EndBySignal(std::string doing)
    : doing_(std::move(doing)),
      signals_([this] { end_by_signal(doing_, "Kiln has found nothing yet"); }, 2) {}

}  // namespace kiln::cli
