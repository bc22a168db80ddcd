// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The child process: what a compiler does to the machine has an end here.
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "kiln/problems/source_objective.hpp"

#include "compiled/nvrtc.hpp"

namespace kiln::problems {
namespace {

constexpr int no_compiler = 3;

void lower_limits() {
  // The compiler, too, ends with whoever asked for it.
  static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
  const auto lower = [](auto which, rlim_t value) {
    struct rlimit limit = {};
    if (::getrlimit(which, &limit) != 0 || limit.rlim_cur <= value) return;
    limit.rlim_cur = value;
    static_cast<void>(::setrlimit(which, &limit));
  };
  lower(RLIMIT_CPU, 10);
  lower(RLIMIT_AS, rlim_t{4} << 30);
  lower(RLIMIT_FSIZE, rlim_t{64} << 20);
  lower(RLIMIT_CORE, 0);
}

int compile_for_gpu(const std::string& architecture, const std::string& unit,
                    const std::string& result) {
  const detail::Nvrtc nvrtc;
  if (!nvrtc.found()) return no_compiler;
  std::ifstream in(unit, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::string code, log;
  const bool works = nvrtc.compile(text, architecture, code, log);
  std::fputs(log.c_str(), stderr);
  if (!works) return 1;
  std::ofstream out(result, std::ios::binary);
  out.write(code.data(), static_cast<std::streamsize>(code.size())).flush();
  if (out) return 0;
  std::fputs("the result could not be written\n", stderr);
  return 1;
}

// Without contraction, as Kiln's own code is compiled: results then have the same bits on all CPUs.
int compile_for_cpu(const std::string& unit, const std::string& result) {
  const char* const given = std::getenv("CXX");
  // As in a Makefile, it may have several words: "ccache g++".
  std::istringstream compiler(given != nullptr && *given != '\0' ? given : "c++");
  std::vector<std::string> words{std::istream_iterator<std::string>(compiler), {}};
  words.insert(words.end(), {"-std=c++20", "-O3", "-ffp-contract=off", "-shared", "-fPIC",
                             "-fvisibility=hidden", "-pipe", "-x", "c++", unit, "-o", result});
  static_cast<void>(::setenv("LC_ALL", "C", 1));  // messages in ASCII
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  std::fprintf(stderr, "%s: %s\n", arguments.front(), std::strerror(errno));
  return no_compiler;
}

}  // namespace

int compile_objective(const std::vector<std::string>& words) {
  lower_limits();
  if (words.size() == 4 && words[0] == "gpu") return compile_for_gpu(words[1], words[2], words[3]);
  if (words.size() == 3 && words[0] == "cpu") return compile_for_cpu(words[1], words[2]);
  return 2;
}

}  // namespace kiln::problems
