#pragma once
#include "device.hpp"
#include "kernels/error_sums.hpp"
#include "widthwise/cuda/sweep.hpp"

namespace widthwise::cuda {

class DeviceSweep final : public Sweep {
 public:
  DeviceSweep(Device& device, const SweepValues& values);

  std::vector<ErrorMetrics> run(std::span<const Unit> units, std::uint64_t seed) const override;

  // Of the product.
  struct Rows {
    std::size_t first, count;
  };

 private:
  std::size_t budget() const;
  // The sums of each unit's errors in some rows are joined to `sums`.
  void add_errors(std::span<const Unit> units, const Rows& rows, std::uint64_t seed,
                  ErrorSums* sums) const;
  bool fit(std::span<const Unit> units, const Rows& rows, std::uint64_t seed,
           ErrorSums* sums) const;

  Device& device_;
  SweepValues values_;  // without the numbers themselves
  Buffer a_, b_, exact_;
};

}  // namespace widthwise::cuda
