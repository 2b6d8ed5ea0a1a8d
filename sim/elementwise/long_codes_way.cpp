#include <cstdlib>

#include "long_codes.hpp"
#include "way.hpp"

// Codes of other systems than floats, of 17 to 32 bits, as the machine's floats: a double has every
// one of them (docs/exactness.md, 76).
namespace widthwise {
namespace {

constexpr int shortest = 17, longest = 32;
constexpr std::int64_t furthest = 900;  // digits of fixed point

class Read final : public Elementwise::Way {
 public:
  explicit Read(const ElementTask& task) : codes_(task.operands[0]), to_(task.to) {}
  const char* name() const final { return "long codes"; }
  void run(const ElementArrays& x) const final {
    const auto* codes = static_cast<const std::uint32_t*>(x.operands[0]);
    if (to_ == binary32)
      elements::to_numbers(codes_, codes, x.count, static_cast<float*>(x.result));
    else
      elements::to_numbers(codes_, codes, x.count, static_cast<double*>(x.result));
  }

 private:
  elements::LongCodes codes_;
  Format to_;
};

}  // namespace

ElementwiseWay long_codes_way(const ElementTask& task) {
  if (task.op != Operation::convert || task.flags || task.env.rounding != Rounding() ||
      task.env.nan != NanResult::canonical || (task.to != binary32 && task.to != binary64))
    return nullptr;
  const Format& from = task.operands[0];
  if ((!from.is_fixed() && !from.is_tapered()) || from.width() < shortest ||
      from.width() > longest || std::abs(from.least_digit()) > furthest)
    return nullptr;
  return std::make_unique<Read>(task);
}

}  // namespace widthwise
