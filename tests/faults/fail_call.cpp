// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Loaded before a program (LD_PRELOAD), it makes the KILN_FAIL_NTH-th call of KILN_FAIL_CALL fail
// with the error number KILN_FAIL_ERRNO. KILN_FAIL_FROM=1 lets all later calls fail, too, as a full
// disk does. Calls count from the beginning of main() to its end, in the program itself, not in
// those that it calls. KILN_FAIL_COUNTS=FILE gets a line "NAME CALLS" for each name at the end.
//
// KILN_FAIL_HOW chooses what becomes of that call instead:
//   before, after   SIGKILL ends the process before or after it
//   short           write(2) writes half of its bytes; other calls are made
//   interrupt       write(2) and the others fail with EINTR, as a signal makes them; calls of stdio
//                   are made and do not count
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>

namespace {

// What counts together, by the name that KILN_FAIL_CALL gives it.
enum Name {
  write_calls,
  fsync_calls,
  rename_calls,
  link_calls,
  unlink_calls,
  open_calls,
  malloc_calls,
  thread_calls,
  spawn_calls,
  pipe_calls,
  names
};
constexpr const char* texts[names] = {"write", "fsync",  "rename",         "link",        "unlink",
                                      "open",  "malloc", "pthread_create", "posix_spawn", "pipe"};

enum class How { fail, before, after, halve, interrupt };

std::atomic<long> calls[names];
std::atomic<bool> armed{false};
int chosen = names;
long nth = 0;
bool from = false;
size_t min_size = 0;
int reason = 0;
How how = How::fail;
thread_local bool halves = false;  // while the chosen call is made
const char* counts_file = nullptr;
pid_t program = 0;

// Whether this call is the chosen one.
bool chooses(Name name) {
  if (!armed.load(std::memory_order_relaxed)) return false;
  if (::getpid() != program) return false;  // between fork and exec
  const long call = ++calls[name];
  return name == chosen && (from ? call >= nth : call == nth);
}

// Whether this call is to fail.
bool fails(Name name) {
  if (!chooses(name)) return false;
  errno = reason;
  return true;
}

[[noreturn]] void die() {
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

// Makes a call, unless it is the chosen one.
template <typename Result, typename Call>
Result make(Name name, Result failure, const Call& call) {
  if (!chooses(name)) return call();
  if (how == How::before) die();
  if (how == How::fail || how == How::interrupt) {
    errno = reason;
    return failure;
  }
  halves = how == How::halve;
  const Result result = call();
  halves = false;
  if (how == How::after) die();
  return result;
}

bool fails_for(size_t bytes) { return bytes >= min_size && fails(malloc_calls); }

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

using Main = int(int, char**, char**);
Main* true_main = nullptr;

void end_counting() {
  if (!armed.exchange(false) || counts_file == nullptr) return;
  FILE* const file = ::fopen(counts_file, "w");
  if (file == nullptr) return;
  for (int name = 0; name < names; ++name) {
    ::fprintf(file, "%s %ld\n", texts[name], calls[name].load());
  }
  ::fclose(file);
}

int counted_main(int count, char** arguments, char** environment) {
  const char* const call = ::getenv("KILN_FAIL_CALL");
  for (int name = 0; call != nullptr && name < names; ++name) {
    if (::strcmp(call, texts[name]) == 0) chosen = name;
  }
  const auto number = [](const char* name) {
    const char* const text = ::getenv(name);
    return text == nullptr ? 0 : ::strtol(text, nullptr, 10);
  };
  nth = number("KILN_FAIL_NTH");
  from = number("KILN_FAIL_FROM") != 0;
  min_size = static_cast<size_t>(number("KILN_FAIL_SIZE"));
  reason = static_cast<int>(number("KILN_FAIL_ERRNO"));
  if (const char* const text = ::getenv("KILN_FAIL_HOW"); text != nullptr) {
    how = ::strcmp(text, "before") == 0      ? How::before
          : ::strcmp(text, "after") == 0     ? How::after
          : ::strcmp(text, "interrupt") == 0 ? How::interrupt
                                             : How::halve;
    if (how == How::interrupt) reason = EINTR;
  }
  counts_file = ::getenv("KILN_FAIL_COUNTS");
  program = ::getpid();
  ::unsetenv("LD_PRELOAD");
  armed = true;
  const int code = true_main(count, arguments, environment);
  end_counting();
  return code;
}

}  // namespace

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): these are names of glibc.

