// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problems/command.hpp"

// The lines that Kiln and a worker exchange: docs/problems/workers.md.
namespace kiln::problems::detail {

/// A request with its line feed: `{"id":7,"point":{"lr":0.01,"opt":"adam"}}`, or in words
/// `7 0.01 adam`.
/// @param values  the text of each variable, in order
KILN_TEST_API std::string request_line(WorkerForm form, std::int64_t id,
                                       const std::vector<CommandVariable>& variables,
                                       const std::vector<std::string>& values);

struct WorkerAnswer {
  enum class Kind : std::uint8_t {
    values,
    failed,     ///< the worker says that the point has no value
    no_answer,  ///< the line is no answer to this request: what follows cannot be trusted
  };
  Kind kind = Kind::no_answer;
  std::vector<double> numbers;  ///< the value, then the constraints
  std::string why;              ///< of `failed` and `no_answer`
};

/// Reads the answer to request `id`: `{"id":7,"value":0.25,"constraints":[-1]}` or
/// `{"id":7,"failed":"REASON"}`, in words `7 0.25 -1` or `7 failed REASON`.
/// @param count  of the value and the constraints
KILN_TEST_API WorkerAnswer read_answer(WorkerForm form, std::int64_t id, std::string_view line,
                                       std::size_t count);

}  // namespace kiln::problems::detail
