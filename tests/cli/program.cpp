// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace kiln::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Under a sanitizer a program takes many times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::seconds longest_run{600};
#else
constexpr std::chrono::seconds longest_run{30};
#endif

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

// Settings of the person who runs the tests must not reach the program.
std::vector<std::string> environment_of(const Call& call) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!text.starts_with("KILN_")) entries.push_back(text);
  }
  if (!call.environment.contains("KILN_TUNE")) entries.emplace_back("KILN_TUNE=off");
  for (const auto& [name, value] : call.environment)
    entries.push_back(std::string(name).append("=").append(value));
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void read_some(Pipe& pipe, std::string& text) {
  std::array<char, 65536> block;
  const ssize_t n_read = ::read(pipe.ends[0], block.data(), block.size());
  if (n_read > 0) {
    text.append(block.data(), static_cast<std::size_t>(n_read));
  } else if (n_read == 0 || errno != EINTR) {
    pipe.close_end(0);
  }
}

// Two of them while it is stopped: it finds both when it goes on.
void send_signals(const Call& call, pid_t child) {
  if (call.second_signal != 0) ::kill(child, SIGSTOP);
  ::kill(child, call.signal);
  if (call.second_signal == 0) return;
  ::kill(child, call.second_signal);
  ::kill(child, SIGCONT);
}

// Reads both outputs to their ends, so that neither can block the program.
void drain(const Call& call, pid_t child, Pipe& out, Pipe& err, Outcome& outcome) {
  constexpr auto npos = std::string::npos;
  const auto deadline = Clock::now() + longest_run;
  bool signalled = call.signal == 0;
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    std::array<pollfd, 2> files{{{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}}};
    ::poll(files.data(), files.size(), 100);
    if (files[0].revents != 0) read_some(out, outcome.out);
    if (files[1].revents != 0) read_some(err, outcome.err);
    const auto said = [&](const std::string& text) { return text.find(call.signal_at) != npos; };
    if (!signalled && (said(outcome.err) || said(outcome.out))) {
      send_signals(call, child);
      signalled = true;
    }
    const std::string& last = call.readers_leave_at;
    if (signalled && !last.empty() && outcome.err.find(last) != std::string::npos) {
      out.close_end(0);
      err.close_end(0);
    }
    if (Clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ADD_FAILURE() << "the program did not end in time";
      return;
    }
  }
}

int exit_code_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

[[noreturn]] void become_called(const fs::path& folder, const Call& call, Pipe& in, Pipe& out,
                                Pipe& err, char** words, char** environment) {
  const std::string& file = call.output_file;
  const int output = file.empty() ? out.ends[1] : ::open(file.c_str(), O_WRONLY);
  const auto bytes = static_cast<rlim_t>(call.file_limit);
  const rlimit limit{bytes, bytes};
  if (call.file_limit > 0) ::setrlimit(RLIMIT_FSIZE, &limit);
  ::dup2(in.ends[0], STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(err.ends[1], STDERR_FILENO);
  for (int stream = 0; call.no_streams && stream < 3; ++stream) ::close(stream);
  become_program(folder, words, environment);
}

}  // namespace

void become_program(const fs::path& folder, char** words, char** environment) {
  // As a shell starts a program, wherever the tests run: in the background an interrupt is ignored.
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
  if (::chdir(folder.c_str()) == 0) ::execve(KILN_PROGRAM, words, environment);
  ::_exit(127);
}

ProgramTest::ProgramTest() {
  std::string name = (fs::path(testing::TempDir()) / "kiln-cli-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = name;
}

ProgramTest::~ProgramTest() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Outcome ProgramTest::run(const Call& call) const {
  std::vector<std::string> words{"kiln"};
  words.insert(words.end(), call.words.begin(), call.words.end());
  std::vector<std::string> environment = environment_of(call);
  const std::vector<char*> word_pointers = pointers_to(words);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  Pipe in, out, err;
  if (call.closed_output) out.close_end(0);

  const pid_t child = ::fork();
  if (child == 0) {
    become_called(folder_, call, in, out, err, const_cast<char**>(word_pointers.data()),
                  const_cast<char**>(environment_pointers.data()));
  }
  in.close_end(0);
  out.close_end(1);
  err.close_end(1);
  // A program that does not read its input must not end the test program.
  ::signal(SIGPIPE, SIG_IGN);
  std::thread writer([&] {
    const ssize_t ignored = ::write(in.ends[1], call.input.data(), call.input.size());
    static_cast<void>(ignored);
    in.close_end(1);
  });
  Outcome outcome;
  drain(call, child, out, err, outcome);
  outcome.exit_code = exit_code_of(child);
  writer.join();
  return outcome;
}

void ProgramTest::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

std::string ProgramTest::read(const std::string& name) const {
  std::ifstream in(folder_ / name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool ProgramTest::exists(const std::string& name) const { return fs::exists(folder_ / name); }

Outcome SearchTest::search(const std::string& problem, const std::vector<std::string>& more) const {
  std::vector<std::string> words =
      solve(problem, {"--schedule", "bayesian-optimization", "-p", "candidates=128", "-p",
                      "starts=2", "-p", "restarts=2"});
  words.insert(words.end(), more.begin(), more.end());
  return run(words);
}

std::vector<std::string> solve(const std::string& problem, std::vector<std::string> more) {
  more.insert(more.begin(), {"solve", problem, "--device", "cpu"});
  return more;
}

std::vector<std::string> short_run(std::vector<std::string> more) {
  more.insert(more.begin(), {"--sweeps", "50"});
  return solve("torus:8x8,1", std::move(more));
}

nlohmann::json result_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

std::string first_line(const Outcome& outcome) {
  return outcome.err.substr(0, outcome.err.find('\n'));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::int64_t count_lines(const std::string& text) { return std::ranges::count(text, '\n'); }

}  // namespace kiln::test
