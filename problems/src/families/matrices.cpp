// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Square matrices of quadratic functions, as text and as NumPy saves them. They are read into the
// kinds of models that ising_models.cpp and qubos.cpp describe, and never written.
#include <string>
#include <variant>

#include "families/model_family.hpp"

namespace kiln::problems::detail {

namespace {

/// Numbers, and as many in the next line.
bool recognises_matrix(FirstLines& lines) {
  const std::size_t numbers = numbers_of(*lines.line(0));
  if (numbers < 2) return false;
  const FirstLines::Words* const next = lines.line(1);
  return next != nullptr ? numbers_of(*next) == numbers : lines.is_cut();
}

Model model_of(std::variant<Ising, Qubo>&& matrix) {
  return std::visit([](auto&& model) -> Model { return std::forward<decltype(model)>(model); },
                    std::move(matrix));
}

FormatEntry dense_format() {
  return {{Format::dense,
           "dense",
           {".dense"},
           "Square matrix Q of a quadratic function x'Qx of bits, or of spins with `--vartype "
           "spin`.",
           {"file    = (comment | row)*", "comment = # anything",
            "row     = <value> <value> ...                   separated by blanks, tabs, commas, "
            "semicolons"},
           "-1  2  0\n 0 -1  2\n 0  0 -1\n"},
          {.recognises = recognises_matrix},
          [](std::istream& in, const std::string& file_name, ReadReport* report,
             const ReaderOptions& options) {
            return model_of(read_dense(in, file_name, report, options));
          }};
}

FormatEntry npy_format() {
  return {{Format::npy,
           "npy",
           {".npy"},
           "Square matrix Q, saved by numpy.save(): two axes, numbers of 1 to 8 bytes.",
           {"file = array of two axes, saved by numpy.save(file, Q)"},
           ""},
          {.magic = "\x93NUMPY"},
          [](std::istream& in, const std::string& file_name, ReadReport* report,
             const ReaderOptions& options) {
            return model_of(read_npy(in, file_name, report, options));
          }};
}

}  // namespace

ModelFamily matrices() { return {{}, {dense_format(), npy_format()}, {}}; }

}  // namespace kiln::problems::detail
