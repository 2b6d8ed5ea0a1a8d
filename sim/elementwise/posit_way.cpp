#include <cstring>

#include "posit_lanes.hpp"
#include "way.hpp"

// Conversions of binary32 to posits of up to 32 bits, to nearest and ties to even: their patterns
// in 64 bits, rounded (docs/exactness.md, 70).
namespace widthwise {
namespace {

constexpr int most_width = 32;
constexpr std::size_t piece = 1024;

class Posits final : public Elementwise::Way {
 public:
  explicit Posits(const Format& f) : shape_{f.width(), f.exp_bits}, bytes_(item_bytes(f.width())) {}

  const char* name() const final { return "posit lanes"; }

  void run(const ElementArrays& x) const final {
    const auto* numbers = static_cast<const float*>(x.operands[0]);
    float held[piece];  // the result may overwrite the operand
    for (std::size_t first = 0; first < x.count; first += piece) {
      const std::size_t n = std::min(piece, x.count - first);
      std::memcpy(held, numbers + first, n * sizeof(float));
      deliver(held, n, x.result, first);
    }
  }

 private:
  void deliver(const float* x, std::size_t n, void* codes, std::size_t first) const {
    switch (bytes_) {
      case 1: return elements::to_posits(shape_, x, n, static_cast<std::uint8_t*>(codes) + first);
      case 2: return elements::to_posits(shape_, x, n, static_cast<std::uint16_t*>(codes) + first);
      default: return elements::to_posits(shape_, x, n, static_cast<std::uint32_t*>(codes) + first);
    }
  }

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
