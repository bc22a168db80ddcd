// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "report/report_page.hpp"

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

namespace kiln::test {
namespace {

// The style sheet and the script are the program's own, and have signs that look like tags.
std::string without_own_code(std::string html) {
  for (const char* name : {"style", "script"}) {
    const std::size_t begin = html.find(std::string("<") + name + ">");
    const std::size_t end = html.find(std::string("</") + name + ">", begin);
    if (end != std::string::npos) html.erase(begin, end - begin + std::string(name).size() + 3);
  }
  return html;
}

}  // namespace

std::multimap<std::string, std::string> fields_of(const std::string& html) {
  static const std::regex field("<data data-field=\"([^\"]*)\" value=\"([^\"]*)\">");
  std::multimap<std::string, std::string> fields;
  for (std::sregex_iterator at(html.begin(), html.end(), field), end; at != end; ++at) {
    fields.emplace((*at)[1], (*at)[2]);
  }
  return fields;
}

std::vector<std::string> differing_fields(const std::string& html, const nlohmann::json& result) {
  std::vector<std::string> differing;
  for (const auto& [field, value] : fields_of(html)) {
    std::string path = "/" + field;
    for (char& c : path) c = c == '.' ? '/' : c;
    const nlohmann::json::json_pointer pointer(path);
    const bool equal = result.contains(pointer) && result[pointer].is_number() &&
                       result[pointer].get<double>() == std::stod(value);
    if (!equal) differing.push_back(field);
  }
  return differing;
}

std::map<std::string, std::string> figures_with(const std::string& html,
                                                const std::string& attribute) {
  const std::regex figure("<figure data-name=\"([^\"]*)\"[^>]* " + attribute + "=\"([^\"]*)\"");
  std::map<std::string, std::string> figures;
  for (std::sregex_iterator at(html.begin(), html.end(), figure), end; at != end; ++at) {
    figures[(*at)[1]] = (*at)[2];
  }
  return figures;
}

std::vector<std::string> foreign_markup(const std::string& html) {
  static const std::set<std::string> tags{
      "!doctype", "html",    "head",       "meta",    "title", "body",  "nav",   "span",   "button",
      "main",     "header",  "h1",         "h2",      "h3",    "p",     "div",   "b",      "small",
      "data",     "section", "details",    "summary", "table", "thead", "tbody", "tr",     "th",
      "td",       "figure",  "figcaption", "svg",     "g",     "line",  "rect",  "circle", "path",
      "text",     "i",       "ul",         "li",      "pre",   "a",     "footer"};
  const std::string page = without_own_code(html);
  static const std::regex tag("<(/?)([^ />\n]*)([^>]*)"),
      handler("[ \"]on[a-z]+=|javascript:|url\\(");
  std::vector<std::string> foreign;
  for (std::sregex_iterator at(page.begin(), page.end(), tag), end; at != end; ++at) {
    std::string name = (*at)[2].str();
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    // Attributes end where their quotes end: what is within quotes cannot act.
    const std::string outside =
        std::regex_replace((*at)[3].str(), std::regex("\"[^\"]*\""), "\"\"");
    if (!tags.contains(name) || std::regex_search(outside, handler)) {
      foreign.push_back((*at)[0].str());
    }
  }
  return foreign;
}

std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) numbers.push_back(std::stod(one));
  return numbers;
}

}  // namespace kiln::test
