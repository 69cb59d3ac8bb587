#pragma once
// Two workers as threads: sum() waits for both, as an all-reduce does.

#include <ATen/ATen.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "cplearn/dist/worker_group.h"

namespace cpl::test {

class ThreadGroup : public WorkerGroup {
 public:
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    at::Tensor sum;
    int arrived = 0, left = 0;
  };
  ThreadGroup(Shared& shared, int rank) : shared_(shared), rank_(rank) {}
  int size() const override { return 2; }
  int rank() const override { return rank_; }
  void sum(at::Tensor& values) override {
    std::unique_lock<std::mutex> lock(shared_.mutex);
    shared_.changed.wait(lock, [&] { return shared_.left == 0; });
    shared_.sum = shared_.arrived == 0 ? values.clone() : shared_.sum + values;
    ++shared_.arrived;
    shared_.changed.notify_all();
    shared_.changed.wait(lock, [&] { return shared_.arrived == 2; });
    values.copy_(shared_.sum);
    if (++shared_.left == 2) {
      shared_.arrived = shared_.left = 0;
      shared_.changed.notify_all();
    } else {
      shared_.changed.wait(lock, [&] { return shared_.left == 0; });
    }
  }

 private:
  Shared& shared_;
  int rank_;
};

// Calls work(group) as each of two workers.
template <class Work>
void as_two_workers(Work work) {
  ThreadGroup::Shared shared;
  std::thread other([&] {
    ThreadGroup group(shared, 1);
    work(group);
  });
  ThreadGroup group(shared, 0);
  work(group);
  other.join();
}

}  // namespace cpl::test
