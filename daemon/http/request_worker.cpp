// SPDX-License-Identifier: Apache-2.0
#include "http/request_worker.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

namespace offcpud {
namespace {

Response error(unsigned status, const char* json) {
  return {.status = status, .content_type = "application/json", .body = std::string(json)};
}

Response refusal() {
  return error(503, "{\"error\": \"too many such requests wait already; try again shortly\"}\n");
}

Response stopping() {
  return error(503, "{\"error\": \"offcpud is stopping\"}\n");
}

Response made_or_500(const RequestWorker::Work& work, const std::stop_token& stop) {
  try {
    return work(stop);
  } catch (const std::exception&) {
    return error(500, "{\"error\": \"the request failed inside the daemon\"}\n");
  }
}

// Before it wait the jobs of answer(), behind it those of respond().
template <class Jobs>
auto end_of_answers(Jobs& waiting) {
  return std::ranges::find_if(waiting, [](const auto& job) { return !job.is_answer; });
}

}  // namespace

RequestWorker::RequestWorker(const std::shared_ptr<Heartbeat>& heartbeat, const Names& names)
    : worker_(names.thread, [this, heartbeat, names](const Job& job, const std::stop_token&) {
        const PieceOfWork piece(heartbeat, names.work);
        auto response = std::make_shared<Response>(made_or_500(job.work, cancelled_.get_token()));
        job.done([response] { return std::move(*response); });
      }) {}

RequestWorker::~RequestWorker() {
  (void)finish(std::chrono::milliseconds(0));
}

Response RequestWorker::respond(Work work) {
  if (cancelled_.stop_requested()) return stopping();
  const auto is_full = [](const auto& waiting) {
    return std::distance(end_of_answers(waiting), waiting.end()) >= std::ptrdiff_t{kMostWaiting};
  };
  if (worker_.change(is_full)) return refusal();
  // Other threads may add work meanwhile, so it is asked again where this is added.
  const auto start = [this, is_full, work = std::move(work)](const Later::Done& done) {
    const auto refused = worker_.change([&](auto& waiting) -> Response (*)() {
      if (cancelled_.stop_requested()) return &stopping;
      if (is_full(waiting)) return &refusal;
      waiting.push_back({work, done});
      return nullptr;
    });
    if (refused != nullptr) done(refused);
  };
  return {.body = Later{start}};
}

void RequestWorker::answer(Later::Make make, Later::Done done) {
  Job job{.work = [make = std::move(make)](const std::stop_token&) { return make(); },
          .done = std::move(done),
          .is_answer = true};
  worker_.change([&](auto& waiting) { waiting.insert(end_of_answers(waiting), std::move(job)); });
}

bool RequestWorker::finish(std::chrono::milliseconds patience) {
  cancelled_.request_stop();
  // Destroyed without the lock, as that answers requests.
  (void)worker_.change([](auto& waiting) {
    const auto first = end_of_answers(waiting);
    std::vector<Job> dropped(std::make_move_iterator(first),
                             std::make_move_iterator(waiting.end()));
    waiting.erase(first, waiting.end());
    return dropped;
  });
  return worker_.wait_until_idle(patience);
}

}  // namespace offcpud
