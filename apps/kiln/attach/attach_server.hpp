// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "kiln/commands/command_ring.hpp"
#include "kiln/problem.hpp"

#include "attach/attach_wire.hpp"

namespace kiln::cli {

/// Hears commands on the socket of a run folder and posts them to the ring of the run. Each
/// connection has a thread: one that does nothing keeps no other waiting.
class AttachServer {
 public:
  /// @param folder   of the run; a folder without room for a socket is no error, see complaint()
  /// @param problem  to which injected states belong; must outlive the server
  AttachServer(const std::string& folder, std::shared_ptr<CommandRing> ring,
               const Problem& problem);
  /// Refuses what has not been applied, and removes the socket.
  ~AttachServer();
  AttachServer(const AttachServer&) = delete;
  AttachServer& operator=(const AttachServer&) = delete;

  /// Why nobody can attach to the run; empty: it listens.
  const std::string& complaint() const noexcept { return complaint_; }

 private:
  struct Connection {
    explicit Connection(Descriptor one) : socket(std::move(one)) {}
    Descriptor socket;
    std::atomic<bool> done{false};
    std::jthread thread;  // last: it uses the others
  };
  void listen(const std::stop_token& stop);
  void serve(Connection& connection, const std::stop_token& stop) noexcept;
  void answer(Connection& connection, const std::stop_token& stop);
  CommandOutcome obey(const AttachRequest& request, const std::stop_token& stop);
  CommandData data_of(const AttachRequest& request) const;

  std::shared_ptr<CommandRing> ring_;
  const Problem& problem_;
  Descriptor folder_, socket_;
  std::string complaint_;
  std::list<Connection> connections_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace kiln::cli
