#pragma once
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

// Runs a kernel's own body on the CPU, block by block and phase by phase. Threads go in shuffled
// order and shared memory begins as NaN, so that a stray index or a missing barrier shows.
namespace tests {

enum class Barriers {
  all,
  none_after_load,     // a thread computes before others have loaded
  none_after_compute,  // a thread loads the next step before others have computed
};

template <class Kernel>
class PhaseRun {
  using Shared = typename Kernel::Shared;
  using Registers = typename Kernel::Registers;

 public:
  PhaseRun(const Kernel& kernel, Barriers barriers, std::mt19937_64& random)
      : kernel_(kernel),
        barriers_(barriers),
        random_(random),
        shared_(std::make_unique<Shared>()),
        registers_(Kernel::threads),
        order_(Kernel::threads) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  void blocks(int blocks_x, int blocks_y) {
    for (int y = 0; y < blocks_y; ++y)
      for (int x = 0; x < blocks_x; ++x) block(x, y);
  }

 private:
  void block(int x, int y) {
    std::memset(static_cast<void*>(shared_.get()), 0xff, sizeof(Shared));
    std::memset(static_cast<void*>(registers_.data()), 0xff, Kernel::threads * sizeof(Registers));
    each_thread([&](int t) { kernel_.begin(x, y, t, registers(t)); });
    const int steps = kernel_.steps();
    const auto load = [&](int step, int t) { kernel_.load(step, x, y, t, *shared_); };
    const auto compute = [&](int step, int t) { kernel_.compute(step, t, *shared_, registers(t)); };
    for (int step = 0; step < steps; ++step) switch (barriers_) {
        case Barriers::all:
          each_thread([&](int t) { load(step, t); });
          each_thread([&](int t) { compute(step, t); });
          break;
        case Barriers::none_after_load:
          each_thread([&](int t) { load(step, t), compute(step, t); });
          break;
        case Barriers::none_after_compute:
          if (step == 0) each_thread([&](int t) { load(0, t); });
          each_thread([&](int t) {
            compute(step, t);
            if (step + 1 < steps) load(step + 1, t);
          });
      }
    each_thread([&](int t) { kernel_.end(x, y, t, registers(t)); });
  }

  template <class Do>
  void each_thread(const Do& what) {
    std::shuffle(order_.begin(), order_.end(), random_);
    for (const int t : order_) what(t);
  }
  Registers& registers(int thread) { return registers_[static_cast<std::size_t>(thread)]; }

  const Kernel& kernel_;
  Barriers barriers_;
  std::mt19937_64& random_;
  std::unique_ptr<Shared> shared_;
  std::vector<Registers> registers_;
  std::vector<int> order_;
};

}  // namespace tests
