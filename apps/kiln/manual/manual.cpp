// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "manual/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "kiln/version.hpp"

#include "cli/arguments.hpp"

namespace kiln::cli {
namespace {

using Lines = std::vector<std::string>;

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return text;
}

/// What stands between empty lines.
std::vector<Lines> blocks_of(const std::string& text) {
  std::vector<Lines> blocks(1);
  std::string line;
  for (std::istringstream in(text); std::getline(in, line);) {
    if (!line.empty()) {
      blocks.back().push_back(line);
    } else if (!blocks.back().empty()) {
      blocks.emplace_back();
    }
  }
  if (blocks.back().empty()) blocks.pop_back();
  return blocks;
}

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// A title, and entries that are indented by two blanks and go on further in.
bool is_list(const Lines& block) {
  return block.size() > 1 && block.front().ends_with(':') && indent_of(block[1]) == 2;
}

bool is_headed(const Lines& block, std::string_view title) { return block.front() == title; }

/// Lines as they are.
std::string literal(const Lines& block, std::size_t first) {
  std::string text = ".nf\n";
  for (std::size_t i = first; i < block.size(); ++i) {
    text += escaped_roff(block[i].substr(std::min<std::size_t>(2, indent_of(block[i])))) + "\n";
  }
  return text + ".fi\n";
}

/// A list: lines "  name    sentence", and lines with more indentation that continue them.
std::string list(const Lines& block) {
  std::string text = ".PP\n" + escaped_roff(block.front()) + "\n";
  for (std::size_t i = 1; i < block.size(); ++i) {
    const std::size_t indent = indent_of(block[i]);
    if (indent > 2) {
      // Sentences on a parameter stand below its facts, which are further in.
      const bool is_sentence = indent == 4 && indent_of(block[i - 1]) != 4;
      if (is_sentence) text += ".br\n";
      text += escaped_roff(block[i].substr(indent)) + "\n";
      continue;
    }
    const std::size_t gap = std::min(block[i].find("  ", indent), block[i].size());
    text += ".TP\n.B " + escaped_roff(block[i].substr(indent, gap - indent)) + "\n";
    const std::size_t rest = std::min(block[i].find_first_not_of(' ', gap), block[i].size());
    if (rest < block[i].size()) text += escaped_roff(block[i].substr(rest)) + "\n";
  }
  return text;
}

std::string option_entry(const OptionSpec& option) {
  std::string head = option.letter == 0 ? "" : fmt::format("\\fB\\-{}\\fR, ", option.letter);
  head += "\\fB" + escaped_roff("--" + option.name) + "\\fR";
  if (!option.value.empty()) head += " \\fI" + escaped_roff(option.value) + "\\fR";
  return ".TP\n" + head + "\n" + escaped_roff(option.sentence) + "\n";
}

std::string options_section(const Verb& verb) {
  std::string text = ".SH OPTIONS\n";
  for (const OptionSpec& option : verb.options()) {
    if (!option.sentence.empty()) text += option_entry(option);
  }
  return text;
}

std::string environment_section(const Verb& verb) {
  std::string text;
  for (const OptionSpec& option : verb.options()) {
    if (!option.use.environment) continue;
    std::string name = "KILN_" + upper(option.name);
    std::ranges::replace(name, '-', '_');
    text += ".TP\n.B " + escaped_roff(name) + "\nThe value of " + escaped_roff("--" + option.name) +
            ", if the command line gives none.\n";
  }
  return text.empty() ? text : ".SH ENVIRONMENT\n" + text;
}

/// The blocks of a help text behind its usage, as sections.
std::string sections_of(const std::vector<Lines>& blocks, const Verb& verb) {
  std::string text = ".SH DESCRIPTION\n";
  bool options_over = false, has_notes = false;
  for (std::size_t i = 1; i < blocks.size(); ++i) {
    const Lines& block = blocks[i];
    if (is_headed(block, "options:")) {
      text += options_section(verb);
      options_over = true;
    } else if (is_headed(block, "examples:") || is_headed(block, "exit codes:")) {
      const std::string title = block.front().substr(0, block.front().size() - 1);
      text +=
          ".SH " + upper(title == "exit codes" ? "exit status" : title) + "\n" + literal(block, 1);
      has_notes = false;
    } else {
      if (options_over && !has_notes) text += ".SH NOTES\n";
      has_notes = options_over;
      if (is_list(block)) {
        text += list(block);
      } else {
        text += ".PP\n";
        for (const std::string& line : block) text += escaped_roff(line) + "\n";
      }
    }
  }
  return text;
}

std::string head_of(const std::string& name, const std::string& sentence) {
  return fmt::format(".TH {} 1 \"\" \"kiln {}\" \"Kiln manual\"\n.SH NAME\n{} \\- {}\n",
                     escaped_roff(upper(name)), version(), escaped_roff(name),
                     escaped_roff(sentence));
}

}  // namespace

std::string escaped_roff(const std::string& text) {
  std::string escaped = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string verb_manual(const Verb& verb) {
  const std::vector<Lines> blocks = blocks_of(verb.help());
  std::string usage = blocks.front().front();
  usage = usage.substr(usage.find(": ") + 2);
  return head_of("kiln-" + verb.name, verb.sentence) + ".SH SYNOPSIS\n.B " + escaped_roff(usage) +
         "\n" + sections_of(blocks, verb) + environment_section(verb) +
         ".SH SEE ALSO\n.BR kiln (1)\n";
}

std::string program_manual() {
  std::string text = head_of("kiln", "optimisation and sampling with many replicas on CPU and GPU");
  text +=
      ".SH SYNOPSIS\n.B kiln\n.I VERB\n[options]\n.SH DESCRIPTION\nEach verb has a separate "
      "page.\n";
  std::string pages;
  for (const Verb& verb : verbs()) {
    text +=
        ".TP\n.B " + escaped_roff("kiln " + verb.usage) + "\n" + escaped_roff(verb.sentence) + "\n";
    pages += (pages.empty() ? "" : " ,\n") + std::string(".BR ") +
             escaped_roff("kiln-" + verb.name) + " (1)";
  }
  std::vector<Lines> blocks = blocks_of(program_help());
  for (const Lines& block : blocks) {
    if (is_headed(block, "exit codes:")) text += ".SH EXIT STATUS\n" + literal(block, 1);
    if (is_headed(block, "examples:")) text += ".SH EXAMPLES\n" + literal(block, 1);
  }
  return text + ".SH SEE ALSO\n" + pages + "\n";
}

}  // namespace kiln::cli
