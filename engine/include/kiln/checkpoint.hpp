// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/export.hpp"

// The state of a run in a file: docs/checkpoint_format.md has the layout. A run that continues from
// it takes the path of a run that was never interrupted, also on another machine and, for problems
// of integers, on another backend.
namespace kiln {

class Run;

/// A checkpoint cannot be read, or is of another run. Nothing was changed. Codes:
/// `checkpoint.damaged` with the byte, `checkpoint.format`, `checkpoint.other_run` with the fields.
class KILN_API CheckpointError : public Error {
 public:
  using Error::Error;
  ~CheckpointError() override;
};

/// Texts that a program keeps in a checkpoint beside the run, by name.
using CheckpointNotes = std::map<std::string, std::string>;

struct CheckpointSize {
  std::uint64_t state_bytes = 0;  ///< of the run
  std::uint64_t file_bytes = 0;   ///< compressed, with checksums
};

/// Writes the state at the end of the last whole tick, piece by piece, whole or not at all. A file
/// of that name becomes previous_of(file); its predecessor goes. Call it between two calls of
/// advance() or in an observer; it does not change the path of the run.
/// @throws IoError as WholeFile does; InvalidArgument (`run.broken`)
KILN_API CheckpointSize write_checkpoint(const std::filesystem::path& file, Run& run,
                                         const CheckpointNotes& notes = {});

/// A checkpoint whose state is taken at once and whose file gets its name later, so that the caller
/// can write other files while a thread writes this one. Without put_in_place() no file is left.
class KILN_API PendingCheckpoint {
 public:
  /// Takes the state as write_checkpoint() does. @throws what write_checkpoint() throws
  PendingCheckpoint(const std::filesystem::path& file, Run& run);
  ~PendingCheckpoint();
  PendingCheckpoint(PendingCheckpoint&&) noexcept;
  PendingCheckpoint& operator=(PendingCheckpoint&&) noexcept;

  /// The last call. @throws IoError as WholeFile does, also of what the thread could not write
  CheckpointSize put_in_place(const CheckpointNotes& notes = {});

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// A checkpoint in a file, whose every byte was checked. It trusts nothing that the file says:
/// sizes are believed as far as the bytes are there.
class KILN_API Checkpoint {
 public:
  /// Reads and checks the whole file. @throws CheckpointError; IoError `io.read`
  explicit Checkpoint(const std::filesystem::path& file);
  ~Checkpoint();
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;

  const std::filesystem::path& file() const noexcept;
  /// What must equal that of a run which continues: problem, schedule, parameters, replicas, seed
  /// and more, name and value, in the order of the file.
  const std::vector<std::pair<std::string, std::string>>& fields() const noexcept;
  /// One of fields(), "" if there is no such field.
  std::string field(const std::string& name) const;
  const CheckpointNotes& notes() const noexcept;
  std::uint64_t steps() const noexcept;  ///< of each replica
  double run_s() const noexcept;         ///< time of the run, over all its calls of advance()

  /// Puts a run that has the same fields into this state; the number of draws may be greater, where
  /// the schedule can make more (ExtendsDraws). Call it between two calls of advance().
  /// @throws CheckpointError `checkpoint.other_run` with the fields that differ; `archive.size` and
  /// others of Run::load(), after which the run is broken
  void restore(Run& run) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The newest of a checkpoint and its predecessor that is whole.
struct FoundCheckpoint {
  Checkpoint checkpoint;
  std::string passed_over;  ///< why the newest one is not it; ""
};
/// @throws CheckpointError, IoError of the newest one if neither is whole; IoError `io.missing` if
/// neither is there
KILN_API FoundCheckpoint find_checkpoint(const std::filesystem::path& file);

}  // namespace kiln
