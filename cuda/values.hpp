#pragma once
#include "device.hpp"
#include "widthwise/sim/dot.hpp"

// Codes on a device to the values of lanes, and back.
namespace widthwise::cuda {

// How numbers stand in lanes: times 2^power, or the negative of that.
struct LaneScale {
  int power = 0;
  bool negated = false;
};

template <class T>
struct Values {
  Buffer memory;
  double most = 0;       // the largest magnitude of a number among them, as it stands there
  bool special = false;  // infinities or NaN

  const T* at() const { return memory.at<const T>(); }
};

// Of a dense matrix of so many codes; none of no matrix.
template <class T>
Values<T> decoded(Device& device, const Operand& operand, const CodeMatrix& x, std::size_t count,
                  const LaneScale& scale = {});

// Results that are not to be redone as codes of the format.
template <class T>
void encode(Device& device, const Format& to, const T* values, const std::uint8_t* redo,
            const MatrixProduct& p, const LaneScale& scale = {});

}  // namespace widthwise::cuda
