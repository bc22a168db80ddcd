// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/best_known.hpp"

namespace kiln {

/// The operations on all models of one type of data: Graph, Qubo, ... Opaque outside the library.
class ModelKind;

/// Data from a file or a generator.
template <class Data>
concept ModelContent = requires {
  { Data::model_kind() } -> std::same_as<const ModelKind&>;
};

/// Sizes and coefficients of a model, for reports and for checks before a run.
struct ModelOutline {
  /// Sizes by their names, in order: {"vertices", 800}, {"edges", 19176}.
  std::vector<std::pair<std::string, std::int64_t>> sizes;
  std::int64_t variables = 0;
  /// The smallest and the largest coefficient; nothing if there are none.
  std::optional<std::pair<double, double>> coefficients;
  /// Sum of the absolute values of all coefficients; 0 for models whose coefficients do not count.
  double magnitude = 0;
};

class Model;
/// Whether the data are of one type and equal.
KILN_API bool operator==(const Model& a, const Model& b);
/// The problem of a model. With a sense other than the natural one the opposite end is searched.
/// @throws InvalidArgument as the function that makes problems of its type.
KILN_API Problem make_problem(Model model, Sense sense, std::string name);

/// The data of a problem, of any kind that Kiln reads from files or generates. Copies share the
/// data, which are immutable.
class KILN_API Model {
 public:
  /// A graph without vertices.
  Model();
  template <ModelContent Data>
  Model(Data data)  // NOLINT(google-explicit-constructor): a graph is a model
      : kind_(&Data::model_kind()), data_(std::make_shared<Data>(std::move(data))) {}

  /// The data, or null if they are of another type.
  template <ModelContent Data>
  const Data* as() const noexcept {
    return kind_ == &Data::model_kind() ? static_cast<const Data*>(data_.get()) : nullptr;
  }

  /// The operations on all models of this type.
  const ModelKind& kind() const noexcept { return *kind_; }
  std::string_view kind_name() const noexcept;   ///< "maxcut"
  std::string_view value_name() const noexcept;  ///< of the objective: "cut"
  /// The default sense: cuts are maximised, all others minimised.
  Sense natural_sense() const noexcept;

  ModelOutline outline() const;
  /// @throws InvalidArgument `problem.not_canonical` if the data are not in canonical form.
  std::string fingerprint() const;
  /// The best-known value of the model with this fingerprint().
  std::optional<NamedBest> best_known(std::string_view fingerprint) const;

  friend bool operator==(const Model& a, const Model& b);
  friend Problem make_problem(Model model, Sense sense, std::string name);

  /// The data as arguments of the functions of a kind.
  const void* data() const noexcept { return data_.get(); }

 private:
  const ModelKind* kind_;
  std::shared_ptr<void> data_;
};

}  // namespace kiln
