// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/input_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "kiln/errors.hpp"
#include "kiln/problems/csv.hpp"
#include "kiln/problems/unpacked.hpp"

#include "errors.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t max_line_bytes = std::size_t{1} << 20;
constexpr std::size_t max_text_bytes = std::size_t{1} << 30;

[[noreturn]] void refuse_size(const std::string& name, std::size_t max_bytes) {
  throw ParseError(name, {{0, 0, fmt::format("the file is larger than {} bytes", max_bytes), {}}},
                   1);
}

[[noreturn]] void fail_reading(const std::string& name) {
  throw InputError("input.read", name + ": reading failed");
}

}  // namespace

std::ifstream open_input(const std::string& path, const std::string& expected,
                         const std::string& fix) {
  // Linux opens folders like files, and only fails to read them.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw InputError("input.open", clean(path) + ": this is a folder, not a file", expected,
                     fix.empty() ? "name a file in this folder" : fix);
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  const int reason = errno;
  if (in) return in;
  throw InputError("input.open",
                   fmt::format("{}: cannot be opened: {}", clean(path),
                               reason != 0 ? std::strerror(reason) : "unknown reason"),
                   expected, fix.empty() ? "check the path, relative to the current folder" : fix);
}

std::string read_all(std::istream& in, const std::string& name, std::size_t max_bytes) {
  std::string text;
  std::array<char, 1 << 16> block;
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    if (in.bad()) fail_reading(name);
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > max_bytes) refuse_size(name, max_bytes);
  }
  return text;
}

std::string table_text_of(const std::string& path) {
  std::ifstream file = open_input(path);
  problems::UnpackedStream in(file, clean(path));
  try {
    return problems::csv_text(in, clean(path));
  } catch (const IoError& error) {
    throw InputError("input.read", error.message());
  }
}

LineReader::LineReader(std::istream& in, std::string name)
    : in_(in), name_(std::move(name)), buffer_(max_line_bytes + 1) {}

bool LineReader::next(std::string& line) {
  in_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  if (in_.bad()) fail_reading(name_);
  const auto taken = static_cast<std::size_t>(in_.gcount());
  if (taken == 0) return false;
  ++line_;
  // Without a line feed in it the buffer ends within the line.
  if (in_.fail()) refuse(fmt::format("the line is longer than {} bytes", max_line_bytes));
  bytes_ += taken;
  if (bytes_ > max_text_bytes) refuse_size(name_, max_text_bytes);
  line.assign(buffer_.data(), in_.eof() ? taken : taken - 1);
  if (line.find('\0') != std::string::npos) {
    refuse("the line has a NUL byte; this is not a text file");
  }
  return true;
}

void LineReader::refuse(const std::string& why) const {
  throw ParseError(name_, {{line_, 0, why, {}}}, 1);
}

}  // namespace kiln::cli
