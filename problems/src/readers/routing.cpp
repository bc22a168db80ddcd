// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <set>

#include "kiln/problems/multi_objective_discrete.hpp"

#include "data_text.hpp"
#include "text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::DataText;
using detail::printable;

constexpr std::string_view kinds_form = "kinds,NAME,...: the kinds of queries";
constexpr std::string_view model_form =
    "model,NAME,price_in,price_out,first_token,tokens_per_s, then one quality for each kind";
constexpr std::string_view query_form = "query,NAME,count,tokens_in,tokens_out,KIND";
constexpr std::string_view limit_form = "budget,AMOUNT or latency_limit,SECONDS";
constexpr std::string_view any_form =
    "a line that begins with kinds, model, query, budget or latency_limit";

/// So that looking a kind up takes no time worth an index.
constexpr std::size_t max_kinds = 256;

/// A cell of a line and where it begins, in bytes from 1.
struct Cell {
  std::string_view text;
  std::int64_t column = 0;
};

std::vector<Cell> cells_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<Cell> cells;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(line.find(',', at), line.size());
    const std::size_t begin = std::min(line.find_first_not_of(blanks, at), end);
    std::string_view text = line.substr(begin, end - begin);
    text = text.substr(0, text.find_last_not_of(blanks) + 1);
    cells.push_back({text, static_cast<std::int64_t>(begin + 1)});
    if (end == line.size()) return cells;
    at = end + 1;
  }
}

class RoutingParser {
 public:
  explicit RoutingParser(DataText& text) : text_(text) {}

  RoutingTable parse() {
    std::string_view rest = text_.text();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      ++line_;
      cells_ = cells_of(rest.substr(0, end));
      const std::string_view first = cells_.front().text;
      if ((!first.empty() || cells_.size() > 1) && !first.starts_with('#')) take_line(first);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    line_ = 0;
    text_.finish();
    if (table_.kinds.empty()) text_.fail(0, 0, "there are no kinds of queries", kinds_form);
    if (table_.models.empty()) text_.fail(0, 0, "there is no model", model_form);
    if (table_.queries.empty()) text_.fail(0, 0, "there are no queries", query_form);
    return std::move(table_);
  }

 private:
  void take_line(std::string_view first) {
    if (first == "kinds") return take_kinds();
    if (first == "model") return take_model();
    if (first == "query") return take_query();
    if (first == "budget") return take_limit(table_.budget);
    if (first == "latency_limit") return take_limit(table_.latency_limit);
    complain(cells_.front(), "a line begins with '" + printable(first) + "'", any_form);
  }

  void take_kinds() {
    if (!table_.kinds.empty()) {
      return complain(cells_.front(), "this is a second line of kinds", kinds_form);
    }
    if (cells_.size() < 2) return complain({}, "the line names no kinds", kinds_form);
    if (cells_.size() > max_kinds + 1) {
      complain({}, "the line names " + std::to_string(cells_.size() - 1) + " kinds",
               "at most " + std::to_string(max_kinds));
      cells_.resize(max_kinds + 1);
    }
    std::set<std::string_view> taken;
    for (std::size_t i = 1; i < cells_.size(); ++i) {
      table_.kinds.push_back(name(cells_[i], "kind", taken, kinds_form));
    }
  }

  void take_model() {
    if (table_.kinds.empty()) {
      return complain(cells_.front(), "this model comes before the line of kinds", kinds_form);
    }
    if (!has_cells(6 + table_.kinds.size(), model_form)) return;
    RoutedModel model;
    model.name = name(cells_[1], "model", model_names_, model_form);
    model.price_in = amount(cells_[2], "price_in", model_form);
    model.price_out = amount(cells_[3], "price_out", model_form);
    model.first_token = amount(cells_[4], "first_token", model_form);
    model.tokens_per_s = above_zero(cells_[5], "tokens_per_s", model_form);
    for (std::size_t i = 6; i < cells_.size(); ++i) {
      model.quality.push_back(amount(cells_[i], "quality", model_form));
    }
    table_.models.push_back(std::move(model));
  }

