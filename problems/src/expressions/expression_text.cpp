// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "expressions/expression_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "kiln/errors.hpp"

namespace kiln::problems {
namespace {

using Kind = ExpressionNode::Kind;

constexpr std::size_t max_text = std::size_t{64} << 10;
constexpr int max_levels = 200;

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What a character is called in a message; bytes of other alphabets are no characters here.
std::string shown(char c) {
  if (c == '\'') return "\"'\"";
  if (c > ' ' && c < 0x7f) return std::string("'") + c + "'";
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' ? "a blank"
                                                         : "a character that formulas do not have";
}

// What was meant, perhaps.
std::string hint_at(char c) {
  if (c == '|') return "abs(x) is the magnitude of x";
  if (c == '<' || c == '>' || c == '=' || c == '!' || c == '&' || c == '?') {
    return "a formula has no conditions; --subject-to 'g <= 0' is a constraint";
  }
  if (c == '[') return "an element with two indices is m[1,2]";
  if (c == '(' || begins_name(c) || is_digit(c)) return "a product needs a '*'";
  if (c == '%') return "a formula has no remainders";
  return {};
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  ExpressionNode whole() {
    ExpressionNode node = sum();
    if (!at_end())
      refuse_here(node.kind == Kind::number ? "an operator" : "an operator or the end");
    return node;
  }

 private:
  struct Level {
    explicit Level(Parser& of) : parser(of) {
      if (++parser.levels_ > max_levels) {
        refuse_expression("expr.size", parser.column(), "the formula has over 200 levels");
      }
    }
    ~Level() { --parser.levels_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Parser& parser;
  };

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  char peek() { return at_end() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++at_;
    return true;
  }
  std::size_t column() const { return at_ + 1; }
  [[noreturn]] void refuse_here(const std::string& expected) {
    const bool ended = at_end();
    const std::string hint = ended ? std::string{} : hint_at(text_[at_]);
    refuse_expression(
        "expr.syntax", column(),
        ended ? "the formula ends too early" : shown(text_[at_]) + " cannot stand here",
        "expected " + expected, hint);
  }
  void require(char c, const char* expected) {
    if (!take(c)) refuse_here(expected);
  }

  ExpressionNode node(Kind kind) {
    skip_blanks();
    ExpressionNode made;
    made.kind = kind;
    made.column = column();
    return made;
  }

  ExpressionNode sum() {
    const Level level(*this);
    return chain("+-");
  }

  ExpressionNode chain(std::string_view of) {
    const auto part = [&] { return of == "+-" ? chain("*/") : sign(); };
    ExpressionNode first = part();
    if (of.find(peek()) == of.npos || at_end()) return first;
    ExpressionNode all = node(Kind::chain);
    all.column = first.column;
    all.operators = of.front();
    all.parts.push_back(std::move(first));
    while (!at_end() && of.find(peek()) != of.npos) {
      all.operators += text_[at_++];
      if (all.operators.back() == '*' && text_.substr(at_, 1) == "*") {
        refuse_expression("expr.syntax", at_, "'**' is no operator", "x^2 for a power");
      }
      all.parts.push_back(part());
    }
    return all;
  }

  ExpressionNode sign() {
    if (peek() != '+' && peek() != '-') return power();
    const Level level(*this);
    if (take('+')) return sign();
    ExpressionNode negative = node(Kind::negative);
    ++at_;
    negative.parts.push_back(sign());
    return negative;
  }

  ExpressionNode power() {
    ExpressionNode base = value();
    if (peek() != '^') return base;
    ExpressionNode both = node(Kind::power);
    ++at_;
    both.parts.push_back(std::move(base));
    const Level level(*this);  // of x^x^x
    both.parts.push_back(sign());
    return both;
  }

  ExpressionNode value() {
    const char c = peek();
    if (is_digit(c) || c == '.') return number();
    if (take('(')) {
      ExpressionNode inner = sum();
      require(')', "an operator or ')'");
      return inner;
    }
    if (at_end() || !begins_name(c)) refuse_here("a number, a name or '('");
    ExpressionNode named = node(Kind::name);
    named.text = name();
    if (named.text == "sum" || named.text == "prod") return fold(std::move(named));
    const bool is_call = take('(');
    if (!is_call && !take('[')) return named;
    named.kind = is_call ? Kind::call : Kind::item;
    do named.parts.push_back(sum());
    while (take(','));
    require(is_call ? ')' : ']', is_call ? "an operator, ',' or ')'" : "an operator, ',' or ']'");
    return named;
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (begins_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // "1..n" is a range of 1, not the number "1.".
  ExpressionNode number() {
    ExpressionNode made = node(Kind::number);
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (text_.substr(end, 1) == "." && text_.substr(end, 2) != "..") {
      ++end;
      while (end < text_.size() && is_digit(text_[end])) ++end;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t digits = end + 1;
      if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
      if (digits < text_.size() && is_digit(text_[digits])) end = digits;
      while (end < text_.size() && is_digit(text_[end])) ++end;
    }
    const auto [rest, error] = std::from_chars(text_.data() + at_, text_.data() + end, made.number);
    if (error == std::errc::result_out_of_range || !std::isfinite(made.number)) {
      refuse_expression("expr.syntax", column(), "the number is out of the range of double");
    }
    if (error != std::errc() || rest != text_.data() + end) refuse_here("a number");
    at_ = end;
    const bool is_range = text_.substr(at_, 2) == "..";
    if (at_ < text_.size() && !is_range && (begins_name(text_[at_]) || text_[at_] == '.')) {
      refuse_here("an operator, such as '*'");
    }
    return made;
  }

  // After the word: (i=1..n, j=1..m, BODY)
  ExpressionNode fold(ExpressionNode made) {
    made.kind = Kind::fold;
    const std::string form = "such as " + made.text + "(i=1..10, x[i]^2)";
    require('(', ("'(', " + form).c_str());
    for (;;) {
      const std::size_t begin = (skip_blanks(), at_);
      ExpressionNode::Range range;
      range.column = column();
      if (begins_name(peek())) range.index = name();
      if (range.index.empty() || !take('=')) {
        at_ = begin;
        break;
      }
      range.bounds.push_back(sum());
      if (!take('.') || !take('.')) refuse_here("'..', " + form);
      range.bounds.push_back(sum());
      made.ranges.push_back(std::move(range));
      require(',', "an operator or ','");
    }
    if (made.ranges.empty()) refuse_here("an index with its range, " + form);
    made.parts.push_back(sum());
    require(')', "an operator or ')'");
    return made;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int levels_ = 0;
};

}  // namespace

ExpressionNode parse_expression(std::string_view text) {
  if (text.size() > max_text) {
    refuse_expression("expr.size", max_text, "the formula has over 64 KiB", {},
                      "use sum(i=1..n, ...) with data columns");
  }
  return Parser(text).whole();
}

bool is_expression_name(std::string_view text) {
  if (text.empty() || !begins_name(text.front())) return false;
  return std::ranges::all_of(text, [](char c) { return begins_name(c) || is_digit(c); });
}

void refuse_terms(std::size_t column) {
  refuse_expression("expr.size", column,
                    "the sums have over 2^22 terms, or take over 2^28 steps to read");
}

void refuse_expression(const char* code, std::size_t column, const std::string& message,
                       const std::string& expected, const std::string& fix) {
  throw InvalidArgument(code, "column " + std::to_string(column) + ": " + message, expected, fix);
}

}  // namespace kiln::problems
