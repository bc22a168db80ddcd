// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "spec.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kiln/errors.hpp"

#include "readers/text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::printable;

std::string form_text(std::string_view family, const SpecForm& form) {
  std::string text = std::string(family) + ":" + std::string(form.name);
  if (form.least != form.most) text += "-D";
  if (!form.number.empty()) text += ",NUMBER";
  return text;
}

[[noreturn]] void refuse_form(std::string_view family, std::string_view text,
                              const SpecForm& form) {
  std::string expected = form.least == form.most ? "" : "D is the number of dimensions";
  if (form.boxed) expected += "; a box may follow: -D,LOW,HIGH";
  if (!form.number.empty()) expected += ", and NUMBER is " + std::string(form.number);
  std::string valid = std::string(family) + ":" + std::string(form.name);
  if (form.least != form.most) valid += "-" + std::to_string(std::clamp(10, form.least, form.most));
  throw InvalidArgument("problem.parameters",
                        "'" + std::string(family) + ":" + printable(text) +
                            "' does not have the form " + form_text(family, form),
                        expected, "for example " + valid);
}

const SpecForm& find_form(std::string_view family, std::string_view text,
                          const std::vector<SpecForm>& forms) {
  const SpecForm* found = nullptr;
  for (const SpecForm& form : forms) {
    if (!text.starts_with(form.name)) continue;
    const std::string_view rest = text.substr(form.name.size());
    const bool ends = rest.empty() || rest.front() == '-' || rest.front() == ',';
    if (ends && (found == nullptr || found->name.size() < form.name.size())) found = &form;
  }
  if (found != nullptr) return *found;
  const std::string word(text.substr(0, std::min(text.find(','), text.size())));
  std::vector<std::string> names;
  std::string all;
  for (const SpecForm& form : forms) {
    names.emplace_back(form.name);
    all += (all.empty() ? "" : ", ") + std::string(form.name);
  }
  const std::string near = nearest_name(word.substr(0, word.find_last_of('-')), names);
  throw InvalidArgument("problem.unknown",
                        "unknown " + std::string(family) + " '" + printable(word) + "'" +
                            (near.empty() ? "" : "; the nearest is '" + near + "'"),
                        "available: " + all, "kiln describe " + std::string(family));
}

template <class T>
bool take_number(std::string_view& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

Spec parse_spec(std::string_view family, std::string_view text,
                const std::vector<SpecForm>& forms) {
  const SpecForm& form = find_form(family, text, forms);
  std::string_view rest = text.substr(form.name.size());
  Spec spec{std::string(form.name), {}, {}, {}};
  if (rest.starts_with('-')) {
    rest.remove_prefix(1);
    long long dimension = 0;
    if (form.least == form.most || !take_number(rest, dimension)) refuse_form(family, text, form);
    if (dimension < form.least || dimension > form.most) {
      throw InvalidArgument("problem.size",
                            "'" + std::string(family) + ":" + printable(text) + "' has " +
                                std::to_string(dimension) + " dimensions",
                            std::to_string(form.least) + " .. " + std::to_string(form.most));
    }
    spec.dimension = static_cast<int>(dimension);
  }
  if (rest.starts_with(',') && !form.number.empty()) {
    rest.remove_prefix(1);
    double number = 0;
    if (!take_number(rest, number) || !std::isfinite(number)) refuse_form(family, text, form);
    spec.number = number;
  }
  if (rest.starts_with(',') && form.boxed) {
    double low = 0, high = 0;
    rest.remove_prefix(1);
    bool fits = take_number(rest, low) && rest.starts_with(',');
    if (fits) rest.remove_prefix(1);
    fits = fits && take_number(rest, high) && std::isfinite(low) && std::isfinite(high);
    if (!fits) refuse_form(family, text, form);
    if (!(low < high)) {
      throw InvalidArgument(
          "problem.parameters",
          "the box of '" + std::string(family) + ":" + printable(text) + "' is empty",
          "LOW below HIGH, for example " + std::string(family) + ":" + std::string(form.name) +
              "-20,-5,10");
    }
    spec.box = {low, high};
  }
  if (!rest.empty()) refuse_form(family, text, form);
  if (!spec.dimension && form.standard > 0) spec.dimension = form.standard;
  if (!spec.dimension) refuse_form(family, text, form);
  return spec;
}

}  // namespace kiln::problems
