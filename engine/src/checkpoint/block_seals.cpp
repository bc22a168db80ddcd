// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#define XXH_INLINE_ALL
#include "checkpoint/block_seals.hpp"

#include <xxhash.h>
#include <zstd.h>

#include <new>
#include <system_error>
#include <utility>

#include "checkpoint/checkpoint_format.hpp"

namespace kiln {
namespace {

namespace format = checkpoint_format;

// Fast rather than small: a run waits for it. Counts, energies and lists shrink at any level.
constexpr int compression_level = 1;
// States of spins and draws of reals are nearly noise, and zstd takes longer to find that out than
// a disk takes for the block. So a part of a large block is tried first.
constexpr std::size_t part_bytes = std::size_t{8} << 10;
constexpr std::size_t large_bytes = 4 * part_bytes;
constexpr std::uint64_t blocks_without_thread = 4;
constexpr std::size_t most_waiting = 64, most_room = 8;
constexpr std::size_t small_bytes = std::size_t{64} << 10;  // worth no call of the system

// By half at least: zstd takes 3 ms for a block of noise that shrinks by a third, a disk 1 ms.
bool shrinks(std::size_t size, std::size_t raw) {
  return ZSTD_isError(size) == 0 && size <= raw / 2;
}

}  // namespace

struct BlockSeals::Codec {
  struct EndContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, EndContext> context{ZSTD_createCCtx()};
  std::vector<std::byte> compressed;  // room for a block
  std::vector<std::byte> unwritten;   // small pieces
  std::uint64_t blocks = 0, file_bytes = 0;
  XXH3_state_t digest;  // of all bytes of the file so far

  std::size_t compress(const std::byte* raw, std::size_t bytes) {
    return ZSTD_compressCCtx(context.get(), compressed.data(), compressed.size(), raw, bytes,
                             compression_level);
  }
};

BlockSeals::BlockSeals(WholeFile& file) : file_(file), codec_(std::make_unique<Codec>()) {
  if (!codec_->context) throw std::bad_alloc();
  codec_->unwritten.reserve(small_bytes);
  codec_->compressed.resize(ZSTD_compressBound(format::block_bytes));
  XXH3_64bits_reset(&codec_->digest);
  room_.reserve(most_room);
}

BlockSeals::~BlockSeals() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    waiting_.clear();
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BlockSeals::add_plain(std::vector<std::byte> bytes) { add({std::move(bytes), false}); }

void BlockSeals::add_block(std::vector<std::byte>& raw) {
  if (blocks_++ == blocks_without_thread) start_thread();
  add({std::exchange(raw, {}), true});
  std::unique_lock lock(mutex_);
  if (room_.empty()) {
    try {
      return raw.reserve(format::block_bytes);
    } catch (const std::bad_alloc&) {
      // Where memory is short the blocks that wait have room, once they are written.
      changed_.wait(lock, [&] { return !room_.empty() || (waiting_.empty() && !busy_); });
      if (room_.empty()) throw;
    }
  }
  raw = std::move(room_.back());
  room_.pop_back();
  raw.clear();
}

void BlockSeals::add(Item item) {
  if (!thread_.joinable()) {
    take(item);
    give_room(item);
    return;
  }
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() < most_waiting || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    waiting_.push_back(std::move(item));
  }
  changed_.notify_all();
}

void BlockSeals::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return (waiting_.empty() && !busy_) || failure_; });
  if (failure_) std::rethrow_exception(failure_);
  flush();  // the thread, if any, has nothing to do
}

void BlockSeals::start_thread() noexcept {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    // The caller writes, as it did until here.
  }
}

void BlockSeals::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !waiting_.empty() || ends_; });
    if (ends_) return;
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      take(item);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    busy_ = false;
    if (failure) {
      failure_ = failure;
      waiting_.clear();
    } else {
      give_room(item);
    }
    changed_.notify_all();
    if (failure) return;
  }
}

void BlockSeals::give_room(Item& item) noexcept {
  if (item.is_block && room_.size() < most_room) room_.push_back(std::move(item.bytes));
}

void BlockSeals::take(const Item& item) {
  if (item.is_block) return seal(item.bytes);
  put(item.bytes.data(), item.bytes.size());
}

void BlockSeals::seal(const std::vector<std::byte>& raw) {
  Codec& c = *codec_;
  const bool worth_it = raw.size() < large_bytes || shrinks_in_part(raw);
  const std::size_t size = worth_it ? c.compress(raw.data(), raw.size()) : raw.size();
  // What does not shrink is stored as it is, which its size tells.
  const bool smaller = ZSTD_isError(size) == 0 && size < raw.size();
  const std::vector<std::byte>& stored = smaller ? c.compressed : raw;
  const std::uint32_t sizes[2] = {static_cast<std::uint32_t>(raw.size()),
                                  static_cast<std::uint32_t>(smaller ? size : raw.size())};
  // The number of the block is part of its sum: blocks that change places are noticed at once.
  const std::uint64_t sum = XXH3_64bits_withSeed(stored.data(), sizes[1], c.blocks++);
  put(&format::block_tag, 1);
  put(sizes, sizeof sizes);
  put(&sum, sizeof sum);
  put(stored.data(), sizes[1]);
}

bool BlockSeals::shrinks_in_part(const std::vector<std::byte>& raw) {
  const std::byte* const middle = raw.data() + (raw.size() - part_bytes) / 2;
  return shrinks(codec_->compress(middle, part_bytes), part_bytes);
}

void BlockSeals::flush() {
  std::vector<std::byte>& some = codec_->unwritten;
  if (!some.empty()) file_.write(some.data(), some.size());
  some.clear();
}

void BlockSeals::put(const void* data, std::size_t bytes) {
  std::vector<std::byte>& some = codec_->unwritten;
  if (some.size() + bytes > small_bytes) flush();
  if (bytes < small_bytes) {
    const auto* const from = static_cast<const std::byte*>(data);
    some.insert(some.end(), from, from + bytes);
  } else {
    file_.write(data, bytes);
  }
  XXH3_64bits_update(&codec_->digest, data, bytes);
  codec_->file_bytes += bytes;
}

std::uint64_t BlockSeals::digest() const noexcept { return XXH3_64bits_digest(&codec_->digest); }
std::uint64_t BlockSeals::file_bytes() const noexcept { return codec_->file_bytes; }

}  // namespace kiln
