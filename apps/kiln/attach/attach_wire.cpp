// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "attach/attach_wire.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "output/text.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

// "/proc/self/fd/7/attach.sock": the address of a socket has 108 bytes, and a path may have 4096.
std::string place_in(const Descriptor& folder) {
  return "/proc/self/fd/" + std::to_string(folder.get()) + "/" + attach_socket;
}

template <class Call>
int with_address(const Descriptor& folder, const Call& call) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string place = place_in(folder);
  std::memcpy(address.sun_path, place.c_str(), place.size() + 1);
  return call(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

Descriptor new_socket() { return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int Descriptor::release() noexcept { return std::exchange(number_, -1); }

Descriptor open_folder(const std::string& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Nobody connects before the rights are set, on other systems than Linux too: a socket is refused
// until it listens.
Descriptor listen_in(const Descriptor& folder) {
  constexpr int waiting = 16;
  static_cast<void>(::unlinkat(folder.get(), attach_socket, 0));  // of a run that was killed
  Descriptor socket = new_socket();
  if (!socket) return socket;
  const auto bound = with_address(folder, [&](const sockaddr* address, socklen_t size) {
    // The socket never has other rights: Linux takes those of the descriptor.
    if (::fchmod(socket.get(), S_IRUSR | S_IWUSR) != 0) return -1;
    return ::bind(socket.get(), address, size);
  });
  const bool listens = bound == 0 &&
                       ::fchmodat(folder.get(), attach_socket, S_IRUSR | S_IWUSR, 0) == 0 &&
                       ::listen(socket.get(), waiting) == 0;
  return listens ? std::move(socket) : Descriptor();
}

Descriptor connect_in(const Descriptor& folder) {
  Descriptor socket = new_socket();
  if (!socket) return socket;
  const auto connected = with_address(folder, [&](const sockaddr* address, socklen_t size) {
    return ::connect(socket.get(), address, size);
  });
  return connected == 0 ? std::move(socket) : Descriptor();
}

bool send_all(const Descriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_all(const Descriptor& socket, void* bytes, std::size_t size) {
  auto* to = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t received = ::recv(socket.get(), to, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    to += received;
    size -= static_cast<std::size_t>(received);
  }
  return true;
}

void give_up_after(const Descriptor& socket, int seconds) {
  const timeval time{seconds, 0};
  for (const int which : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, which, &time, sizeof time));
  }
}

std::string request_bytes(CommandKind kind, std::string_view following) {
  Command command;
  command.kind = kind;
  command.payload = following.size();
  command = sealed(command);
  std::string bytes(sizeof command, '\0');
  std::memcpy(bytes.data(), &command, sizeof command);
  return bytes.append(following);
}

std::string answer_line(CommandKind kind, const CommandOutcome& outcome) {
  Json answer = {{"command", std::string(to_string(kind))}, {"applied", outcome.applied}};
  if (outcome.applied) {
    answer["tick"] = outcome.at.tick;
    answer["sweeps"] = outcome.at.sweeps;
    answer["stage"] = outcome.at.stage;
    answer["paused"] = outcome.paused;
  } else {
    answer["code"] = outcome.code;
    answer["reason"] = clean(outcome.reason);
    if (!outcome.fix.empty()) answer["fix"] = clean(outcome.fix);
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<CommandOutcome> answer_of(std::string_view line) {
  try {
    const Json answer = Json::parse(line);
    CommandOutcome outcome;
    outcome.applied = answer.at("applied");
    if (outcome.applied) {
      outcome.at = {answer.at("stage"), answer.at("tick"), answer.at("sweeps")};
      outcome.paused = answer.at("paused");
    } else {
      outcome.code = clean(answer.at("code").get<std::string>());
      outcome.reason = clean(answer.at("reason").get<std::string>());
      outcome.fix = clean(answer.value("fix", std::string{}));
    }
    return outcome;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace kiln::cli
