// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "study/study.hpp"

// The journal of a study: a line for each thing that happened, in order. A line is a sum of
// 16 hexadecimal digits, a blank and a JSON object; the sum is that of the sum before it and of the
// object, so that no line can be changed, left out or moved unseen.
namespace kiln::cli {

inline constexpr const char* journal_name = "journal";
inline constexpr const char* state_name = "search.state";

/// 16 hexadecimal digits of the SHA-256 of both texts.
std::string sum_of(std::string_view before, std::string_view text);

/// Reads whole lines; a journal that is not there is empty. @throws ParseError, InputError
StudyRecord read_journal(const std::filesystem::path& file, const Problem& problem);

/// The line of an event, with its line feed, which is added to the record. Points that it asks for
/// are in the record.
std::string journal_line(StudyRecord& record, const StudyEvent& event);

}  // namespace kiln::cli
