// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "kiln/result.hpp"

namespace kiln::cli {

/// How far `kiln resume` took a run with other limits than those of its run.json. The run stays
/// planned for its first limits, so a repeat is planned for them, too, and ends here.
struct Continuation {
  std::int64_t steps = 0;  ///< of each replica, from the start of the run
  std::string draws = {};  ///< of each chain, from the start; "" for a search

  /// The member `continued` of result.json and run.json.
  nlohmann::ordered_json json() const;
  /// For a person who repeats the run.
  std::string note() const;
};

/// The continuation that a run.json tells of, or the result.json beside it; nothing if neither
/// does.
/// @param path  as the user gave it: a run folder, its run.json, another file or `-`
/// @param run   content of the run.json
std::optional<Continuation> read_continuation(const std::string& path, const nlohmann::json& run);

/// result_json() with the member `continued`.
std::string continued_result_json(const Result& result);

}  // namespace kiln::cli
