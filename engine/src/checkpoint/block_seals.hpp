// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "kiln/files/whole_file.hpp"

namespace kiln {

/// Compresses the blocks of a checkpoint, adds their checksums and writes them, in the order in
/// which they come. From the fifth block on it does so in a thread of its own; small checkpoints
/// and systems that have no more threads do without.
class BlockSeals {
 public:
  /// The file must outlive it.
  explicit BlockSeals(WholeFile& file);
  /// What waits is not written.
  ~BlockSeals();
  BlockSeals(const BlockSeals&) = delete;
  BlockSeals& operator=(const BlockSeals&) = delete;

  /// Bytes that stand in the file as they are. @throws what writing before has thrown
  void add_plain(std::vector<std::byte> bytes);
  /// Takes the raw bytes of a block, and leaves an empty vector with its room.
  void add_block(std::vector<std::byte>& raw);
  /// Waits until all is written. @throws what writing has thrown
  void drain();

  /// After drain(): XXH3 of all bytes of the file so far, and their number.
  std::uint64_t digest() const noexcept;
  std::uint64_t file_bytes() const noexcept;

 private:
  struct Item {
    std::vector<std::byte> bytes;
    bool is_block = false;
  };
  struct Codec;
  void add(Item item);
  void start_thread() noexcept;
  void work();
  void take(const Item& item);
  void seal(const std::vector<std::byte>& raw);
  bool shrinks_in_part(const std::vector<std::byte>& raw);
  void put(const void* data, std::size_t bytes);
  void flush();
  void give_room(Item& item) noexcept;

  WholeFile& file_;
  std::unique_ptr<Codec> codec_;
  std::uint64_t blocks_ = 0;  // that came

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::deque<Item> waiting_;
  std::vector<std::vector<std::byte>> room_;  // of blocks that are written; never grows
  bool busy_ = false, ends_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace kiln
