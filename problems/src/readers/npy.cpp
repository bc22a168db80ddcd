// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Arrays that NumPy has saved: a magic word, a version, a header that is a Python dictionary in
// text, then the values.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/problems/readers.hpp"

#include "host_matrix.hpp"
#include "matrix.hpp"
#include "text_reader.hpp"

namespace kiln::problems {
namespace {

using detail::MatrixEntry;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::string_view header_form =
    "a two-dimensional array of numbers, written by numpy.save()";
constexpr std::string_view kinds =
    "float64, float32, an integer of 1, 2, 4 or 8 bytes, or bool; for example Q.astype(float)";
constexpr std::size_t longest_header = 65536;
constexpr std::int64_t max_rows = std::int64_t{1} << 20;
// As text readers take at most.
constexpr std::int64_t max_bytes = std::int64_t{8} << 30;
constexpr std::int64_t values_at_once = 8192;

struct NpyHeader {
  char kind = 0;          ///< f, i, u or b
  std::size_t bytes = 0;  ///< of a value
  bool swapped = false;
  std::int64_t rows = 0, columns = 0;
  bool fortran = false;
};

class NpyReader {
 public:
  /// @param square  whether the array must be a square matrix with at least one row
  NpyReader(std::istream& in, std::string file_name, bool square)
      : in_(in), file_name_(std::move(file_name)), square_(square) {
    std::erase_if(file_name_, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (!in_)
      throw IoError("io.read", file_name_ + ": cannot be read", {},
                    "check the path, relative to the current folder");
  }

  [[noreturn]] void fail(const std::string& message, std::string_view expected) const {
    throw ParseError(file_name_, {{0, 0, message, std::string(expected)}}, 1);
  }

  NpyHeader header();
  /// Hands out the values with row and column, in the order of the file.
  template <class Take>
  void visit(const NpyHeader& header, const Take& take);

 private:
  std::size_t read(void* data, std::size_t bytes) {
    in_.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes));
    if (in_.bad()) throw IoError("io.read", file_name_ + ": reading failed");
    return static_cast<std::size_t>(in_.gcount());
  }
  std::size_t header_length();
  std::string_view value_of(std::string_view dictionary, std::string_view key) const;
  void take_kind(std::string_view text, NpyHeader& header) const;
  void take_shape(std::string_view text, NpyHeader& header) const;
  double value(const char* bytes, const NpyHeader& header) const;
  void require_number(double value, std::int64_t row, std::int64_t column) const;

