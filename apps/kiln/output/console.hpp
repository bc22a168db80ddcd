// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln::cli {

/// Results for programs, byte for byte: standard output.
void print_result(std::string_view text);

/// Results for people: standard output, broken into lines that fit where it is a terminal.
void print_text(std::string_view text);

/// Everything else: standard error, in the same way. A closed or full standard error never fails a
/// run.
void print_note(std::string_view text);

/// The same byte for byte.
void print_row(std::string_view text);

/// How many characters a line on standard error may have; 80 if it is no terminal that says so.
std::size_t note_columns();

/// How many of them are for prose beside a label of 13 characters: the last column stays free.
std::size_t prose_columns();

/// How many print_text() gives a line on standard output: one column of the terminal stays free; 79
/// if it is no terminal that says so.
std::size_t result_columns();

/// Whether standard output is a terminal, where no line may be wider.
bool results_are_seen();

/// Prose for print_text(), with a line feed at its end. It is kept as one line and broken here,
/// once: what was broken for one width looks ragged on a screen of another.
std::string paragraph(std::string_view sentences);

/// Makes sure that what print_result() got has arrived. Gives false if nobody reads standard output
/// any more. @throws IoError where it cannot be written for another reason.
bool flush_results();

/// Whether standard output is no pipe, or one that somebody reads.
bool results_have_reader();

/// Whether both outputs are pipes, or the like, that nobody reads any more.
bool nobody_listens();

}  // namespace kiln::cli
