// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/queue.hpp"

#include "run_core.hpp"

namespace kiln {

/// Size of a page that small arrays share.
inline constexpr std::size_t scratch_page_bytes = 256 * 1024;

/// The named arrays of a schedule in device memory. Small ones lie side by side in pages, of which
/// the host keeps a copy. A page is uploaded once when all arrays are set, and downloaded once for
/// a report, however many of its arrays are read. A schedule with ladders has some twenty of them,
/// and a copy costs as much as hundreds of ticks of a small problem.
class RunCore::Scratch {
 public:
  explicit Scratch(Queue& queue) : queue_(queue) {}

  /// New memory; `data` null: zeros. Small arrays are filled by fill(). save() and load() leave out
  /// what is not `saved`.
  /// @throws InvalidArgument if the name is taken.
  void* add(const std::string& name, const void* data, std::size_t bytes, bool saved);
  /// Uploads the added arrays.
  void fill();
  /// Until end_report() a downloaded page is not copied again.
  void begin_report();
  void end_report() { reporting_ = false; }
  /// Copies to the host if the bytes are of a small array; false: they are not in a page.
  bool read(void* host, const void* device, std::size_t bytes);

  void save(Archive& archive);
  void load(const Archive& archive);
  /// What the saved bytes of an array always are.
  void check(const std::string& name, std::function<bool(std::span<const std::byte>)> holds);
  /// The name of the first array for which that does not hold; "" if there is none.
  std::string unsound();

 private:
  struct Page {
    DeviceArray<std::byte> memory;
    std::vector<std::byte> copy;  ///< as much as is used
    bool zeros = true;            ///< initially; set on the device then, not copied
    bool fresh = false;           ///< during a report, the copy has been made in it
    std::uint64_t launches = 0;   ///< of the queue when it was made; a later one may change data
  };
  struct Place {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    bool saved = true;
    std::function<bool(std::span<const std::byte>)> holds = {};  // empty: any bytes will do
  };

  Queue& queue_;
  std::vector<Page> pages_;
  std::vector<DeviceArray<std::byte>> large_;
  std::map<std::string, Place> places_;
  bool reporting_ = false;
};

}  // namespace kiln