  std::istream& in_;
  std::string file_name_;
  bool square_;
};

std::size_t NpyReader::header_length() {
  std::array<char, 8> head{};
  const std::size_t n_read = read(head.data(), head.size());
  if (n_read < head.size() || std::string_view(head.data(), magic.size()) != magic) {
    fail("the file does not begin with the magic bytes of a NumPy file", header_form);
  }
  const int version = static_cast<unsigned char>(head[6]);
  if (version < 1 || version > 3) {
    fail("version " + std::to_string(version) + " of the npy format is not supported",
         "version 1, 2 or 3");
  }
  std::array<unsigned char, 4> length{};
  const std::size_t bytes = version == 1 ? 2 : 4;
  if (read(length.data(), bytes) < bytes) fail("the file ends within the header", header_form);
  const std::size_t size = length[0] + (std::size_t{length[1]} << 8) +
                           (std::size_t{length[2]} << 16) + (std::size_t{length[3]} << 24);
  if (size <= longest_header) return size;
  fail("the header has " + std::to_string(size) + " bytes",
       "at most " + std::to_string(longest_header));
}

// What stands behind 'key': up to the next comma that is not within brackets, or the brace.
std::string_view NpyReader::value_of(std::string_view dictionary, std::string_view key) const {
  const std::size_t at = dictionary.find("'" + std::string(key) + "'");
  const std::size_t colon = dictionary.find(':', std::min(at, dictionary.size()));
  if (at == std::string_view::npos || colon == std::string_view::npos) {
    fail("the header has no key '" + std::string(key) + "'", header_form);
  }
  std::string_view rest = dictionary.substr(colon + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const bool listed = rest.starts_with('(') || rest.starts_with('[');
  const std::size_t end = rest.find_first_of(listed ? ")]" : ",}");
  if (end == std::string_view::npos) fail("the header is incomplete", header_form);
  return rest.substr(0, listed ? end + 1 : end);
}

void NpyReader::take_kind(std::string_view text, NpyHeader& header) const {
  const bool quoted = text.size() == 5 && text.front() == '\'' && text.back() == '\'';
  const std::string_view name = quoted ? text.substr(1, 3) : std::string_view{};
  constexpr std::array<std::string_view, 11> known{"f8", "f4", "i1", "i2", "i4", "i8",
                                                   "u1", "u2", "u4", "u8", "b1"};
  const bool order = quoted && std::string_view("<>|=").find(name[0]) != std::string_view::npos;
  if (!order || std::ranges::find(known, name.substr(1)) == known.end()) {
    fail("values of type " + detail::printable(text) + " are not supported", kinds);
  }
  header.kind = name[1];
  header.bytes = static_cast<std::size_t>(name[2] - '0');
  const bool little = std::endian::native == std::endian::little;
  header.swapped = header.bytes > 1 && (name[0] == '>' ? little : name[0] == '<' && !little);
}

void NpyReader::take_shape(std::string_view text, NpyHeader& header) const {
  std::vector<std::int64_t> sizes;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data() + 1; at < end;) {
    std::int64_t size = 0;
    const auto [stop, error] = std::from_chars(at, end, size);
    if (error == std::errc() && size >= 0) sizes.push_back(size);
    const bool separator = *at == ' ' || *at == ',' || *at == ')';
    if (error != std::errc() && !separator) sizes = std::vector<std::int64_t>(3);  // no shape
    at = error == std::errc() ? stop : at + 1;
  }
  if (!text.starts_with('(') || sizes.size() != 2) {
    fail("the array has the shape " + detail::printable(text),
         square_ ? detail::matrix_form : header_form);
  }
  header.rows = sizes[0];
  header.columns = sizes[1];
  if (square_ && (header.rows != header.columns || header.rows == 0)) {
    fail("the array has " + std::to_string(header.rows) + " rows and " +
             std::to_string(header.columns) + " columns",
         detail::matrix_form);
  }
  if (std::max(header.rows, header.columns) > (square_ ? max_rows : max_bytes)) {
    fail("the array has " + std::to_string(header.rows) + " rows",
         "at most " + std::to_string(max_rows));
  }
  const std::int64_t max_values = max_bytes / static_cast<std::int64_t>(header.bytes);
  if (header.columns > 0 && header.rows > max_values / header.columns) {
    fail("the array has " + std::to_string(header.rows) + " x " + std::to_string(header.columns) +
             " values of " + std::to_string(header.bytes) + " bytes",
         "at most 8 GiB of values");
  }
}

NpyHeader NpyReader::header() {
  std::string text(header_length(), '\0');
  if (read(text.data(), text.size()) < text.size()) {
    fail("the file ends within the header", header_form);
  }
  NpyHeader header;
  take_kind(value_of(text, "descr"), header);
  const std::string_view order = value_of(text, "fortran_order");
  if (order != "True" && order != "False") {
    fail("fortran_order is " + detail::printable(order), "True or False");
  }
  header.fortran = order == "True";
  take_shape(value_of(text, "shape"), header);
  return header;
}

template <class T>
double as_number(const char* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
    // Beyond this a double would hold another number.
    constexpr auto exact = T{1} << 53;
    const bool below = std::is_signed_v<T> && value < T{0} - exact;
    if (value > exact || below) return std::nan("");
  }
  return static_cast<double>(value);
}