  void take_query() {
    if (!has_cells(6, query_form)) return;
    RoutedQueries row;
    row.name = name(cells_[1], "query", query_names_, query_form);
    row.count = count(cells_[2]);
    row.tokens_in = amount(cells_[3], "tokens_in", query_form);
    row.tokens_out = amount(cells_[4], "tokens_out", query_form);
    row.kind = kind(cells_[5]);
    table_.queries.push_back(std::move(row));
  }

  void take_limit(double& limit) {
    const std::string what(cells_.front().text);
    if (!has_cells(2, limit_form)) return;
    if (limit > 0) return complain(cells_.front(), "this is a second " + what, limit_form);
    limit = above_zero(cells_[1], what, limit_form);
  }

  void complain(const Cell& cell, std::string message, std::string_view expected) {
    text_.complain(line_, cell.column, std::move(message), expected);
  }

  bool has_cells(std::size_t count, std::string_view expected) {
    if (cells_.size() == count) return true;
    complain({},
             "the line should have " + std::to_string(count) + " values and has " +
                 std::to_string(cells_.size()),
             expected);
    return false;
  }

  std::string name(const Cell& cell, const std::string& what, std::set<std::string_view>& taken,
                   std::string_view expected) {
    if (cell.text.empty()) complain(cell, "the " + what + " has no name", expected);
    // Names are written to terminals and into tables of results.
    if (std::ranges::any_of(cell.text, detail::is_control)) {
      complain(cell, "the name of the " + what + " has a control character", expected);
    }
    if (!cell.text.empty() && !taken.insert(cell.text).second) {
      complain(cell, "the " + what + " '" + printable(cell.text) + "' appears twice",
               "unique names");
    }
    return std::string(cell.text);
  }

  /// A finite number of at least 0; complains and gives 1 for anything else.
  double amount(const Cell& cell, const std::string& what, std::string_view expected) {
    double value = 0;
    const char* why = detail::why_no_real(cell.text, value);
    if (why == nullptr && value < 0) why = " is negative";
    if (why == nullptr) return value + 0.0;  // never -0
    complain(cell, what + " '" + printable(cell.text) + "'" + why, expected);
    return 1;
  }

  double above_zero(const Cell& cell, const std::string& what, std::string_view expected) {
    const double value = amount(cell, what, expected);
    if (value > 0) return value;
    complain(cell, what + " '" + printable(cell.text) + "' is not above 0", expected);
    return 1;
  }

  std::int64_t count(const Cell& cell) {
    std::int64_t value = 0;
    const char* const end = cell.text.data() + cell.text.size();
    const auto [stop, error] = std::from_chars(cell.text.data(), end, value);
    const std::string which = "count '" + printable(cell.text) + "'";
    if (stop != end || error == std::errc::invalid_argument) {
      complain(cell, which + " is not a whole number", query_form);
    } else if (error != std::errc() || value < 1 || value > max_routed_queries) {
      complain(cell, which + " is outside 1 .. " + std::to_string(max_routed_queries), query_form);
    }
    return value;
  }

  std::int32_t kind(const Cell& cell) {
    const auto found = std::ranges::find(table_.kinds, cell.text);
    if (found != table_.kinds.end()) {
      return static_cast<std::int32_t>(found - table_.kinds.begin());
    }
    std::string all;
    for (const std::string& known : table_.kinds) {
      all += (all.empty() ? "" : ", ") + printable(known);
    }
    complain(cell, "the kind '" + printable(cell.text) + "' is not known",
             all.empty() ? kinds_form : "one of " + all);
    return 0;
  }

  DataText& text_;
  RoutingTable table_;
  std::vector<Cell> cells_;
  std::int64_t line_ = 0;
  std::set<std::string_view> model_names_, query_names_;
};

}  // namespace

RoutingTable read_routing(std::istream& in, const std::string& file_name) {
  DataText text(in, file_name);
  return RoutingParser(text).parse();
}

}  // namespace kiln::problems
