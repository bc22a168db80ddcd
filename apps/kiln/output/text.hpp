// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/problem.hpp"

namespace kiln::cli {

/// The text with everything replaced by '?' that could steer a terminal or break a document:
/// control characters, marks that turn the direction of writing, bytes that are no UTF-8. For
/// whatever comes from files, arguments and the environment.
std::string clean(std::string_view text);
/// Whether clean() leaves it as it is.
bool is_clean(std::string_view text);

/// The same line by line: line feeds stay.
std::string clean_lines(std::string_view text);

/// The text with every byte that clean() replaces as \xNN, and then its backslashes doubled: for
/// files that are read again. Texts that differ stay so; those that need nothing are as they were.
std::string escaped(std::string_view text);

/// Whether a text is this name: as it is, as escaped() writes it into files, or as clean() shows
/// it.
bool is_name(std::string_view name, std::string_view text);

/// What escaped() made this of, for texts of which it changed something; nothing where it makes no
/// such text.
std::optional<std::string> unescaped(std::string_view text);

/// Whether the text is UTF-8, control characters included.
bool is_utf8(std::string_view text);

/// The whole text as a number, NaN and infinities included; nothing where it is none.
std::optional<double> number_in(std::string_view text);

/// Lines of more than `most` bytes lose their middle: what is wrong stands at both ends of a
/// message, and what it quotes between them. At least 100.
std::string shortened_lines(std::string_view text, std::size_t most);

/// 520, 2.9k, 12.9k, 1.3M: three digits are enough for a table.
std::string human_count(double value);

/// The same, with three digits below a hundred: 0.0095, 20, 619.0M.
std::string human_rate(double value);

/// 0.2s, 29.8s, 2m05s, 1h02m.
std::string human_seconds(double seconds);

/// 512 B, 1.5 KiB, 22.4 GiB.
std::string human_bytes(std::uint64_t bytes);

/// Integers for integral problems, else up to ten digits.
std::string human_value(double value, bool integral);

/// Breaks a sentence into lines of at most `width` characters, at blanks.
std::vector<std::string> wrap(std::string_view sentence, std::size_t width);

/// Text for a screen: lines of more than `columns` characters are broken, between parts (two blanks
/// or more) where that fills half a line, else between words. What follows stands below the second
/// part of its line if that begins in the left half, else two further in. Longer words stay whole,
/// and so does a number with its binary unit.
std::string fitted(std::string_view text, std::size_t columns);

/// "minimise" or "maximise"; "minimised" or "maximised".
const char* verb_of(Sense) noexcept;
const char* participle_of(Sense) noexcept;

/// Rows as a table: each column as wide as its widest cell, three blanks between them.
/// @param first_number  from this column on cells stand right; as a default nowhere.
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       std::size_t first_number = static_cast<std::size_t>(-1));

/// "; the nearest is 'x'", or nothing if no candidate is near.
std::string nearest_hint(std::string_view word, const std::vector<std::string>& candidates,
                         std::string_view prefix = {});

}  // namespace kiln::cli
