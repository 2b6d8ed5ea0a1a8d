#pragma once
#include "device.hpp"
#include "widthwise/cuda/sweep.hpp"

namespace widthwise::cuda {

class DeviceSweep final : public Sweep {
 public:
  DeviceSweep(Device& device, const SweepValues& values);

  std::vector<ErrorMetrics> run(std::span<const Unit> units, std::uint64_t seed) const override;

 private:
  void run_together(std::span<const Unit> units, std::uint64_t seed,
                    std::vector<ErrorMetrics>& found) const;

  Device& device_;
  SweepValues values_;  // without the numbers themselves
  Buffer a_, b_, exact_;
};

}  // namespace widthwise::cuda
