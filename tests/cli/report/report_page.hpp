// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// What tests read out of a report.
namespace kiln::test {

/// The numbers that name the field of result.json that they are from.
std::multimap<std::string, std::string> fields_of(const std::string& html);

/// The fields of a report whose number is another one than that of result.json, or is not there.
std::vector<std::string> differing_fields(const std::string& html, const nlohmann::json& result);

/// The attributes of the figures that have this one, by their names.
std::map<std::string, std::string> figures_with(const std::string& html,
                                                const std::string& attribute);

/// Tags and attributes that reports do not have: what a name from a file would bring in.
std::vector<std::string> foreign_markup(const std::string& html);

/// Numbers with commas in between.
std::vector<double> numbers_in(const std::string& text);

}  // namespace kiln::test
