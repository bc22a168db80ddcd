// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "attach/attach_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>
#include <sstream>
#include <system_error>
#include <utility>

#include "kiln/errors.hpp"

#include "run/initial_states.hpp"

namespace kiln::cli {
namespace {

constexpr int between_looks_ms = 50;
constexpr int silence_s = 20;  // of somebody who has begun to send a command
constexpr std::size_t max_connections = 32;

CommandOutcome refusal(std::string code, std::string reason, std::string fix = {}) {
  CommandOutcome outcome;
  outcome.code = std::move(code);
  outcome.reason = std::move(reason);
  outcome.fix = std::move(fix);
  return outcome;
}

// Takes memory as bytes come, not as many as a header says.
bool receive_behind(const Descriptor& socket, std::uint64_t size, std::string& bytes) {
  constexpr std::uint64_t at_once = 1 << 20;
  while (bytes.size() < size) {
    const std::size_t begin = bytes.size();
    const auto next = static_cast<std::size_t>(std::min(at_once, size - begin));
    bytes.resize(begin + next);
    if (!receive_all(socket, bytes.data() + begin, next)) return false;
  }
  return true;
}

// Of a file the text begins with the word.
std::string with_expected(const std::string& expected) {
  return expected.starts_with("expected") ? expected : "expected " + expected;
}

}  // namespace

AttachServer::AttachServer(const std::string& folder, std::shared_ptr<CommandRing> ring,
                           const Problem& problem)
    : ring_(std::move(ring)), problem_(problem), folder_(open_folder(folder)) {
  if (folder_) socket_ = listen_in(folder_);
  if (!socket_) {
    complaint_ = std::strerror(errno);
    return;
  }
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { listen(stop); });
  } catch (const std::system_error& error) {
    complaint_ = error.what();
    static_cast<void>(::unlinkat(folder_.get(), attach_socket, 0));
  }
}

// First the socket goes, so that nobody comes; then those who wait for the run hear of its end.
AttachServer::~AttachServer() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
    static_cast<void>(::unlinkat(folder_.get(), attach_socket, 0));
  }
  ring_->close("the run has ended");
  for (Connection& one : connections_) {
    one.thread.request_stop();
    static_cast<void>(::shutdown(one.socket.get(), SHUT_RD));
  }
}

void AttachServer::listen(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd waits{socket_.get(), POLLIN, 0};
    const int found = ::poll(&waits, 1, between_looks_ms);
    connections_.remove_if([](const Connection& one) { return one.done.load(); });
    if (found <= 0 || connections_.size() >= max_connections) continue;
    Descriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {  // no more files may be open: who waits is served when one is closed
      std::this_thread::sleep_for(std::chrono::milliseconds(between_looks_ms));
      continue;
    }
    give_up_after(socket, silence_s);
    Connection& one = connections_.emplace_back(std::move(socket));
    try {
      one.thread = std::jthread([this, &one](const std::stop_token& ended) { serve(one, ended); });
    } catch (const std::system_error&) {
      connections_.pop_back();  // who asked sees that nobody answers
    }
  }
}

// One command, its answer, and the end.
void AttachServer::answer(Connection& connection, const std::stop_token& stop) {
  AttachRequest request;
  CommandOutcome outcome;
  const bool whole = receive_all(connection.socket, &request.command, sizeof(Command));
  if (whole) {
    const std::string unreadable = unreadable_because(request.command);
    const std::uint64_t bytes = unreadable.empty() ? request.command.payload : 0;
    bool arrived = bytes <= max_attached_bytes;
    if (!arrived) {
      outcome =
          refusal("attach.size", fmt::format("{} bytes follow the command, and at most {} may",
                                             bytes, max_attached_bytes));
    } else {
      arrived = receive_behind(connection.socket, bytes, request.bytes);
      // Half a command is none: whoever sent it has gone.
      if (arrived) outcome = obey(request, stop);
    }
    if (arrived || !outcome.code.empty()) {
      send_all(connection.socket, answer_line(request.command.kind, outcome));
    }
  }
}

// What goes wrong with a command is none of the run's: memory that it takes, above all.
void AttachServer::serve(Connection& connection, const std::stop_token& stop) noexcept {
  try {
    try {
      answer(connection, stop);
    } catch (const std::bad_alloc&) {
      send_all(connection.socket,
               answer_line(CommandKind::status,
                           refusal("attach.memory", "there is not enough memory for the command")));
    }
  } catch (const std::exception&) {
    // Not even an answer: who asked sees that the connection ends.
  }
  static_cast<void>(::shutdown(connection.socket.get(), SHUT_RDWR));
  connection.done = true;
}

// A command that cannot be read goes to the ring, too, which counts and refuses it.
CommandOutcome AttachServer::obey(const AttachRequest& request, const std::stop_token& stop) {
  CommandData data;
  try {
    if (unreadable_because(request.command).empty()) data = data_of(request);
  } catch (const Error& error) {
    const std::string& expected = error.expected();
    return refusal(error.code(),
                   error.message() + (expected.empty() ? "" : "; " + with_expected(expected)),
                   error.fix());
  }
  auto promise = std::make_shared<std::promise<CommandOutcome>>();
  std::future<CommandOutcome> outcome = promise->get_future();
  const CommandRing::Post post =
      ring_->post_waiting(request.command, stop, std::move(data),
                          [promise](const CommandOutcome& one) { promise->set_value(one); });
  if (post != CommandRing::Post::taken) return refusal("commands.closed", "the run has ended");
  return outcome.get();
}

CommandData AttachServer::data_of(const AttachRequest& request) const {
  CommandData data;
  if (request.command.kind == CommandKind::temperatures) {
    data.temperatures.resize(request.bytes.size() / sizeof(double));
    std::memcpy(data.temperatures.data(), request.bytes.data(),
                data.temperatures.size() * sizeof(double));
  }
  if (request.command.kind == CommandKind::inject) {
    std::istringstream text(request.bytes);
    data.states = read_states(text, "the file", problem_);
  }
  return data;
}

}  // namespace kiln::cli
