// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/export.hpp"
#include "kiln/problems/model.hpp"

// The families of generated problems and what may stand behind their colon. Exported for the unit
// tests and fuzzers only; the header is not installed.
namespace kiln::problems::detail {

/// Parameters of any family; each uses some of them.
struct FamilyParameters {
  std::string instance;  ///< of a family of named graphs
  std::int32_t n = 0;    ///< size, or the first side of a torus
  std::int32_t m = 0;    ///< a second size: of a torus the other side
  double density_percent = 0.0;
  std::int64_t seed = 0;
  std::int32_t values = 0;  ///< of a Potts model, or colours
  friend bool operator==(const FamilyParameters&, const FamilyParameters&) = default;
};

/// A family: how its parameters are read, written out and made into a model.
struct Family {
  std::string_view name;
  std::string_view form;     ///< of the parameters, for people: "AxB,SEED"
  std::string_view meaning;  ///< of the form: "two side lengths of the torus and a seed"
  std::string_view sentence;
  std::string_view examples;  ///< parameters with blanks between
  Sense sense;
  FamilyParameters (*parse)(const Family& family, std::string_view text);
  std::string (*print)(const FamilyParameters& parameters);
  Model (*build)(const FamilyParameters& parameters);
};

/// @throws InvalidArgument `problem.unknown`.
KILN_API const Family& find_family(std::string_view name);

/// Reads and judges parameters without building anything.
/// @throws InvalidArgument `problem.parameters`, or as the generator of the family.
KILN_API FamilyParameters parse_parameters(const Family& family, std::string_view text);

/// Reads the parts of a parameter text from its front; every doubt is an InvalidArgument.
class ParameterReader {
 public:
  ParameterReader(const Family& family, std::string_view text)
      : family_(family), whole_(text), rest_(text) {}

  std::int32_t size() { return number<std::int32_t>(); }
  std::int64_t seed() { return number<std::int64_t>(); }
  double real() { return number<double>(); }
  void expect(char c);
  /// Whether the rest begins with this word, which is passed over then.
  bool take(std::string_view word);
  void finish() const;

 private:
  template <class T>
  T number();
  [[noreturn]] void refuse_form() const;

  const Family& family_;
  std::string_view whole_;
  std::string_view rest_;
};

}  // namespace kiln::problems::detail
