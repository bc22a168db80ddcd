// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <ostream>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

#include "canonical.hpp"
#include "dimacs.hpp"
#include "merging.hpp"
#include "sparse.hpp"
#include "text_reader.hpp"

namespace kiln::problems {

namespace {

using detail::TextReader;
using detail::Token;

constexpr std::int64_t max_variables = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t max_terms = std::int64_t{1} << 40;

constexpr std::string_view header_form =
    "p potts <number of variables> <number of values> <number of fields> <number of couplings>";
constexpr std::string_view field_form =
    "h <i> <value> <amount>, variables and values counted from 0";
constexpr std::string_view coupling_form =
    "<i> <j> <J> with two different variables i and j, counted from 0";

struct Header {
  std::int32_t n = 0;
  std::int32_t q = 0;
  std::int64_t n_fields = 0;
  std::int64_t n_couplings = 0;
};

Header read_header(TextReader& text) {
  detail::read_problem_line(text, {"potts"}, 6, header_form);
  const std::vector<Token>& words = text.words();
  const auto n = text.integer(words[2], {"number of variables", header_form}, 0, max_variables);
  const auto q = text.integer(words[3], {"number of values", header_form}, 2, Potts::max_values);
  const auto h = text.integer(words[4], {"number of fields", header_form}, 0, max_terms);
  const auto m = text.integer(words[5], {"number of couplings", header_form}, 0, max_terms);
  if (!n || !q || !h || !m) text.finish();  // without a header nothing else can be judged
  return {static_cast<std::int32_t>(*n), static_cast<std::int32_t>(*q), *h, *m};
}

void read_field(TextReader& text, Potts& model) {
  if (!detail::has_words(text, 4, field_form)) return;
  const std::vector<Token>& words = text.words();
  const auto i = text.integer(words[1], {"variable", field_form}, 0, model.n - 1);
  const auto v = text.integer(words[2], {"value", field_form}, 0, model.q - 1);
  const auto amount = text.real(words[3], {"amount", field_form});
  if (!i || !v || !amount) return;
  model.fields.push_back({static_cast<std::int32_t>(*i), static_cast<std::int32_t>(*v), *amount});
}

void read_coupling(TextReader& text, Potts& model) {
  if (!detail::has_words(text, 3, coupling_form)) return;
  const std::vector<Token>& words = text.words();
  const auto i = text.integer(words[0], {"variable", coupling_form}, 0, model.n - 1);
  const auto j = text.integer(words[1], {"variable", coupling_form}, 0, model.n - 1);
  const auto weight = text.real(words[2], {"coupling", coupling_form});
  if (!i || !j || !weight) return;
  if (*i == *j) {
    text.complain(words[0].column, "variable " + std::to_string(*i) + " is coupled to itself",
                  coupling_form);
    return;
  }
  const auto [low, high] = std::minmax(*i, *j);
  model.couplings.push_back(
      {static_cast<std::int32_t>(low), static_cast<std::int32_t>(high), *weight});
}

void read_terms(TextReader& text, const Header& header, Potts& model) {
  std::int64_t n_fields = 0, n_couplings = 0;
  while (detail::next_significant_line(text)) {
    const Token& first = text.words().front();
    if (first.text == "p") text.fail(first.column, "this is a second header", coupling_form);
    const bool is_field = first.text == "h";
    std::int64_t& found = is_field ? n_fields : n_couplings;
    const std::int64_t promised = is_field ? header.n_fields : header.n_couplings;
    if (found == promised) {
      text.fail(first.column,
                std::string("this line exceeds the number of ") +
                    (is_field ? "fields" : "couplings") + " in the header, " +
                    std::to_string(promised),
                is_field ? "couplings or the end of the file" : "the end of the file");
    }
    ++found;
    if (header.n == 0) {
      text.complain(first.column, "the header gives 0 variables", "no terms");
    } else if (is_field) {
      read_field(text, model);
    } else {
      read_coupling(text, model);
    }
  }
  detail::check_total(text, header.n_fields, n_fields, "fields", field_form);
  detail::check_total(text, header.n_couplings, n_couplings, "couplings", coupling_form);
}

/// What is held for each variable: with fields a number for each of its values.
std::int64_t entries_of(const Potts& model) {
  return std::int64_t{model.n} * (model.fields.empty() ? 1 : model.q);
}

}  // namespace

Potts read_potts(std::istream& in, const std::string& file_name, ReadReport* report) {
  TextReader text(in, file_name);
  const Header header = read_header(text);
  Potts model{header.n, header.q, {}, {}};
  read_terms(text, header, model);
  const std::int64_t n_terms = std::ssize(model.fields) + std::ssize(model.couplings);
  detail::check_promise(text, header.n, "variables", n_terms, "terms");
  text.finish();
  const std::int64_t n_merged = detail::merge_or_refuse(model, text);
  detail::check_promise(text, entries_of(model), "variables times values", n_terms, "terms");
  text.finish();
  if (report != nullptr) *report = detail::report_of_merging(n_merged, "terms");
  return model;
}

void write_potts(std::ostream& out, const Potts& potts, const std::vector<std::string>& comments) {
  detail::require_canonical(potts);
  detail::LineWriter writer([&](std::string_view block) {
    out.write(block.data(), static_cast<std::streamsize>(block.size()));
  });
  for (const std::string& comment : comments) writer.line("c " + detail::one_line(comment));
  const std::int64_t n_zeros = detail::missing_lines(
      entries_of(potts), std::ssize(potts.fields) + std::ssize(potts.couplings));
  writer.line("p potts " + std::to_string(potts.n) + " " + std::to_string(potts.q) + " " +
              std::to_string(std::ssize(potts.fields) + n_zeros) + " " +
              std::to_string(potts.couplings.size()));
  for (const PottsField& field : potts.fields) writer.line(detail::line_of(field));
  for (std::int64_t zero = 0; zero < n_zeros; ++zero) writer.line("h 0 0 0");
  for (const Edge& edge : potts.couplings) writer.line(edge.u, edge.v, edge.weight);
  writer.flush();
  if (!out) throw IoError("io.write", "writing the model failed");
}

}  // namespace kiln::problems
