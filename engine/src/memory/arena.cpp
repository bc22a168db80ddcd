// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/memory/arena.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "kiln/errors.hpp"
#include "kiln/memory/memory_account.hpp"

namespace kiln {
namespace {

// Where no plan says what is to come: a slab for the small arrays of a queue.
constexpr std::size_t smallest_slab = std::size_t{256} << 10;

[[noreturn]] void refuse_habit(std::string_view word) {
  throw InvalidArgument("device.memory",
                        "KILN_MEMORY has the word '" + std::string(word) + "', which is none",
                        "direct, or fill= and a byte: fill=0xa5");
}

unsigned char parse_byte(std::string_view word, std::string_view digits) {
  unsigned value = 256;
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, hex ? 16 : 10);
  if (error != std::errc() || stop != end || value > 255) refuse_habit(word);
  return static_cast<unsigned char>(value);
}

}  // namespace

MemorySource::~MemorySource() = default;

ArenaHabits ArenaHabits::from_environment() {
  ArenaHabits habits;
#ifdef __SANITIZE_ADDRESS__
  habits.direct = true;
#endif
  const char* const set = std::getenv("KILN_MEMORY");
  std::string_view rest = set == nullptr ? "" : set;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (word == "direct") {
      habits.direct = true;
    } else if (word.starts_with("fill=")) {
      habits.fill = parse_byte(word, word.substr(5));
    } else {
      refuse_habit(word);
    }
  }
  return habits;
}

Arena::Arena(std::unique_ptr<MemorySource> source, const ArenaHabits& habits)
    : source_(std::move(source)), habits_(habits) {}

Arena::~Arena() {
  for (const Slab& slab : slabs_) source_->give(slab.begin, slab.bytes);
}

bool Arena::Piece::before(const std::byte* at) const noexcept {
  return std::less<const std::byte*>()(begin, at);
}

void Arena::add_slab(std::size_t bytes) {
  slabs_.reserve(slabs_.size() + 1);
  free_.reserve(live_ + slabs_.size() + 1);
  auto* const begin = static_cast<std::byte*>(source_->take(bytes));
  ++driver_calls_;
  reserved_ += bytes;
  const auto place = [&](auto& pieces) {
    return std::ranges::partition_point(pieces, [&](const Piece& p) { return p.before(begin); });
  };
  slabs_.insert(place(slabs_), Slab{{begin, bytes}, begin});
  free_.insert(place(free_), Piece{begin, bytes});
}

void Arena::reserve(std::size_t bytes) {
  if (habits_.direct) return;
  const std::size_t whole = device_lines(bytes);
  if (whole == 0 || state().largest_free_bytes >= whole) return;
  trim();  // one large slab instead of several that are too small
  add_slab(whole);
}

// As many free pieces as arrays and slabs can be there: taking back then needs no memory.
void* Arena::carve(std::size_t bytes) {
  const auto piece = std::ranges::find_if(free_, [&](const Piece& p) { return p.bytes >= bytes; });
  if (piece == free_.end()) return nullptr;
  std::byte* const begin = piece->begin;
  Slab& slab = slab_of(begin);
  slab.touched = std::max(slab.touched, begin + bytes);
  piece->begin += bytes;
  piece->bytes -= bytes;
  if (piece->bytes == 0) free_.erase(piece);
  return begin;
}

void* Arena::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  const std::size_t whole = device_lines(bytes);
  void* memory = nullptr;
  if (habits_.direct) {
    memory = source_->take(bytes);
    ++driver_calls_;
    reserved_ += whole;
  } else {
    free_.reserve(live_ + slabs_.size() + 1);
    memory = carve(whole);
    if (memory == nullptr) {
      trim();
      add_slab(std::max(whole, smallest_slab));
      memory = carve(whole);
    }
  }
  ++live_;
  used_ += whole;
  if (habits_.fill) source_->fill(memory, bytes, *habits_.fill);
  return memory;
}

Arena::Slab& Arena::slab_of(const std::byte* at) noexcept {
  const auto above = std::ranges::partition_point(
      slabs_, [&](const Slab& slab) { return slab.begin == at || slab.before(at); });
  return *(above - 1);
}

void Arena::put_back(const Piece& piece) noexcept {
  const Slab& slab = slab_of(piece.begin);
  auto after =
      std::ranges::partition_point(free_, [&](const Piece& p) { return p.before(piece.begin); });
  const bool joins_before =
      after != free_.begin() && (after - 1)->end() == piece.begin && piece.begin != slab.begin;
  const bool joins_after =
      after != free_.end() && after->begin == piece.end() && piece.end() != slab.end();
  if (joins_before) {
    (after - 1)->bytes += piece.bytes + (joins_after ? after->bytes : 0);
    if (joins_after) free_.erase(after);
  } else if (joins_after) {
    *after = {piece.begin, piece.bytes + after->bytes};
  } else {
    free_.insert(after, piece);  // within its capacity
  }
}

void Arena::deallocate(void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr) return;
  const std::size_t whole = device_lines(bytes);
  used_ -= whole;
  --live_;
  if (habits_.direct) {
    reserved_ -= whole;
    return source_->give(memory, bytes);
  }
  put_back({static_cast<std::byte*>(memory), whole});
}

void Arena::trim() noexcept {
  std::erase_if(slabs_, [&](const Slab& slab) {
    const auto free = std::ranges::find_if(
        free_, [&](const Piece& p) { return p.begin == slab.begin && p.bytes == slab.bytes; });
    if (free == free_.end()) return false;
    free_.erase(free);
    reserved_ -= slab.bytes;
    source_->give(slab.begin, slab.bytes);
    return true;
  });
}

std::uint64_t Arena::touched_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const Slab& slab : slabs_) bytes += static_cast<std::uint64_t>(slab.touched - slab.begin);
  return bytes;
}

ArenaState Arena::state() const noexcept {
  ArenaState state{reserved_, reserved_ - used_, 0, driver_calls_};
  for (const Piece& piece : free_) {
    state.largest_free_bytes = std::max<std::uint64_t>(state.largest_free_bytes, piece.bytes);
  }
  return state;
}

bool Arena::has_free(std::uint64_t piece, std::uint64_t all) const noexcept {
  const ArenaState now = state();
  return now.largest_free_bytes >= piece && now.free_bytes >= all;
}

}  // namespace kiln
