#pragma once
#include "widthwise/sim/engine.hpp"

// Convolutions as neural networks have them (the kernel is not turned round), each output one dot
// product of the unit: of the elements of its window, which are the unit's a, with the weights, its
// b, in order of channel, kernel row, kernel column. The products run as matrix products on any
// engine; only panels of the windows are ever copied together, of a few megabytes.
namespace widthwise {

// One of the two directions of an image.
struct ConvolutionAxis {
  std::size_t input = 1, kernel = 1;  // lengths
  std::size_t stride = 1;             // from one window to the next
  std::size_t padding = 0;            // zeros at either end
  std::size_t dilation = 1;           // from one element of a window to the next

  std::size_t output() const { return (input + 2 * padding - reach() - 1) / stride + 1; }
  std::size_t reach() const {
    return (kernel - 1) * dilation;
  }  // from the first element to the last
};

struct Convolution {
  std::size_t images, channels, filters;
  std::size_t groups = 1;  // each its own channels and filters, in order
  ConvolutionAxis height, width;

  std::size_t group_channels() const { return channels / groups; }
  std::size_t group_filters() const { return filters / groups; }
  std::size_t length() const { return group_channels() * height.kernel * width.kernel; }
  std::size_t pixels() const { return height.output() * width.output(); }
};

// Refuses what does not fit together, and sizes whose product no memory holds.
void check(const Convolution& c);

// Refuses block scales, and padding in a format without zero.
void check(const Unit& unit, const Convolution& c);

// a * b is b * a to every bit: the same unit with its operands exchanged. With filters as rows
// outputs lie as results do.
Unit exchanged(Unit unit);

// Codes by strides in elements.
struct CodeImages {  // (images, channels, height, width)
  const void* data = nullptr;
  std::ptrdiff_t image = 0, channel = 0, row = 0, column = 0;
};
struct CodePixels {  // (images, filters, pixels)
  const void* data = nullptr;
  std::ptrdiff_t image = 0, filter = 0, pixel = 0;
};

struct ConvolutionOperands {
  CodeImages input;
  CodeMatrix weights;             // (filters, length)
  CodePixels c;                   // data null: +0
  void* result = nullptr;         // (images, filters, pixels), in one piece
  std::uint8_t* flags = nullptr;  // likewise, or null
  std::uint64_t seed = 0;
};

// An engine made ready for a convolution, whose work comes in pieces.
class ConvolutionEngine {
 public:
  ConvolutionEngine(const Unit& unit, const Convolution& convolution, bool flags,
                    Multiplier multiplier = {}, std::string_view engine = "auto");

  std::size_t pieces() const;
  // Const calls may run side by side. Results do not depend on how the work is cut.
  void run(const ConvolutionOperands& x, std::size_t piece) const;
  // By the caller's random bits, words for each slot that draws some, and the definition: the unit
  // with its operands exchanged, made for the length.
  void run_supplied(const ConvolutionOperands& x, std::size_t piece, const ReferenceUnit& reference,
                    std::span<const SuppliedWords> random) const;

 private:
  struct Panel;  // some pixels of one image's windows, of one group

  Panel panel(std::size_t piece) const;
  MatrixProduct product(const ConvolutionOperands& x, const Panel& at,
                        const std::vector<std::byte>& windows) const;

  Unit unit_;  // with a and b exchanged
  Convolution convolution_;
  Prepared engine_;
  std::size_t columns_;  // of a panel
};

}  // namespace widthwise
