// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Potts models: files of their own, and glasses on a torus.
#include <string>
#include <utility>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/problems/potts.hpp"

#include "families/model_family.hpp"
#include "families/model_kind.hpp"
#include "generators/generator_limits.hpp"

namespace kiln {
namespace {

ModelOutline outline_of_potts(const Potts& potts) {
  return {{{"variables", potts.n},
           {"values", potts.q},
           {"couplings", std::ssize(potts.couplings)},
           {"fields", std::ssize(potts.fields)}},
          potts.n,
          problems::detail::range_of(potts.couplings, &Edge::weight),
          problems::detail::magnitude_of(potts.fields, &PottsField::amount) +
              problems::detail::magnitude_of(potts.couplings, &Edge::weight)};
}

}  // namespace

const ModelKind& Potts::model_kind() {
  static const ModelKind kind{KindOf<Potts>{.name = "potts",
                                            .singular = "a Potts model",
                                            .plural = "Potts models",
                                            .value_name = "energy",
                                            .sense = Sense::minimize,
                                            .writers = {{Format::potts, problems::write_potts}},
                                            .outline = outline_of_potts,
                                            .fingerprint = problems::fingerprint,
                                            .make = [](Potts potts, Sense sense, std::string name) {
                                              return make_pairwise(std::move(potts), sense,
                                                                   std::move(name));
                                            }}};
  return kind;
}

namespace problems::detail {
namespace {

FormatEntry potts_format() {
  return {{Format::potts,
           "pottsmodel",
           {".potts"},
           "Potts model: variables with q values; a coupling acts if its two variables have equal "
           "values.",
           {"file     = comment* header (comment | field | coupling)*",
            "header   = p potts <number of variables> <number of values> <number of fields> "
            "<number of couplings>",
            "field    = h <i> <value> <amount>               variables and values counted from 0",
            "coupling = <i> <j> <J>"},
           "c three variables of four values\np potts 3 4 1 3\nh 0 2 -0.5\n0 1 1\n0 2 1\n1 2 1\n"},
          {.kinds = {"potts"}},
          [](std::istream& in, const std::string& file_name, ReadReport* report,
             const ReaderOptions&) -> Model { return read_potts(in, file_name, report); }};
}

FamilyParameters parse_potts(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  parameters.n = reader.size();
  reader.expect('x');
  parameters.m = reader.size();
  reader.expect(',');
  parameters.values = reader.size();
  reader.expect(',');
  parameters.seed = reader.seed();
  reader.finish();
  check_torus(parameters.n, parameters.m);
  check_values(parameters.values, Potts::max_values);
  return parameters;
}

std::string print_potts(const FamilyParameters& p) {
  return std::to_string(p.n) + "x" + std::to_string(p.m) + "," + std::to_string(p.values) + "," +
         std::to_string(p.seed);
}

}  // namespace

ModelFamily potts_models() {
  return {{&Potts::model_kind()},
          {potts_format()},
          {{"potts", "AxB,Q,SEED", "two side lengths of the torus, a number of values and a seed",
            "Potts glass on an A x B torus: Q values, couplings -1 and +1; minimises the energy",
            "30x20,4,1", Sense::minimize, parse_potts, print_potts,
            [](const FamilyParameters& p) -> Model {
              return potts_torus(p.n, p.m, p.values, p.seed);
            }}}};
}

}  // namespace problems::detail
}  // namespace kiln