int __libc_start_main(Main* main, int count, char** arguments, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  using Start = int(Main*, int, char**, void (*)(), void (*)(), void (*)(), void*);
  true_main = main;
  return next<Start>("__libc_start_main")(counted_main, count, arguments, init, fini, loader_fini,
                                          stack_end);
}

// --- files
// -------------------------------------------------------------------------------------------
ssize_t write(int descriptor, const void* data, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return make(write_calls, ssize_t{-1},
              [&] { return real(descriptor, data, halves && size > 1 ? size / 2 : size); });
}

size_t fwrite(const void* data, size_t size, size_t count, FILE* file) {
  static auto* const real = next<size_t(const void*, size_t, size_t, FILE*)>("fwrite");
  if (how == How::interrupt) return real(data, size, count, file);
  return make(write_calls, size_t{0}, [&] { return real(data, size, count, file); });
}

int fflush(FILE* file) {
  static auto* const real = next<int(FILE*)>("fflush");
  if (how == How::interrupt) return real(file);
  return make(write_calls, EOF, [&] { return real(file); });
}

int fsync(int descriptor) {
  static auto* const real = next<int(int)>("fsync");
  return make(fsync_calls, -1, [&] { return real(descriptor); });
}

int fdatasync(int descriptor) {
  static auto* const real = next<int(int)>("fdatasync");
  return make(fsync_calls, -1, [&] { return real(descriptor); });
}

int rename(const char* old_path, const char* new_path) {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return make(rename_calls, -1, [&] { return real(old_path, new_path); });
}

int renameat2(int old_folder, const char* old_path, int new_folder, const char* new_path,
              unsigned flags) {
  static auto* const real = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return make(rename_calls, -1,
              [&] { return real(old_folder, old_path, new_folder, new_path, flags); });
}

int link(const char* old_path, const char* new_path) {
  static auto* const real = next<int(const char*, const char*)>("link");
  return make(link_calls, -1, [&] { return real(old_path, new_path); });
}

int unlink(const char* path) {
  static auto* const real = next<int(const char*)>("unlink");
  return make(unlink_calls, -1, [&] { return real(path); });
}

int linkat(int old_folder, const char* old_path, int new_folder, const char* new_path, int flags) {
  static auto* const real = next<int(int, const char*, int, const char*, int)>("linkat");
  return make(link_calls, -1,
              [&] { return real(old_folder, old_path, new_folder, new_path, flags); });
}

int open(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return make(open_calls, -1, [&] { return real(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  static auto* const real = next<int(const char*, int, ...)>("open64");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return make(open_calls, -1, [&] { return real(path, flags, mode); });
}

int openat(int folder, const char* path, int flags, ...) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return make(open_calls, -1, [&] { return real(folder, path, flags, mode); });
}

FILE* fopen(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen");
  return make(open_calls, static_cast<FILE*>(nullptr), [&] { return real(path, mode); });
}

// What std::ifstream uses.
FILE* fopen64(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen64");
  return make(open_calls, static_cast<FILE*>(nullptr), [&] { return real(path, mode); });
}

int pipe2(int* ends, int flags) {
  static auto* const real = next<int(int*, int)>("pipe2");
  return fails(pipe_calls) ? -1 : real(ends, flags);
}

int socketpair(int domain, int type, int protocol, int* ends) {
  static auto* const real = next<int(int, int, int, int*)>("socketpair");
  return fails(pipe_calls) ? -1 : real(domain, type, protocol, ends);
}

// --- threads and processes
// ---------------------------------------------------------------------------
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  static auto* const real =
      next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return fails(thread_calls) ? reason : real(thread, attributes, start, argument);
}

using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);

int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* arguments,
                char* const* environment) {
  static auto* const real = next<Spawn>("posix_spawn");
  return fails(spawn_calls) ? reason
                            : real(child, path, actions, attributes, arguments, environment);
}

int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, char* const* arguments,
                 char* const* environment) {
  static auto* const real = next<Spawn>("posix_spawnp");
  return fails(spawn_calls) ? reason
                            : real(child, file, actions, attributes, arguments, environment);
}

// --- memory: glibc's own names, since dlsym() itself asks for memory
// -----------------------------------
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) { return fails_for(size) ? nullptr : __libc_malloc(size); }

void* calloc(size_t count, size_t size) {
  return fails_for(count * size) ? nullptr : __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
  return fails_for(size) ? nullptr : __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return fails_for(size) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) {
  if (fails_for(size)) return reason;
  void* const memory = __libc_memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *result = memory;
  return 0;
}

// NOLINTEND(bugprone-reserved-identifier)

}  // extern "C"
