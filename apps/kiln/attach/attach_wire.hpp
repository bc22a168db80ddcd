// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kiln/commands/command.hpp"

namespace kiln::cli {

/// The socket in the folder of a run.
inline constexpr const char* attach_socket = "attach.sock";
/// What may follow a command.
inline constexpr std::uint64_t max_attached_bytes = std::uint64_t{256} << 20;

/// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int release() noexcept;
  int number_;
};

/// The folder, opened; none where it is no folder.
Descriptor open_folder(const std::string& path);
/// Listens on the socket of an open folder, which its owner alone may use. None: errno says why.
/// A path of any length will do, because sockets are named by the descriptor of their folder.
Descriptor listen_in(const Descriptor& folder);
/// None: errno says why.
Descriptor connect_in(const Descriptor& folder);

/// Sends or receives all bytes; false where the other side is gone or does nothing for long.
bool send_all(const Descriptor& socket, std::string_view bytes);
bool receive_all(const Descriptor& socket, void* bytes, std::size_t size);
/// Sets after how long the two give up; 0: never.
void give_up_after(const Descriptor& socket, int seconds);

/// A command with what follows it.
struct AttachRequest {
  Command command;
  std::string bytes;
};
/// The bytes of a request, sealed.
std::string request_bytes(CommandKind kind, std::string_view following);

/// The answer of a run: a line of JSON.
std::string answer_line(CommandKind kind, const CommandOutcome& outcome);
/// What answer_line() wrote; nothing where it is none.
std::optional<CommandOutcome> answer_of(std::string_view line);

}  // namespace kiln::cli
