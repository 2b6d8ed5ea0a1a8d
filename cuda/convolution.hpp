#pragma once
#include <vector>

#include "region.hpp"
#include "widthwise/sim/convolution.hpp"
#include "widthwise/sim/multipliers.hpp"

namespace widthwise::cuda {

// Convolutions of images that lie on a device: of every image's groups a product of the weights
// with windows, which are never copied together. Each column's elements are found by two sums of
// indices, as the image is padded with its zeros.
class DeviceConvolution {
 public:
  // Throws std::invalid_argument where the device's integers do not hold a unit's numbers.
  DeviceConvolution(Device& device, const Unit& unit, const Convolution& convolution, bool flags,
                    Multiplier multiplier = {});

  // All addresses are the device's.
  void run(const ConvolutionOperands& x) const;

 private:
  void run_group(const ConvolutionOperands& x, std::size_t image, std::size_t group) const;
  Buffer padded(const CodeImages& x, std::size_t image, std::size_t group) const;
  MatrixProduct product(const ConvolutionOperands& x, std::size_t image, std::size_t group) const;

  Device& device_;
  Unit unit_;  // with a and b exchanged
  Convolution convolution_;
  std::unique_ptr<const Way> way_;
  std::vector<std::size_t> rows_;      // of the padded image: where each element of a window lies
  Buffer rows_there_, columns_there_;  // and from where on each window's do
};

}  // namespace widthwise::cuda
