#include <algorithm>

#include "draw_bits.hpp"
#include "tapered_lanes.hpp"
#include "way.hpp"

// Conversions of binary32 to posits and takums of up to 32 bits, to nearest and ties to even, or by
// chance: their patterns in 64 bits, rounded (docs/exactness.md, 70).
namespace widthwise {

bool elements::in_words(const Format& f, const Rounding& rounding) {
  return f.is_posit() && !rounding.stochastic() && rounding.mode == RoundingMode::rne &&
         f.width() <= 25 + f.exp_bits && f.emax() <= binary32.emax() - 1;
}

namespace {

using elements::to_tapered;

constexpr int widest = 32;

constexpr std::size_t tapered_piece = 1024;  // elements whose random bits lie in the first cache

class Tapered final : public Elementwise::Way {
 public:
  Tapered(const Format& f, const Rounding& rounding)
      : shape_(f, rounding), bytes_(item_bytes(f.width())) {}

  const char* name() const final { return "tapered lanes"; }

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
    if (!shape_.rounding.stochastic()) return to_tapered(shape_, numbers, nullptr, x.count, codes);
    std::uint64_t room[tapered_piece];
    for (std::size_t first = 0; first < x.count; first += tapered_piece) {
      const std::size_t n = std::min(tapered_piece, x.count - first);
      const std::uint64_t* bits = elements::random_bits(shape_.rounding, x.random, first, n, room);
      to_tapered(shape_, numbers + first, bits, n, codes + first);
    }
  }

  elements::TaperedShape shape_;
  int bytes_;
};

// Of the 63 bits of a pattern, what is dropped: random bits, and two digits more that ties look at.
bool rounds(const Format& f, const Rounding& rounding) {
  if (!rounding.stochastic()) return rounding.mode == RoundingMode::rne;
  return rounding.random_bits + 2 <= 64 - f.width();
}

}  // namespace

ElementwiseWay tapered_way(const ElementTask& task) {
  if (task.op != Operation::convert || task.flags || !task.to.is_tapered() ||
      task.to.width() > widest || task.operands[0] != binary32 ||
      !rounds(task.to, task.env.rounding))
    return nullptr;
  return std::make_unique<Tapered>(task.to, task.env.rounding);
}

}  // namespace widthwise
