// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "metrics_reader.hpp"

#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>

namespace kiln::test {
namespace {

[[noreturn]] void refuse(const std::string& why, const std::string& line) {
  throw std::runtime_error(why + ": " + line);
}

struct Reader {
  MetricsPage page;
  std::string family;              // of the samples that follow
  std::set<std::string> families;  // all so far
  std::set<std::string> seen;      // names with labels
  bool has_type = false, ended = false;

  void comment(const std::string& line) {
    static const std::regex form("# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
    std::smatch found;
    if (line == "# EOF") {
      ended = true;
      return;
    }
    if (!std::regex_match(line, found, form)) refuse("no comment of metrics", line);
    const std::string kind = found[1], name = found[2], rest = found[3];
    if (kind == "HELP") {
      if (!families.insert(name).second) refuse("a family in two pieces", line);
      family = name;
      has_type = false;
    } else if (name != family) {
      refuse("about another family", line);
    } else if (kind == "TYPE") {
      // Counters have other names in the two formats.
      if (rest != "gauge") refuse("not a gauge", line);
      has_type = true;
    } else if (!name.ends_with("_" + rest)) {
      refuse("the name does not end with the unit", line);
    }
  }

  static std::map<std::string, std::string> labels_of(std::string text, const std::string& line) {
    static const std::regex label(
        R"re(^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$))re");
    std::map<std::string, std::string> labels;
    while (!text.empty()) {
      std::smatch found;
      if (!std::regex_search(text, found, label)) refuse("no label", line);
      std::string value;
      const std::string raw = found[2];
      for (std::size_t i = 0; i < raw.size(); ++i) {
        const bool escape = raw[i] == '\\';
        if (escape) ++i;
        value += escape && raw[i] == 'n' ? '\n' : raw[i];
      }
      if (!labels.emplace(found[1], value).second) refuse("a label twice", line);
      text = found.suffix();
    }
    return labels;
  }

  void sample(const std::string& line) {
    static const std::regex form(R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+))re");
    std::smatch found;
    if (!std::regex_match(line, found, form)) refuse("no sample", line);
    if (found[1] != family || !has_type) refuse("a sample outside its family", line);
    if (!seen.insert(found[1].str() + "{" + found[2].str()).second) refuse("twice", line);
    const std::string number = found[3];
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (*end != '\0') refuse("no number", line);
    page.samples.emplace(family, MetricSample{labels_of(found[2], line), value});
  }
};

}  // namespace

MetricsPage read_metrics(const std::string& text) {
  Reader reader;
  if (text.empty() || text.back() != '\n') refuse("no line feed at the end", text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (reader.ended) refuse("a line after the end", line);
    if (line.starts_with('#')) {
      reader.comment(line);
    } else {
      reader.sample(line);
    }
  }
  if (!reader.ended) refuse("no end", text);
  return reader.page;
}

}  // namespace kiln::test
