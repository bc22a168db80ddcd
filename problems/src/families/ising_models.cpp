// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Ising models: lists of terms as in dimod, and spin glasses.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "kiln/problems/generators.hpp"
#include "kiln/problems/ising.hpp"
#include "kiln/problems/pairwise.hpp"

#include "families/model_family.hpp"
#include "families/model_kind.hpp"
#include "generators/generator_limits.hpp"

namespace kiln {
namespace {

ModelOutline outline_of_ising(const Ising& ising) {
  const auto n_zeros = std::ranges::count(ising.fields, 0.0);
  return {{{"spins", ising.n},
           {"couplings", std::ssize(ising.couplings)},
           {"fields", std::ssize(ising.fields) - n_zeros}},
          ising.n,
          problems::detail::range_of(ising.couplings, &Edge::weight),
          problems::detail::magnitude_of(ising.fields) +
              problems::detail::magnitude_of(ising.couplings, &Edge::weight)};
}

}  // namespace

const ModelKind& Ising::model_kind() {
  static const ModelKind kind{KindOf<Ising>{.name = "ising",
                                            .singular = "an Ising model",
                                            .plural = "Ising models",
                                            .value_name = "energy",
                                            .sense = Sense::minimize,
                                            .writers = {{Format::coo, problems::write_coo}},
                                            .outline = outline_of_ising,
                                            .fingerprint = problems::fingerprint,
                                            .make = [](Ising ising, Sense sense, std::string name) {
                                              return make_pairwise(std::move(ising), sense,
                                                                   std::move(name));
                                            }}};
  return kind;
}

namespace problems::detail {
namespace {

FormatEntry coo_format() {
  return {{Format::coo,
           "coo",
           {".coo", ".ising"},
           "Ising model or quadratic function of binary variables: a list of terms in the format "
           "of dimod.",
           {"file    = (comment | term)*", "comment = # anything",
            "term    = <i> <j> <value>                       variables counted from 0"},
           "# vartype=SPIN\n0 0 0.5\n0 1 1\n1 2 1\n0 2 1\n"},
          {.comment = "#"},
          [](std::istream& in, const std::string& file_name, ReadReport* report,
             const ReaderOptions& options) {
            return std::visit(
                [](auto&& model) -> Model { return std::forward<decltype(model)>(model); },
                read_coo(in, file_name, report, options));
          }};
}

FamilyParameters parse_sk(const Family& family, std::string_view text) {
  FamilyParameters parameters = parse_size_and_seed(family, text);
  check_complete("a Sherrington-Kirkpatrick model", parameters.n);
  return parameters;
}

}  // namespace

ModelFamily ising_models() {
  return {
      {&Ising::model_kind()},
      {coo_format()},
      {{"sk", "N,SEED", "a number of spins and a seed",
        "Sherrington-Kirkpatrick spin glass: N spins, a coupling -1 or +1 for each pair; minimises "
        "the energy",
        "1000,1", Sense::minimize, parse_sk, print_size_and_seed,
        [](const FamilyParameters& p) -> Model { return sherrington_kirkpatrick(p.n, p.seed); }},
       {"ea", "AxB,SEED", "two side lengths of the torus and a seed",
        "Edwards-Anderson spin glass: an A x B torus with standard normal couplings; minimises the "
        "energy",
        "50x40,1", Sense::minimize, parse_torus, print_torus,
        [](const FamilyParameters& p) -> Model { return edwards_anderson(p.n, p.m, p.seed); }}}};
}

}  // namespace problems::detail
}  // namespace kiln
