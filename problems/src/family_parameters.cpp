// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "family_parameters.hpp"

#include <charconv>
#include <system_error>

#include "kiln/errors.hpp"

#include "readers/text_reader.hpp"

namespace kiln::problems::detail {

namespace {

std::string spec_of(const Family& family, std::string_view parameters) {
  return "'" + std::string(family.name) + ":" + printable(parameters) + "'";
}

}  // namespace

void ParameterReader::refuse_form() const {
  const std::string name(family_.name);
  const std::string example(family_.examples.substr(0, family_.examples.find(' ')));
  const std::string colon = family_.form.empty() ? "" : ":";
  throw InvalidArgument("problem.parameters",
                        spec_of(family_, whole_) + " does not have the form " + name + colon +
                            std::string(family_.form),
                        std::string(family_.meaning), "kiln solve " + name + colon + example);
}

template <class T>
T ParameterReader::number() {
  T value{};
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  const auto length = static_cast<std::size_t>(end - rest_.data());
  if (error == std::errc::result_out_of_range) {
    throw InvalidArgument("problem.size", spec_of(family_, whole_) + ": the number " +
                                              printable(rest_.substr(0, length)) +
                                              " is out of range");
  }
  if (error != std::errc()) refuse_form();
  rest_.remove_prefix(length);
  return value;
}

template std::int32_t ParameterReader::number<std::int32_t>();
template std::int64_t ParameterReader::number<std::int64_t>();
template double ParameterReader::number<double>();

void ParameterReader::expect(char c) {
  if (!rest_.starts_with(c)) refuse_form();
  rest_.remove_prefix(1);
}

bool ParameterReader::take(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

void ParameterReader::finish() const {
  if (!rest_.empty()) refuse_form();
}

FamilyParameters parse_parameters(const Family& family, std::string_view text) {
  return family.parse(family, text);
}

}  // namespace kiln::problems::detail
