// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Quadratic functions of bits: files of qbsolv, and the instances of Palubeckis.
#include <string>
#include <utility>

#include "kiln/problems/best_known.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/qubo.hpp"

#include "families/model_family.hpp"
#include "families/model_kind.hpp"
#include "generators/generator_limits.hpp"
#include "generators/palubeckis.hpp"

namespace kiln {
namespace {

ModelOutline outline_of_qubo(const Qubo& qubo) {
  return {{{"variables", qubo.n}, {"couplers", std::ssize(qubo.quadratic)}},
          qubo.n,
          problems::detail::range_of(qubo.quadratic, &QuboTerm::value),
          problems::detail::magnitude_of(qubo.linear) +
              problems::detail::magnitude_of(qubo.quadratic, &QuboTerm::value)};
}

}  // namespace

const ModelKind& Qubo::model_kind() {
  static const ModelKind kind{KindOf<Qubo>{
      .name = "qubo",
      .singular = "a QUBO",
      .plural = "QUBOs",
      .value_name = "value",
      .sense = Sense::minimize,
      .writers = {{Format::qubo, problems::write_qubo}, {Format::coo, problems::write_coo}},
      .outline = outline_of_qubo,
      .fingerprint = problems::fingerprint,
      .make = [](Qubo qubo, Sense sense,
                 std::string name) { return make_qubo(std::move(qubo), sense, std::move(name)); },
      .best_known = problems::best_known_qubo_by_fingerprint}};
  return kind;
}

namespace problems::detail {
namespace {

FormatEntry qubo_format() {
  return {
      {Format::qubo,
       "qubo",
       {".qubo"},
       "Quadratic function of binary variables, in the format of qbsolv.",
       {"file   = comment* header (comment | term)*",
        "header = p qubo 0 <number of variables> <number of diagonal terms> <number of couplings>",
        "term   = <i> <i> <value>  or  <i> <j> <value> with i < j          variables counted from "
        "0"},
       "c a small example\np qubo 0 4 2 2\n0 0 99.0\n2 2 -48.5\n0 1 2\n1 3 -6.0\n"},
      {.kinds = {"qubo"}},
      [](std::istream& in, const std::string& file_name, ReadReport* report,
         const ReaderOptions&) -> Model { return read_qubo(in, file_name, report); }};
}

FamilyParameters parse_palubeckis(const Family& family, std::string_view text) {
  if (text.starts_with('p')) {
    const PalubeckisSpec spec = named_palubeckis(text);
    return {{}, spec.n, 0, spec.density_percent, spec.seed};
  }
  FamilyParameters parameters = parse_size_density_seed(family, text);
  check_palubeckis(parameters.n, parameters.density_percent, parameters.seed);
  return parameters;
}

}  // namespace

ModelFamily qubos() {
  return {{&Qubo::model_kind()},
          {qubo_format()},
          {{"palubeckis", "N,DENSITY,SEED",
            "a number of variables, a density in per cent and a seed, or a name p3000.1 .. p7000.3",
            "dense QUBO with coefficients -100 .. 100, maximised; p3000.1 .. p7000.3 are the 21 "
            "published instances",
            "3000,50,31000 p3000.1", Sense::maximize, parse_palubeckis, print_size_density_seed,
            [](const FamilyParameters& p) -> Model {
              return palubeckis(p.n, p.density_percent, p.seed);
            }}}};
}

}  // namespace problems::detail
}  // namespace kiln
