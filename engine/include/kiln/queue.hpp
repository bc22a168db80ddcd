// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kiln/device/views.hpp"
#include "kiln/device_shape.hpp"
#include "kiln/export.hpp"
#include "kiln/function_ref.hpp"
#include "kiln/kernel_set.hpp"
#include "kiln/kernels/catalog.hpp"
#include "kiln/memory/memory_account.hpp"

namespace kiln {

struct Alarm;
struct RunControl;
struct RunSummary;
class ArmedQueue;
class HoldFlag;

/// Counters of the work of a queue. The result shows the differences over a run (`work.cuda`).
struct Counters {
  std::uint64_t launches = 0;        ///< kernels enqueued one by one, captures not counted
  std::uint64_t graph_launches = 0;  ///< of graphs: one tick, several, or a loop of many
  std::uint64_t allocations = 0;
  std::uint64_t copies = 0;            ///< between host and device, either way
  std::uint64_t synchronizations = 0;  ///< waits of the host for the device

  Counters operator-(const Counters& earlier) const noexcept {
    return {launches - earlier.launches, graph_launches - earlier.graph_launches,
            allocations - earlier.allocations, copies - earlier.copies,
            synchronizations - earlier.synchronizations};
  }
  Counters& operator+=(const Counters& other) noexcept {
    launches += other.launches;
    graph_launches += other.graph_launches;
    allocations += other.allocations;
    copies += other.copies;
    synchronizations += other.synchronizations;
    return *this;
  }
};

/// A launch as an observer sees it.
struct LaunchInfo {
  const char* kernel = "";  ///< its name
  double bytes = -1;        ///< what it reads and writes at least; -1: its kernel does not say
};

/// Sees the launches of a queue, each before and after it is enqueued.
class KILN_API LaunchObserver {
 public:
  virtual ~LaunchObserver();
  virtual void before(const LaunchInfo& launch) = 0;
  virtual void after(const LaunchInfo& launch) = 0;
};

/// A captured tick, which can be replayed as a whole.
class KILN_API TickGraph {
 public:
  virtual ~TickGraph();
  /// Kernels, copies and fills that one replay runs on the device; a launch may be several.
  virtual std::int64_t nodes() const noexcept = 0;
};

/// The ordered stream of work of one run on one device.
///
/// All work runs in the order of enqueueing. On the CPU it is done when the call returns; on a GPU
/// the host continues at once and waits only in download(), wait() and wait_summary(). One host
/// thread uses a queue at a time.
class KILN_API Queue {
 public:
  virtual ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Enqueues a kernel of a component with its arguments. Other work goes to native_handle() and is
  /// counted with count_launch(); on the CPU it runs in place.
  /// @throws InvalidArgument if the backend has no kernels of the component (Backend::add_kernels).
  template <class Kernel>
  void launch(const Kernel& kernel) {
    static_assert(
        HasComponent<Kernel>,
        "Queue::launch() takes kernels that a component lists (KILN_COMPONENT); list your kernels "
        "in a component, or call your code directly: see docs/guides/your_own_schedule.md");
    ++counters_.launches;
    if (kernels_ == nullptr) return;
    if (observer_ == nullptr) return kernels_->launcher<Kernel>()(kernel, *this);
    LaunchInfo info;
    if constexpr (requires { Kernel::name; }) info.kernel = Kernel::name;
    if constexpr (requires { kernel.bytes(); }) info.bytes = kernel.bytes();
    observer_->before(info);
    kernels_->launcher<Kernel>()(kernel, *this);
    observer_->after(info);
  }
  /// Shows later launches to an observer, which must outlive them; null: to none.
  void observe_launches(LaunchObserver* observer) noexcept { observer_ = observer; }

  /// The sets that launch() searches; null if launches are only counted.
  const KernelSets* kernels() const noexcept { return kernels_.get(); }

  /// Counts a kernel that was enqueued without launch(): one that no component lists.
  void count_launch() noexcept { ++counters_.launches; }

