// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problems/graph.hpp"
#include "kiln/problems/ising.hpp"
#include "kiln/problems/model.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/problems/qubo.hpp"

namespace kiln {

/// Remarks of a reader on a text that it accepted.
struct ReadReport {
  std::int64_t duplicates_merged = 0;  ///< lines whose coefficient was added to an earlier one
  std::vector<std::string> notes;      ///< one sentence each, for the user
};

/// A file format of a problem, by its name: `kiln list formats`. The set is open: a family of
/// models adds its formats. Text and name live as long as the program.
struct Format {
  std::string_view name;
  friend bool operator==(const Format&, const Format&) = default;

  // The formats of the readers below.
  static const Format rudy, qubo, coo, potts, col, dense, npy;
};
inline constexpr Format Format::rudy{"rudy"};
inline constexpr Format Format::qubo{"qubo"};
inline constexpr Format Format::coo{"coo"};
inline constexpr Format Format::potts{"pottsmodel"};
inline constexpr Format Format::col{"col"};
inline constexpr Format Format::dense{"dense"};
inline constexpr Format Format::npy{"npy"};

/// The values of the variables of a quadratic function: -1 and +1, or 0 and 1.
enum class VarType { spin, binary };

/// User input for formats that do not state everything.
struct ReaderOptions {
  /// For COO files without a vartype line; for matrices, whose default is bits.
  std::optional<VarType> vartype;
  std::int32_t colors = 0;  ///< for the col format, whose files hold a graph alone
};

/// Name and detection of a format.
struct FormatInfo {
  Format format;
  std::string name;                   ///< that of the format, as in `--format rudy`
  std::vector<std::string> suffixes;  ///< with the dot, in lower case
  std::string description;            ///< one sentence
  std::vector<std::string> grammar;   ///< "file = header edge*", a rule per line
  std::string example;                ///< a small text that is read
  std::int32_t first_number = 0;      ///< of its variables: 0 or 1
};

namespace problems {

// Common to all readers. Accepted: blanks and tabs in any number, blank lines, CR LF, a missing
// last line feed, a UTF-8 byte-order mark, real coefficients with or without exponent, a plus sign.
// Refused: all other text, in particular numbers with trailing characters, NaN, infinity, UTF-16,
// NUL bytes, compressed texts (which UnpackedStream decompresses), lines over 1 MiB, texts over 8
// GiB, and counts that do not match the header. Memory grows with the amount of text read, never
// with the counts in a header. Errors: ParseError with file, line and column (in bytes, from 1) of
// up to five issues and the total; IoError `io.read` if the stream fails. No part of a problem is
// ever returned. `file_name` is only for messages. The report, if given, is overwritten on success.

/// Reads the rudy or G-set format: a line `n m`, then m lines `i j weight`, vertices 1 .. n in
/// either order, a missing weight means 1. Repeated edges are added up and reported; self-loops are
/// errors.
///
/// @return the graph in canonical form, 0-based.
KILN_API Graph read_rudy(std::istream& in, const std::string& file_name,
                         ReadReport* report = nullptr);

/// Reads the .qubo format of qbsolv: `c` comments, `p qubo 0 n n_diagonal n_couplings`, then that
/// many lines `i i value` and `i j value` with i < j, 0-based. The value of a coupling is the whole
/// coefficient of x_i x_j. Variables without a line are legal, but a file must have a line for
/// every 64 variables beyond 2^20. The format does not state the sense.
///
/// @return the function in canonical form, offset 0.
/// @par Source  README of dwavesystems/qbsolv.
KILN_API Qubo read_qubo(std::istream& in, const std::string& file_name,
                        ReadReport* report = nullptr);

/// Reads the COO format of dimod and others: lines `i j value`, 0-based and without header, `#`
/// comments. A comment `# vartype=SPIN` or `# vartype=BINARY` before the first term, or else
/// `options`, states the kind of the variables; it is never guessed. `i i value` is a field or a
/// linear coefficient; an entry below the diagonal is added to its mirror image. The number of
/// variables is the largest index plus one; a file must have a line for every 64 of them beyond
/// 2^20.
///
/// @return the model in canonical form, offset 0: an Ising model for spins, else a QUBO.
KILN_API std::variant<Ising, Qubo> read_coo(std::istream& in, const std::string& file_name,
                                            ReadReport* report = nullptr,
                                            const ReaderOptions& options = {});

/// Reads the pottsmodel format: `c` comments, `p potts n q n_fields n_couplings`, then that many
/// lines `h i value amount` and `i j J` with i and j different, 0-based. Repeated terms are added
/// up and reported.
///
/// @return the model in canonical form.
KILN_API Potts read_potts(std::istream& in, const std::string& file_name,
                          ReadReport* report = nullptr);

/// Reads the DIMACS .col format: `c` comments, `p edge n m` (or `edges`, `col`), lines `e u v`,
/// vertices 1 .. n; `n` lines are skipped. Public files list edges in both directions, hold
/// self-loops and count lines instead of edges. So repeated edges and self-loops are left out and m
/// is a hint; the report mentions it.
///
/// @return the graph in canonical form with weights 1, and the colours of `options`.
/// @par Source  DIMACS, Clique and Coloring Problems: Graph Format, 1993.
KILN_API Coloring read_col(std::istream& in, const std::string& file_name,
                           ReadReport* report = nullptr, const ReaderOptions& options = {});

/// Reads a matrix Q in text: a row per line, values separated by blanks, tabs, commas or
/// semicolons; lines that begin with `#` are comments. The function is x'Qx, so that x_i x_j has
/// the coefficient Q_ij + Q_ji; for a symmetric matrix that is twice Q_ij. Q is square, and
/// symmetric or triangular; other matrices are errors.
///
/// @return a QUBO in canonical form, or, if `options` asks for spins, an Ising model; its diagonal
///   must be 0, because it could mean fields or a constant.
KILN_API std::variant<Ising, Qubo> read_dense(std::istream& in, const std::string& file_name,
                                              ReadReport* report = nullptr,
                                              const ReaderOptions& options = {});

/// Reads a matrix that NumPy has saved: versions 1 to 3, two axes, of float64, float32, integers of
/// 1 to 8 bytes, or bool, in either byte order, C or Fortran. Integers beyond 2^53 are errors.
/// @par Source  numpy.lib.format, NEP 1.
KILN_API std::variant<Ising, Qubo> read_npy(std::istream& in, const std::string& file_name,
                                            ReadReport* report = nullptr,
                                            const ReaderOptions& options = {});

/// Reads a model in the given format. Only COO, col and matrices use `options`.
///
/// @throws InvalidArgument `problem.format` for an unknown format, and as the readers do.
KILN_API Model read_model(Format format, std::istream& in, const std::string& file_name,
                          ReadReport* report = nullptr, const ReaderOptions& options = {});

/// Writes a graph so that read_rudy() reads back an equal one. The format has no comments.
///
/// @throws InvalidArgument `problem.not_canonical`; IoError `io.write` if the stream fails.
KILN_API void write_rudy(std::ostream& out, const Graph& graph);

/// Writes a function so that read_qubo() reads back an equal one.
///
/// @param out  receives the text
/// @param qubo  in canonical form
/// @param comments  lines for the head of the file; control characters in them become blanks.
/// @throws InvalidArgument `problem.not_canonical`; `problem.offset` if there is an offset, for
///   which the format has no place; IoError `io.write` if the stream fails.
KILN_API void write_qubo(std::ostream& out, const Qubo& qubo,
                         const std::vector<std::string>& comments = {});

/// Writes a model so that read_coo() reads back an equal one, with its vartype in the first line.
///
/// @param out  receives the text
/// @param ising  in canonical form
/// @param comments  lines below the first one; control characters in them become blanks.
/// @throws InvalidArgument `problem.not_canonical`; `problem.offset` if there is an offset and
///   `problem.size` if there are no variables, for which the format has no place; IoError
///   `io.write` if the stream fails.
KILN_API void write_coo(std::ostream& out, const Ising& ising,
                        const std::vector<std::string>& comments = {});
KILN_API void write_coo(std::ostream& out, const Qubo& qubo,
                        const std::vector<std::string>& comments = {});

/// Writes a model so that read_potts() reads back an equal one.
/// @throws InvalidArgument `problem.not_canonical`; IoError `io.write` if the stream fails.
KILN_API void write_potts(std::ostream& out, const Potts& potts,
                          const std::vector<std::string>& comments = {});

/// Writes a graph so that read_col() reads back an equal one. The format cannot hold the number of
/// colours.
/// @throws InvalidArgument `problem.not_canonical`; IoError `io.write` if the stream fails.
KILN_API void write_col(std::ostream& out, const Coloring& coloring,
                        const std::vector<std::string>& comments = {});

/// The formats that can hold a model, the native one first: rudy for graphs, qubo and coo for QUBO
/// functions, coo for Ising models, pottsmodel for Potts models, col for colourings.
KILN_API std::vector<Format> formats_of(const Model& model);

/// The first of formats_of(): the format of written models unless the user names another.
KILN_API Format native_format(const Model& model);

/// Writes a model in a format that can hold it. Comments are left out where the format has none.
///
/// @throws InvalidArgument `problem.format` for any other pair, and as the writers do.
KILN_API void write_model(std::ostream& out, const Model& model, Format format,
                          const std::vector<std::string>& comments = {});

/// Models of one kind, and the formats in which they are written.
struct WrittenKind {
  std::string models;           ///< "graphs"
  std::vector<Format> formats;  ///< the native one first
};

/// All kinds of models that Kiln writes.
KILN_API const std::vector<WrittenKind>& written_kinds();

/// The format with exactly this name, nothing if there is none.
KILN_API std::optional<Format> format_by_name(std::string_view name);

/// All formats that Kiln reads.
KILN_API const std::vector<FormatInfo>& formats();

/// The number of the first variable in texts of a format, 0 or 1.
/// @throws InvalidArgument `problem.format` for an unknown format.
KILN_API std::int32_t first_number_of(Format format);

/// Detects the format of a text: by its name if the suffix is known (letter case and a further
/// `.gz`, `.xz` or `.zst` do not matter), else by the first line of `first_bytes` that is neither
/// blank nor a `c` comment.
///
/// A first line of numbers that is not the header of a graph belongs to a matrix. Formats are tried
/// in the order of formats(), so a new one takes no text that another recognises.
///
/// @param path_or_name  only its suffix counts
/// @param first_bytes  the beginning of the text, unpacked; some thousand bytes suffice.
/// @throws ParseError that lists the known formats if neither decides; its fix covers tables, tours
///   and clauses, which are not such models.
KILN_API Format detect_format(const std::string& path_or_name, std::string_view first_bytes);

}  // namespace problems
}  // namespace kiln
