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
    "p qubo 0 <number of variables> <number of diagonal terms> <number of couplings>";
constexpr std::string_view term_form =
    "<i> <i> <value> or <i> <j> <value> with i < j, variables counted from 0";

/// What the header promises, and what has come so far.
struct Counts {
  std::int64_t n_variables = 0;
  std::int64_t n_diagonal = 0;
  std::int64_t n_couplings = 0;
};

Counts read_header(TextReader& text) {
  detail::read_problem_line(text, {"qubo"}, 6, header_form);
  const std::vector<Token>& words = text.words();
  if (words[2].text != "0" && words[2].text != "unconstrained") {
    text.fail(words[2].column,
              "the topology '" + detail::printable(words[2].text) + "' is not supported",
              header_form);
  }
  const auto n = text.integer(words[3], {"number of variables", header_form}, 0, max_variables);
  const auto a = text.integer(words[4], {"number of diagonal terms", header_form}, 0, max_terms);
  const auto b = text.integer(words[5], {"number of couplings", header_form}, 0, max_terms);
  if (!n || !a || !b) text.finish();  // without a header nothing else can be judged
  return {*n, *a, *b};
}

/// A line as a term, a diagonal one with i = j; nothing after a complaint.
std::optional<QuboTerm> read_term(TextReader& text, std::int64_t n_variables) {
  if (!detail::has_words(text, 3, term_form)) return std::nullopt;
  const std::vector<Token>& words = text.words();
  if (n_variables == 0) {
    text.complain(words[0].column, "the header gives 0 variables", "no terms");
    return std::nullopt;
  }
  const auto i = text.integer(words[0], {"variable", term_form}, 0, n_variables - 1);
  const auto j = text.integer(words[1], {"variable", term_form}, 0, n_variables - 1);
  const auto value = text.real(words[2], {"value", term_form});
  if (!i || !j || !value) return std::nullopt;
  if (*i > *j) {
    text.complain(
        words[0].column,
        "the coupling " + std::to_string(*i) + " " + std::to_string(*j) + " is below the diagonal",
        term_form);
    return std::nullopt;
  }
  return QuboTerm{static_cast<std::int32_t>(*i), static_cast<std::int32_t>(*j), *value};
}

/// Reads the terms and holds them against the header; a diagonal term stays one with i = j.
std::vector<QuboTerm> read_terms(TextReader& text, const Counts& promised) {
  std::vector<QuboTerm> terms;
  Counts found;
  while (detail::next_significant_line(text)) {
    const std::vector<Token>& words = text.words();
    if (words[0].text == "p") text.fail(words[0].column, "this is a second header", term_form);
    const auto term = read_term(text, promised.n_variables);
    // A line that was refused still counts, on the side to which its words belong.
    const bool diagonal =
        term ? term->i == term->j : words.size() > 1 && words[0].text == words[1].text;
    std::int64_t& n_found = diagonal ? found.n_diagonal : found.n_couplings;
    const std::int64_t n_promised = diagonal ? promised.n_diagonal : promised.n_couplings;
    if (n_found == n_promised) {
      text.fail(words[0].column,
                std::string("this line exceeds the number of ") +
                    (diagonal ? "diagonal terms" : "couplings") + " in the header, " +
                    std::to_string(n_promised),
                diagonal ? "couplings or the end of the file" : "the end of the file");
    }
    ++n_found;
    detail::make_room(terms, promised.n_couplings + promised.n_diagonal);
    if (term) terms.push_back(*term);
  }
  detail::check_total(text, promised.n_diagonal, found.n_diagonal, "diagonal terms", term_form);
  detail::check_total(text, promised.n_couplings, found.n_couplings, "couplings", term_form);
  return terms;
}

}  // namespace

Qubo read_qubo(std::istream& in, const std::string& file_name, ReadReport* report) {
  TextReader text(in, file_name);
  const Counts promised = read_header(text);

  Qubo qubo;
  qubo.n = static_cast<std::int32_t>(promised.n_variables);
  qubo.quadratic = read_terms(text, promised);
  detail::check_promise(text, promised.n_variables, "variables", std::ssize(qubo.quadratic),
                        "terms");
  text.finish();

  const std::int64_t n_repeated = detail::move_diagonal(qubo);
  const std::int64_t n_merged = n_repeated + detail::merge_or_refuse(qubo, text);
  if (report != nullptr) *report = detail::report_of_merging(n_merged, "terms");
  return qubo;
}

void write_qubo(std::ostream& out, const Qubo& qubo, const std::vector<std::string>& comments) {
  detail::require_canonical(qubo);
  if (qubo.offset != 0.0) {
    throw InvalidArgument(
        "problem.offset", "the .qubo format cannot store the offset of the function", {},
        "set the offset to 0, and add the former offset to the value of each solution");
  }
  detail::LineWriter writer([&](std::string_view block) {
    out.write(block.data(), static_cast<std::streamsize>(block.size()));
  });
  for (const std::string& comment : comments) writer.line("c " + detail::one_line(comment));
  const std::int64_t n_linear = std::ssize(qubo.linear) - std::ranges::count(qubo.linear, 0.0);
  const std::int64_t n_zeros = detail::missing_lines(qubo.n, n_linear + std::ssize(qubo.quadratic));
  writer.line("p qubo 0 " + std::to_string(qubo.n) + " " + std::to_string(n_linear + n_zeros) +
              " " + std::to_string(qubo.quadratic.size()));
  detail::write_diagonal(writer, qubo.linear, n_zeros);
  detail::write_pairs(writer, qubo.quadratic);
  writer.flush();
  if (!out) throw IoError("io.write", "writing the QUBO function failed");
}

}  // namespace kiln::problems