double NpyReader::value(const char* bytes, const NpyHeader& header) const {
  std::array<char, 8> in_order{};
  std::copy_n(bytes, header.bytes, in_order.begin());
  if (header.swapped)
    std::reverse(in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(header.bytes));
  const char* const at = in_order.data();
  if (header.kind == 'f') return header.bytes == 8 ? as_number<double>(at) : as_number<float>(at);
  const bool is_signed = header.kind == 'i';
  switch (header.bytes) {
    case 1:
      return is_signed ? as_number<std::int8_t>(at) : as_number<std::uint8_t>(at);
    case 2:
      return is_signed ? as_number<std::int16_t>(at) : as_number<std::uint16_t>(at);
    case 4:
      return is_signed ? as_number<std::int32_t>(at) : as_number<std::uint32_t>(at);
    default:
      return is_signed ? as_number<std::int64_t>(at) : as_number<std::uint64_t>(at);
  }
}

void NpyReader::require_number(double value, std::int64_t row, std::int64_t column) const {
  if (std::isfinite(value)) return;
  fail("the value in row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1) +
           " is not finite, or is an integer beyond 2^53",
       "finite numbers that a double represents exactly");
}

template <class Take>
void NpyReader::visit(const NpyHeader& header, const Take& take) {
  const std::int64_t total = header.rows * header.columns;
  const std::int64_t line = header.fortran ? header.rows : header.columns;
  std::vector<char> block;
  for (std::int64_t done = 0; done < total;) {
    const std::int64_t now = std::min(values_at_once, total - done);
    block.resize(static_cast<std::size_t>(now) * header.bytes);
    const std::size_t n_read = read(block.data(), block.size());
    if (n_read < block.size()) {
      fail("the file ends after " +
               std::to_string(done + static_cast<std::int64_t>(n_read / header.bytes)) + " of " +
               std::to_string(total) + " values",
           header_form);
    }
    for (std::int64_t i = 0; i < now; ++i) {
      std::int64_t row = (done + i) / line, column = (done + i) % line;
      if (header.fortran) std::swap(row, column);
      const double number =
          value(block.data() + static_cast<std::size_t>(i) * header.bytes, header);
      require_number(number, row, column);
      take(row, column, number);
    }
    done += now;
  }
  char more = 0;
  if (read(&more, 1) == 1) fail("the file has bytes after the last value", header_form);
}

}  // namespace

std::variant<Ising, Qubo> read_npy(std::istream& in, const std::string& file_name,
                                   ReadReport* report, const ReaderOptions& options) {
  NpyReader reader(in, file_name, true);
  const NpyHeader header = reader.header();
  std::vector<MatrixEntry> entries;
  reader.visit(header, [&](std::int64_t row, std::int64_t column, double value) {
    if (value == 0) return;
    entries.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), value});
  });
  auto model = detail::model_of_matrix(header.rows, std::move(entries), options,
                                       [&](const std::string& message, std::string_view expected) {
                                         reader.fail(message, expected);
                                       });
  if (report != nullptr) *report = detail::report_of_matrix(options);
  return model;
}

HostMatrix detail::read_npy_matrix(std::istream& in, const std::string& file_name) {
  NpyReader reader(in, file_name, false);
  const NpyHeader header = reader.header();
  HostMatrix matrix{header.rows, header.columns, {}};
  if (!header.fortran) {  // the file may be shorter than its header says
    reader.visit(header, [&](std::int64_t, std::int64_t, double value) {
      detail::make_room(matrix.values, header.rows * header.columns);
      matrix.values.push_back(value);
    });
    return matrix;
  }
  std::vector<double> by_columns;
  reader.visit(header, [&](std::int64_t, std::int64_t, double value) {
    detail::make_room(by_columns, header.rows * header.columns);
    by_columns.push_back(value);
  });
  matrix.values.resize(by_columns.size());
  for (std::int64_t c = 0; c < header.columns; ++c) {
    for (std::int64_t r = 0; r < header.rows; ++r) {
      matrix.values[static_cast<std::size_t>(r * header.columns + c)] =
          by_columns[static_cast<std::size_t>(c * header.rows + r)];
    }
  }
  return matrix;
}

}  // namespace kiln::problems
