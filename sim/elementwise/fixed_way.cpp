#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "draw_bits.hpp"
#include "fixed_lanes.hpp"
#include "way.hpp"

// Conversions of the machine's floats to fixed point: a product with a power of two, rounded to an
// integer and brought into the format's range, on floats or doubles (docs/exactness.md, 69).
namespace widthwise {

namespace elements {

bool saturates(const Format& f) {
  return f.is_fixed() && (f.overflow == Overflow::ieee || f.overflow == Overflow::symmetric);
}

FixedSteps::FixedSteps(const Format& f, const Rounding& r)
    : up(std::ldexp(1.0, static_cast<int>(-f.least_digit()))),
      low(0),
      high(std::ldexp(1.0, f.frac_bits) - 1),
      overflow(f.overflow),
      rounding(r),
      mask(static_cast<std::uint32_t>((std::uint64_t{1} << f.width()) - 1)) {
  if (f.is_signed()) low = f.overflow == Overflow::symmetric ? -high : -high - 1;
  constexpr double endless = std::numeric_limits<double>::infinity();
  least = saturates(f) ? low : -endless;
  most = saturates(f) ? high : endless;
}

}  // namespace elements

namespace {

constexpr int widest_fixed = 32;
constexpr std::int64_t most_fraction = 900;
constexpr int most_random = 52;
constexpr int most_bits_of_floats = 22;  // of a code, and random ones
constexpr std::int64_t most_fraction_of_floats = 100;
constexpr std::size_t fixed_piece = 1024;  // numbers between the two steps

// Numbers of type T by steps on numbers of type V.
template <class T, class V>
class Fixed final : public Elementwise::Way {
 public:
  explicit Fixed(const ElementTask& task)
      : steps_(task.to, task.env.rounding),
        bytes_(item_bytes(task.to.width())),
        saturates_(elements::saturates(task.to)) {}

  const char* name() const final { return "fixed lanes"; }

  void run(const ElementArrays& x) const final {
    const T* numbers = static_cast<const T*>(x.operands[0]);
    if constexpr (std::is_same_v<T, float> && std::is_same_v<V, float>)
      if (bytes_ == 1 && steps_.rounding.mode == RoundingMode::rne)
        return elements::to_nearest_bytes(steps_, numbers, x.count,
                                          static_cast<std::uint8_t*>(x.result));
    V integers[fixed_piece];  // codes may overwrite their numbers
    std::uint64_t room[fixed_piece];
    for (std::size_t first = 0; first < x.count; first += fixed_piece) {
      const std::size_t n = std::min(fixed_piece, x.count - first);
      const std::uint64_t* bits = elements::random_bits(steps_.rounding, x.random, first, n, room);
      elements::to_integers(steps_, numbers + first, bits, n, integers);
      if constexpr (std::is_same_v<V, double>)
        if (!saturates_) elements::into_range(steps_, n, integers);
      deliver(integers, n, x.result, first);
    }
  }

 private:
  void deliver(const V* integers, std::size_t n, void* codes, std::size_t first) const {
    const auto to = elements::fixed_codes<V>();
    switch (bytes_) {
      case 1: return to.bytes(steps_, integers, n, static_cast<std::uint8_t*>(codes) + first);
      case 2: return to.halves(steps_, integers, n, static_cast<std::uint16_t*>(codes) + first);
      default: return to.words(steps_, integers, n, static_cast<std::uint32_t*>(codes) + first);
    }
  }

  elements::FixedSteps steps_;
  int bytes_;
  bool saturates_;
};

bool fits_floats(const Format& f, const Rounding& r) {
  return elements::saturates(f) && std::max(f.width(), r.random_bits) <= most_bits_of_floats &&
         std::abs(f.least_digit()) <= most_fraction_of_floats;
}

// A sign is kept of a number that times a power of two may be as infinite as infinity, which has
// none.
bool loses_signs(const Format& from, const Format& to) {
  return to.overflow == Overflow::keep_sign && from.emax() - to.least_digit() > binary64.emax();
}

}  // namespace

ElementwiseWay fixed_way(const ElementTask& task) {
  if (task.op != Operation::convert || task.flags || !task.to.is_fixed() ||
      task.to.width() > widest_fixed || loses_signs(task.operands[0], task.to))
    return nullptr;
  if (task.env.rounding.random_bits > most_random) return nullptr;
  const std::int64_t last = task.to.least_digit();
  if (last < -most_fraction || last > most_fraction) return nullptr;
  if (task.operands[0] == binary32 && fits_floats(task.to, task.env.rounding))
    return std::make_unique<Fixed<float, float>>(task);
  if (task.operands[0] == binary32) return std::make_unique<Fixed<float, double>>(task);
  if (task.operands[0] == binary64) return std::make_unique<Fixed<double, double>>(task);
  return nullptr;
}

}  // namespace widthwise
