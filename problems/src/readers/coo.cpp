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

constexpr std::int64_t max_index = std::numeric_limits<std::int32_t>::max() - 1;

constexpr std::string_view term_form = "<i> <j> <value>, variables counted from 0";
constexpr std::string_view vartype_form =
    "a first line `# vartype=SPIN` or `# vartype=BINARY`; Kiln does not guess the type";

std::string_view name_of(VarType type) { return type == VarType::spin ? "SPIN" : "BINARY"; }

/// The kind of variables that a comment line declares; nothing for other comments.
std::optional<VarType> declared_vartype(TextReader& text) {
  constexpr std::string_view key = "#vartype=";
  std::string joined;
  for (const Token& word : text.words()) joined += word.text;
  std::string lower = joined;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (!lower.starts_with(key)) return std::nullopt;
  const std::string_view value = std::string_view(lower).substr(key.size());
  if (value == "spin") return VarType::spin;
  if (value == "binary") return VarType::binary;
  text.fail(text.words().front().column,
            "the vartype '" + detail::printable(joined.substr(key.size())) + "' is not supported",
            vartype_form);
}

/// Takes the vartype lines of a text and holds them against what the user says.
class VarTypeLine {
 public:
  explicit VarTypeLine(const ReaderOptions& options) : asked_(options.vartype) {}

  void take_comment(TextReader& text, bool after_terms) {
    const auto declared = declared_vartype(text);
    if (!declared) return;
    const std::int64_t column = text.words().front().column;
    if (line_) text.fail(column, "this is a second vartype line", term_form);
    if (after_terms) text.fail(column, "the vartype line comes after terms", vartype_form);
    if (asked_ && *asked_ != *declared) {
      text.fail(column,
                "the file says vartype=" + std::string(name_of(*declared)) + ", but " +
                    std::string(name_of(*asked_)) + " was requested",
                {});
    }
    line_ = declared;
  }

  std::optional<VarType> type() const { return line_ ? line_ : asked_; }

 private:
  std::optional<VarType> asked_;
  std::optional<VarType> line_;
};

/// A line as a term with i <= j, a diagonal one with i = j; nothing after a complaint.
std::optional<QuboTerm> read_term(TextReader& text) {
  if (!detail::has_words(text, 3, term_form)) return std::nullopt;
  const std::vector<Token>& words = text.words();
  const auto i = text.integer(words[0], {"variable", term_form}, 0, max_index);
  const auto j = text.integer(words[1], {"variable", term_form}, 0, max_index);
  const auto value = text.real(words[2], {"value", term_form});
  if (!i || !j || !value) return std::nullopt;
  const auto [low, high] = std::minmax(*i, *j);
  return QuboTerm{static_cast<std::int32_t>(low), static_cast<std::int32_t>(high), *value};
}

/// Reads all terms and the kind of their variables.
std::vector<QuboTerm> read_terms(TextReader& text, VarTypeLine& vartype) {
  std::vector<QuboTerm> terms;
  bool after_terms = false;
  while (text.next_line()) {
    if (text.words().front().text.starts_with('#')) {
      vartype.take_comment(text, after_terms);
      continue;
    }
    after_terms = true;
    if (!vartype.type()) {
      text.fail(0, "no line before this line states whether the variables are spins or bits",
                vartype_form);
    }
    detail::make_room(terms, 2 * std::ssize(terms));
    if (const auto term = read_term(text)) terms.push_back(*term);
  }
  if (!after_terms) text.fail(0, "the file has no terms", term_form);
  return terms;
}

/// The number of variables; the largest index has the last word.
std::int32_t count_variables(TextReader& text, const std::vector<QuboTerm>& terms) {
  std::int64_t n = 0;
  for (const QuboTerm& term : terms) n = std::max(n, std::int64_t{term.j} + 1);
  const std::int64_t n_allowed = detail::max_variables(std::ssize(terms));
  if (n > n_allowed) {
    text.complain(0,
                  "the largest variable is " + std::to_string(n - 1) + ", but the file has only " +
                      std::to_string(terms.size()) + " terms",
                  "at most " + std::to_string(n_allowed) + " variables for this number of terms");
  }
  return static_cast<std::int32_t>(n);
}

Ising as_ising(Qubo terms) {
  Ising ising{terms.n, std::move(terms.linear), {}, 0.0};
  ising.couplings.reserve(terms.quadratic.size());
  for (const QuboTerm& term : terms.quadratic) {
    ising.couplings.push_back({term.i, term.j, term.value});
  }
  return ising;
}

/// What both writers share: `pairs` are edges or terms.
template <class Pairs>
void write_lines(std::ostream& out, VarType type, const std::vector<double>& linear,
                 const Pairs& pairs, const std::vector<std::string>& comments) {
  detail::LineWriter writer([&](std::string_view block) {
    out.write(block.data(), static_cast<std::streamsize>(block.size()));
  });
  writer.line("# vartype=" + std::string(name_of(type)));
  // The second sign keeps a comment from being taken for a vartype line.
  for (const std::string& comment : comments) writer.line("## " + detail::one_line(comment));
  const std::int64_t n = std::ssize(linear);
  const std::int64_t n_linear = n - std::ranges::count(linear, 0.0);
  const std::int64_t n_zeros = detail::missing_lines(n, n_linear + std::ssize(pairs) + 1);
  detail::write_diagonal(writer, linear, n_zeros);
  bool last_is_named = linear.back() != 0.0;
  for (const auto& pair : pairs) {
    const auto [i, j] = detail::key(pair);
    last_is_named = last_is_named || j == n - 1;
    writer.line(i, j, detail::amount(pair));
  }
  // The number of variables is told by the largest index alone.
  if (!last_is_named) writer.line(n - 1, n - 1, 0.0);
  writer.flush();
  if (!out) throw IoError("io.write", "writing the model failed");
}

void require_room(std::int64_t n, double offset) {
  if (offset != 0.0) {
    throw InvalidArgument(
        "problem.offset", "the COO format cannot store an offset", {},
        "set the offset to 0, and add the former offset to the value of each solution");
  }
  if (n < 1) {
    throw InvalidArgument("problem.size", "the COO format cannot store a model of 0 variables");
  }
}

}  // namespace

std::variant<Ising, Qubo> read_coo(std::istream& in, const std::string& file_name,
                                   ReadReport* report, const ReaderOptions& options) {
  TextReader text(in, file_name);
  VarTypeLine vartype(options);
  Qubo terms;
  terms.quadratic = read_terms(text, vartype);
  terms.n = count_variables(text, terms.quadratic);
  text.finish();

  const std::int64_t n_repeated = detail::move_diagonal(terms);
  const std::int64_t n_merged = n_repeated + detail::merge_or_refuse(terms, text);
  if (report != nullptr) *report = detail::report_of_merging(n_merged, "terms");
  if (vartype.type() == VarType::spin) return as_ising(std::move(terms));
  return terms;
}

void write_coo(std::ostream& out, const Ising& ising, const std::vector<std::string>& comments) {
  detail::require_canonical(ising);
  require_room(ising.n, ising.offset);
  write_lines(out, VarType::spin, ising.fields, ising.couplings, comments);
}

void write_coo(std::ostream& out, const Qubo& qubo, const std::vector<std::string>& comments) {
  detail::require_canonical(qubo);
  require_room(qubo.n, qubo.offset);
  write_lines(out, VarType::binary, qubo.linear, qubo.quadratic, comments);
}

}  // namespace kiln::problems
