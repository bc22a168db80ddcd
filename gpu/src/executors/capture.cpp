// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a queue captures and replays: ticks as graphs, and loops of ticks.
#include <memory>
#include <string>
#include <utility>

#include "kiln/errors.hpp"

#include "cuda_check.hpp"
#include "cuda_queue.hpp"
#include "executors/hold_flag.hpp"
#include "executors/loop_graph.hpp"
#include "executors/tick_graph.hpp"
#include "kernels/sweeps/planes/repeated_tick.hpp"

namespace kiln::cuda {
namespace {

// A graph takes the room of so many launches less.
constexpr std::int64_t nodes_of_launch = 4;

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const noexcept { static_cast<void>(cudaGraphDestroy(graph)); }
};
using OwnedGraph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;

/// Destroyed after its instance: the condition of its loop belongs to it.
struct GraphOfLoop {
  OwnedGraph graph;
};

class CudaLoopGraph final : GraphOfLoop, public CudaTickGraph {
 public:
  template <class... Arguments>
  explicit CudaLoopGraph(OwnedGraph owned, Arguments&&... arguments)
      : GraphOfLoop{std::move(owned)}, CudaTickGraph(std::forward<Arguments>(arguments)...) {}
};

std::size_t nodes_of(cudaGraph_t graph) {
  std::size_t nodes = 0;
  cuda_check(cudaGraphGetNodes(graph, nullptr, &nodes), "count the nodes of a captured tick");
  return nodes;
}

template <class Graph>
Graph& own(TickGraph& graph) {
  auto* const found = dynamic_cast<Graph*>(&graph);
  if (found != nullptr) return *found;
  throw InvalidArgument("queue.capture", "the captured tick belongs to another backend");
}

}  // namespace

// What is captured is no launch: its replays are.
void CudaQueue::note_capture() {
  capturing_ = true;
  launches_before_capture_ = counters_.launches;
}

void CudaQueue::begin_capture() {
  refuse_in_capture("begin another capture");
  const CurrentDevice current(*device_);
  // Thread-local: other threads of the program may go on allocating and synchronising.
  cuda_check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal),
             "begin to capture a tick");
  note_capture();
}

std::unique_ptr<TickGraph> CudaQueue::end_capture() {
  if (!capturing_) throw InvalidArgument("queue.capture", "no tick is being captured");
  const CurrentDevice current(*device_);
  capturing_ = false;
  counters_.launches = launches_before_capture_;
  cudaGraph_t captured = nullptr;
  cuda_check(cudaStreamEndCapture(stream(), &captured), "end the capture of a tick");
  const OwnedGraph graph(captured);
  const std::size_t nodes = nodes_of(captured);
  cudaGraphExec_t executable = nullptr;
  cuda_check(cudaGraphInstantiate(&executable, captured, 0), "instantiate a captured tick");
  auto tick = std::make_unique<CudaTickGraph>(device_, parts_->stream, executable, nodes, timeout_);
  // Otherwise the first replay would pay for it.
  cuda_check(cudaGraphUpload(executable, stream()), "upload a captured tick");
  return tick;
}

void CudaQueue::do_replay(TickGraph& graph) {
  refuse_in_capture("replay another");
  const auto& tick = own<CudaTickGraph>(graph);
  const CurrentDevice current(*device_);
  since_mark_ += tick.nodes() / nodes_of_launch;
  make_room();
  cuda_check(cudaGraphLaunch(tick.executable(), stream()), "replay a captured tick");
}

void CudaQueue::begin_capture_to(cudaGraph_t graph, const cudaGraphNode_t* after) {
  cuda_check(cudaStreamBeginCaptureToGraph(stream(), graph, after, nullptr, after ? 1 : 0,
                                           cudaStreamCaptureModeThreadLocal),
             "begin to capture a loop");
  note_capture();
}

void CudaQueue::end_capture_to() {
  capturing_ = false;
  counters_.launches = launches_before_capture_;
  cudaGraph_t graph = nullptr;  // the one that was given
  cuda_check(cudaStreamEndCapture(stream(), &graph), "end the capture of a loop");
}

// Which kinds of nodes and launch attributes a body may have depends on the driver: it is asked.
std::unique_ptr<TickGraph> CudaQueue::capture_loop(const RunControl* control,
                                                   const std::function<void()>& body,
                                                   const std::function<void()>& after,
                                                   std::string& refusal) {
  refuse_in_capture("capture a loop");
  const CurrentDevice current(*device_);
  if (!parts_->loops) parts_->loops = std::make_unique<LoopParts>(*device_, parts_->stream);
  LoopParts& parts = *parts_->loops;
  cudaGraphExec_t executable = nullptr;
  OwnedGraph graph;
  std::size_t nodes = 0;
  try {
    const LoopGraph loop = make_loop_graph(parts.state, parts.slots.data(), control);
    graph.reset(loop.graph);
    begin_capture_to(loop.body, nullptr);
    body();
    enqueue_end_of_iteration(loop, parts.state, control, stream());
    end_capture_to();
    nodes = nodes_of(loop.body);
    if (after) {
      begin_capture_to(loop.graph, &loop.loop);
      after();
      end_capture_to();
    }
    cuda_check(cudaGraphInstantiate(&executable, loop.graph, 0), "instantiate a loop");
  } catch (const CudaError& error) {
    abandon_capture();
    if (device_->is_lost()) throw;
    refusal = std::string("the device cannot repeat these ticks by itself: ") + error.what();
    return nullptr;
  }
  auto tick = std::make_unique<CudaLoopGraph>(std::move(graph), device_, parts_->stream, executable,
                                              nodes, timeout_);
  cuda_check(cudaGraphUpload(executable, stream()), "upload a loop");
  return tick;
}

bool CudaQueue::can_repeat(const LadderTick& tick, std::string& refusal) {
  return can_repeat_tick(tick, *this, refusal);
}

std::unique_ptr<HoldFlag> CudaQueue::make_hold_flag() {
  refuse_in_capture("make a flag");
  const CurrentDevice current(*device_);
  if (!parts_->hold) parts_->hold = std::make_unique<HoldParts>(*device_);
  return std::make_unique<CudaHoldFlag>(device_, *parts_->hold, timeout_);
}

void CudaQueue::do_replay_loop(TickGraph& graph, std::uint64_t iterations) {
  refuse_in_capture("replay a loop");
  const auto& loop = own<CudaLoopGraph>(graph);
  const CurrentDevice current(*device_);
  LoopParts& parts = *parts_->loops;
  parts.slots[parts.launches % loop_slots] = iterations;
  since_mark_ += loop_launches_of_mark;
  make_room();
  cuda_check(cudaGraphLaunch(loop.executable(), stream()), "replay a loop");
  ++parts.launches;
}

SummaryTarget CudaQueue::loop_summary_target() {
  if (!parts_->loops) return {};
  LoopParts& parts = *parts_->loops;
  return {parts.summaries.data(), &parts.state->launches, loop_slots};
}

// At most two are in flight, so the host reads it long before its slot is written again.
void CudaQueue::post_loop_summary() {
  if (!parts_->loops || parts_->loops->launches == 0) {
    throw InvalidArgument("queue.summaries", "no loop has written a summary");
  }
  refuse_third_summary();
  LoopParts& parts = *parts_->loops;
  post(parts.summaries[(parts.launches - 1) % loop_slots]);
}

}  // namespace kiln::cuda