  /// "cpu" or "cuda".
  virtual const char* backend_name() const noexcept = 0;
  /// Whether host threads do the work, in host memory: data that only a GPU reads is then not
  /// needed.
  bool on_cpu() const noexcept { return std::string_view(backend_name()) == "cpu"; }
  /// The shape of its device.
  const DeviceShape& device_shape() const noexcept { return device_shape_; }
  /// Device memory, aligned to 256 bytes, not initialised. @throws OutOfDeviceMemory
  void* allocate(std::size_t bytes);
  void deallocate(void* memory, std::size_t bytes) noexcept;
  /// Host memory, aligned to 64 bytes and filled with zeros, that the device writes while the host
  /// reads it: after a wait, or by atomic reads. @throws OutOfDeviceMemory
  void* allocate_shared(std::size_t bytes);
  void deallocate_shared(void* memory, std::size_t bytes) noexcept;
  /// Whose memory later allocations are; returns whose it was so far. See MemoryScope.
  MemoryOwner own_by(MemoryOwner owner) noexcept { return std::exchange(owner_, owner); }
  /// What was allocated on this queue and those that charge it.
  const MemoryAccount& account() const noexcept { return *account_; }
  /// Counts the memory of this queue, which has none yet, with that of another one.
  void charge(const Queue& other, MemoryOwner owner) noexcept {
    account_ = other.account_;
    owner_ = owner;
  }
  /// Has so many bytes ready for allocate(), where the backend keeps memory. @throws
  /// OutOfDeviceMemory
  virtual void reserve(std::size_t bytes);
  /// What the queue holds of the device; the driver's calls are those since it was made.
  virtual ArenaState arena() const;
  /// Copies host memory to the device; `host` may be reused when the call returns.
  void upload(void* device, const void* host, std::size_t bytes);
  /// Waits for all enqueued work, then copies to the host.
  void download(void* host, const void* device, std::size_t bytes);
  /// Sets device memory to zero bytes.
  virtual void zero(void* device, std::size_t bytes) = 0;
  /// Copies within device memory; the two ranges do not overlap.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// Waits for all enqueued work. @throws CudaError if any of it failed.
  void wait();

  /// Measures work: begin_timer() marks a position in the order of the queue; end_timer_s() marks a
  /// second one, waits for it, and returns the seconds between the two. CUDA reads the device's
  /// clock there (events), so a host that is ahead does not count; other backends use the steady
  /// clock around waits. Beginning again discards the earlier mark.
  /// @throws InvalidArgument in a capture, or if there is no mark.
  void begin_timer();
  double end_timer_s();

  /// Where a kernel writes the next summary: host memory that the device can write, so that a
  /// report point costs no copy. At most two may be in flight.
  virtual RunSummary* summary_target() = 0;
  /// Marks the position in the queue at which that summary is complete.
  virtual void post_summary() = 0;
  /// Returns the oldest posted summary; waits for it alone, not for later work.
  virtual RunSummary wait_summary() = 0;

  /// Whether ticks can be captured. begin_capture() records the enqueued work instead of running
  /// it.
  virtual bool can_capture() const noexcept { return false; }
  virtual void begin_capture();
  virtual std::unique_ptr<TickGraph> end_capture();
  void replay(TickGraph& graph);
  /// Captures a loop that the device repeats until a run stops: replay_loop() is one launch.
  /// @param control  [1] of the run; its stop flag is read after each iteration
  /// @param body  enqueues what an iteration does
  /// @param after  enqueues what follows the last iteration; may be empty
  /// @param refusal  receives why the device cannot repeat this, if the result is null
  virtual std::unique_ptr<TickGraph> capture_loop(const RunControl* control,
                                                  const std::function<void()>& body,
                                                  const std::function<void()>& after,
                                                  std::string& refusal);
  /// Repeats a loop so many times, or until the run stops. A run that has stopped does not begin.
  void replay_loop(TickGraph& loop, std::uint64_t iterations);

  /// Makes a flag by which other threads hold ticks of this queue. @throws CudaError
  virtual std::unique_ptr<HoldFlag> make_hold_flag();

  /// Runs task(0) .. task(count - 1) on the host in parallel, for objectives on the host: on the
  /// threads of the CPU backend, else on one thread per core. Returns when all are done; rethrows
  /// the first exception, after which calls that had not begun are left out.
  virtual void for_each_on_host(std::int64_t count, FunctionRef<void(std::int64_t)> task);

  /// When to abandon launches (ArmedQueue); null: never. On the CPU alone: a GPU does not read the
  /// host's clock, and its ticks are short.
  const Alarm* alarm() const noexcept { return alarm_; }

  /// The backend's native handle (a cudaStream_t on CUDA, null on the CPU).
  virtual void* native_handle() noexcept { return nullptr; }

  const Counters& counters() const noexcept { return counters_; }

 protected:
  /// @param kernels  the sets that launch() searches; null: launches are counted and not run.
  /// @param device  for choices of schedules and kernels
  Queue(std::shared_ptr<const KernelSets> kernels, const DeviceShape& device)
      : kernels_(std::move(kernels)), device_shape_(device) {}

