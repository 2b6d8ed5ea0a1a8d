#include "posit_lanes.hpp"
#include "way.hpp"

// Conversions of binary32 to posits of up to 32 bits, to nearest and ties to even: their patterns
// in 64 bits, rounded (docs/exactness.md, 70).
namespace widthwise {
namespace {

using elements::to_posits;

constexpr int most_width = 32;

class Posits final : public Elementwise::Way {
 public:
  explicit Posits(const Format& f) : shape_{f.width(), f.exp_bits}, bytes_(item_bytes(f.width())) {}

  const char* name() const final { return "posit lanes"; }

  // Codes as long as their numbers may overwrite them: what was read is written, lane by lane.
  void run(const ElementArrays& x) const final {
    const auto* numbers = static_cast<const float*>(x.operands[0]);
    switch (bytes_) {
      case 1: return to_posits(shape_, numbers, x.count, static_cast<std::uint8_t*>(x.result));
      case 2: return to_posits(shape_, numbers, x.count, static_cast<std::uint16_t*>(x.result));
      default: return to_posits(shape_, numbers, x.count, static_cast<std::uint32_t*>(x.result));
    }
  }

 private:
  elements::PositShape shape_;
  int bytes_;
};

}  // namespace

ElementwiseWay posit_way(const ElementTask& task) {
  if (task.op != Operation::convert || task.flags || task.env.rounding.mode != RoundingMode::rne ||
      !task.to.is_posit() || task.to.width() > most_width || task.operands[0] != binary32)
    return nullptr;
  return std::make_unique<Posits>(task.to);
}

}  // namespace widthwise
