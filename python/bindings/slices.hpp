#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "bind.hpp"

// Long work without Python's lock, which an interrupt stops.
namespace widthwise {

// Elements that an operation takes at a time, one that has a quick way, and one that looks for NaN
// among what it has just read, which is to lie near.
inline constexpr std::size_t element_slice = 4096, quick_slice = 65536, looking_slice = 16384;
inline constexpr auto signal_interval = std::chrono::milliseconds(50);

inline void obey_signals() {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// Calls work(first, count) for slices of 0 … total - 1, in order. A slice should take well below a
// tenth of a second.
template <class Work>
void in_slices(std::size_t total, std::size_t slice, const Work& work) {
  using Clock = std::chrono::steady_clock;
  std::size_t first = 0;
  while (first < total) {
    {
      const py::gil_scoped_release free;
      const auto until = Clock::now() + signal_interval;
      do {
        const std::size_t count = std::min(slice, total - first);
        work(first, count);
        first += count;
      } while (first < total && Clock::now() < until);
    }
    obey_signals();
  }
}

// The same, each slice on whichever of the threads is free.
template <class Work>
class Crew {
 public:
  Crew(std::size_t slices, int threads, const Work& work) : slices_(slices), work_(work) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { labour(); });
    running_ = threads;
  }
  ~Crew() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
  }

  // Returns when all is done, and throws what a slice threw.
  void wait() {
    while (!finished()) obey_signals();
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void labour() {
    try {
      for (std::size_t i; !stop_ && (i = next_++) < slices_;) work_(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      stop_ = true;
    }
    const std::lock_guard lock(mutex_);
    ++idle_;
    changed_.notify_one();
  }
  bool finished() {
    const py::gil_scoped_release free;
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, signal_interval, [this] { return idle_ == running_; });
  }

  std::size_t slices_;
  const Work& work_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  int idle_ = 0, running_ = 0;
  std::exception_ptr error_;
};

template <class Work>
void in_parallel(std::size_t slices, int threads, const Work& work) {
  if (threads <= 1 || slices <= 1)
    return in_slices(slices, 1, [&](std::size_t i, std::size_t) { work(i); });
  Crew<Work> crew(
      slices, static_cast<int>(std::min<std::size_t>(slices, static_cast<std::size_t>(threads))),
      work);
  crew.wait();
}

}  // namespace widthwise