  virtual void* do_allocate(std::size_t bytes) = 0;
  virtual void do_deallocate(void* memory, std::size_t bytes) noexcept = 0;
  virtual void do_upload(void* device, const void* host, std::size_t bytes) = 0;
  virtual void do_download(void* host, const void* device, std::size_t bytes) = 0;
  virtual void do_wait() = 0;
  virtual void do_replay(TickGraph& graph);
  virtual void do_replay_loop(TickGraph& loop, std::uint64_t iterations);
  virtual void do_begin_timer();
  virtual double do_end_timer_s();
  virtual void* do_allocate_shared(std::size_t bytes);
  virtual void do_deallocate_shared(void* memory, std::size_t bytes) noexcept;

  /// For memory that a backend takes beside allocate().
  MemoryAccount& own_account() noexcept { return *account_; }

  Counters counters_;

 private:
  friend class ArmedQueue;
  std::shared_ptr<const KernelSets> kernels_;
  DeviceShape device_shape_;
  const Alarm* alarm_ = nullptr;
  LaunchObserver* observer_ = nullptr;
  std::shared_ptr<MemoryAccount> account_ = std::make_shared<MemoryAccount>();
  MemoryOwner owner_ = MemoryOwner::engine;
  bool timing_ = false;
  std::int64_t timer_begin_ns_ = 0;  // of the steady clock
};

/// Allocations on a queue belong to an owner as long as this lives.
class MemoryScope {
 public:
  MemoryScope(Queue& queue, MemoryOwner owner) noexcept
      : queue_(queue), former_(queue.own_by(owner)) {}
  ~MemoryScope() { queue_.own_by(former_); }
  MemoryScope(const MemoryScope&) = delete;
  MemoryScope& operator=(const MemoryScope&) = delete;

 private:
  Queue& queue_;
  MemoryOwner former_;
};

/// Owns memory for `size` values of T, bound to the queue that it was made on. The queue must
/// outlive it.
///
/// @tparam allocate, deallocate  members of Queue
template <class T, auto allocate, auto deallocate>
class QueueArray {
 public:
  QueueArray() = default;
  QueueArray(Queue& queue, std::int64_t size)
      : queue_(&queue),
        size_(size),
        data_(size > 0 ? static_cast<T*>((queue.*allocate)(bytes())) : nullptr) {}
  QueueArray(QueueArray&& other) noexcept { swap(other); }
  QueueArray& operator=(QueueArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~QueueArray() {
    if (data_ != nullptr) (queue_->*deallocate)(data_, bytes());
  }

  std::int64_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(size_) * sizeof(T); }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }

 protected:
  Queue& queue() const noexcept { return *queue_; }

 private:
  void swap(QueueArray& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }
  Queue* queue_ = nullptr;
  std::int64_t size_ = 0;
  T* data_ = nullptr;
};

/// Device memory.
template <class T>
class DeviceArray : public QueueArray<T, &Queue::allocate, &Queue::deallocate> {
  using Base = QueueArray<T, &Queue::allocate, &Queue::deallocate>;

 public:
  using Base::Base;
  using Base::bytes;
  using Base::data;
  using Base::size;
  DeviceArray() = default;
  /// Allocates and fills from the host.
  DeviceArray(Queue& queue, const std::vector<T>& values)
      : DeviceArray(queue, static_cast<std::int64_t>(values.size())) {
    upload(values);
  }

  View1<T> view() noexcept { return {data(), size()}; }
  View1<const T> view() const noexcept { return {data(), size()}; }

  void upload(const std::vector<T>& values) {
    if (size() > 0) this->queue().upload(data(), values.data(), bytes());
  }
  std::vector<T> download() const {
    std::vector<T> values(static_cast<std::size_t>(size()));
    if (size() > 0) this->queue().download(values.data(), data(), bytes());
    return values;
  }
  void zero() {
    if (size() > 0) this->queue().zero(data(), bytes());
  }
  /// Sets every element to one value. Uploads a few and copies them on the device, so that long
  /// arrays are not built on the host.
  void fill(const T& value) {
    std::int64_t done = size() < 1024 ? size() : 1024;
    if (done == 0) return;
    const std::vector<T> few(static_cast<std::size_t>(done), value);
    this->queue().upload(data(), few.data(), few.size() * sizeof(T));
    while (done < size()) {
      const std::int64_t next = done < size() - done ? done : size() - done;
      this->queue().copy(data() + done, data(), static_cast<std::size_t>(next) * sizeof(T));
      done += next;
    }
  }
};

/// Host memory that the device of a queue can write (Queue::allocate_shared).
template <class T>
class SharedArray : public QueueArray<T, &Queue::allocate_shared, &Queue::deallocate_shared> {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 64);
  using Base = QueueArray<T, &Queue::allocate_shared, &Queue::deallocate_shared>;

 public:
  using Base::Base;
};

}  // namespace kiln
