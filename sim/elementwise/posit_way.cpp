#include <algorithm>

#include "draw_bits.hpp"
#include "posit_lanes.hpp"
#include "way.hpp"

// Conversions of binary32 to posits of up to 32 bits, to nearest and ties to even, or by chance:
// their patterns in 64 bits, rounded (docs/exactness.md, 70).
namespace widthwise {
namespace {

using elements::to_posits;

constexpr int widest_posit = 32;

constexpr std::size_t posit_piece = 1024;  // elements whose random bits lie in the first cache

class Posits final : public Elementwise::Way {
 public:
  Posits(const Format& f, const Rounding& rounding)
      : shape_{f.width(), f.exp_bits, rounding}, bytes_(item_bytes(f.width())) {}

  const char* name() const final { return "posit lanes"; }

  // Codes as long as their numbers may overwrite them: what was read is written, lane by lane.
  void run(const ElementArrays& x) const final {
    switch (bytes_) {
      case 1: return run_to<std::uint8_t>(x);
      case 2: return run_to<std::uint16_t>(x);
      default: return run_to<std::uint32_t>(x);
    }
  }

 private:
  template <class Code>
  void run_to(const ElementArrays& x) const {
    const auto* numbers = static_cast<const float*>(x.operands[0]);
    auto* codes = static_cast<Code*>(x.result);
    if (!shape_.rounding.stochastic()) return to_posits(shape_, numbers, nullptr, x.count, codes);
    std::uint64_t room[posit_piece];
    for (std::size_t first = 0; first < x.count; first += posit_piece) {
      const std::size_t n = std::min(posit_piece, x.count - first);
      const std::uint64_t* bits = elements::random_bits(shape_.rounding, x.random, first, n, room);
      to_posits(shape_, numbers + first, bits, n, codes + first);
    }
  }

  elements::PositShape shape_;
  int bytes_;
};

// Of the 63 bits of a pattern, what is dropped: random bits, and two digits more that ties look at.
bool rounds(const Format& f, const Rounding& rounding) {
  if (!rounding.stochastic()) return rounding.mode == RoundingMode::rne;
  return rounding.random_bits + 2 <= 64 - f.width();
}

}  // namespace

ElementwiseWay posit_way(const ElementTask& task) {
  if (task.op != Operation::convert || task.flags || !task.to.is_posit() ||
      task.to.width() > widest_posit || task.operands[0] != binary32 ||
      !rounds(task.to, task.env.rounding))
    return nullptr;
  return std::make_unique<Posits>(task.to, task.env.rounding);
}

}  // namespace widthwise
