#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "chance_lanes.hpp"
#include "draw_bits.hpp"
#include "stairs.hpp"

// Conversions of binary32 to tables of up to 8 bits by random bits: towards zero and away from it
// there are stairs, and between the two the exact distances decide (docs/exactness.md, 74).
namespace widthwise {
namespace elements {
namespace {

constexpr int digits_of_doubles = 53;
constexpr std::int64_t furthest = 400;  // exponents of values, either way
constexpr std::size_t piece = 1024;

using Values = std::array<double, 256>;

double value(const TableValue& v) {
  const double magnitude = std::ldexp(static_cast<double>(v.sig), static_cast<int>(v.exp));
  return v.negative ? -magnitude : magnitude;
}

int digits_of(double x) {
  int exponent;
  const auto digits =
      static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(x), &exponent), digits_of_doubles));
  return digits == 0 ? 0 : digits_of_doubles - std::countr_zero(digits);
}

int last_digit(double x) { return std::ilogb(x) + 1 - digits_of(x); }

// Of the gap between two neighbours, or all there are where a double does not hold it; around zero
// down to the last digit of either.
int digits_between(double below, double above) {
  const double gap = above - below, of_below = above - gap;
  const bool exact = (above - (gap + of_below)) + (of_below - below) == 0;
  if (!exact) return digits_of_doubles;
  if (below < 0 && above > 0)
    return std::ilogb(gap) + 1 - std::min(last_digit(below), last_digit(above));
  return digits_of(gap);
}

int longest_gap(const Table& t) {
  int digits = 0;
  for (int i = 1; i < t.count; ++i)
    digits = std::max(digits, digits_between(value(t.values[i - 1]), value(t.values[i])));
  return digits;
}

// Whether two neighbours have different signs.
bool passes_zero(const Table& t) {
  return !t.has_zero && t.least().negative && !t.largest().negative;
}

Values values_of(const Table& t) {
  Values all{};
  for (int i = 0; i < t.count; ++i) all[t.values[i].code] = value(t.values[i]);
  return all;
}

class Draw final : public Elementwise::Way {
 public:
  Draw(const ElementTask& task, std::shared_ptr<const Stairs> towards,
       std::shared_ptr<const Stairs> away)
      : rounding_(task.env.rounding),
        values_(values_of(*task.to.table)),
        around_zero_(passes_zero(*task.to.table)),
        towards_(std::move(towards)),
        away_(std::move(away)) {}

  const char* name() const final { return "stairs by chance"; }

  void run(const ElementArrays& x) const final {
    for (std::size_t first = 0; first < x.count; first += piece)
      run_piece(static_cast<const float*>(x.operands[0]) + first, x.random, first,
                std::min(piece, x.count - first), static_cast<std::uint8_t*>(x.result) + first);
  }

 private:
  void run_piece(const float* x, const RandomSource& random, std::size_t first, std::size_t n,
                 std::uint8_t* result) const {
    const auto* words = reinterpret_cast<const std::uint32_t*>(x);
    std::uint8_t near[piece], far[piece];
    std::uint64_t room[piece];
    climb(*towards_, words, n, near);
    climb(*away_, words, n, far);
    const std::uint64_t* bits = random_bits(rounding_, random, first, n, room);
    const double whole = std::ldexp(1.0, rounding_.random_bits);
    const double less = rounding_.variant == StochasticVariant::half ? 0.5 : 0;
    choose({values_.data(), around_zero_, whole, less}, x, near, far, bits, n, result);
  }

  Rounding rounding_;
  Values values_;
  bool around_zero_;
  std::shared_ptr<const Stairs> towards_, away_;
};

// Products of a chance and a gap are exact, and nothing is subnormal.
bool exact_chances(const Table& t, const Rounding& r) {
  const bool halves = r.variant == StochasticVariant::half;
  return r.variant != StochasticVariant::even && t.top <= furthest && t.least_digit >= -furthest &&
         longest_gap(t) + r.random_bits + 1 + halves <= digits_of_doubles;
}

}  // namespace
}  // namespace elements

ElementwiseWay chance_way(const ElementTask& task) {
  const Rounding& r = task.env.rounding;
  if (task.op != Operation::convert || !r.stochastic() || !task.to.is_table() || task.flags ||
      !elements::exact_chances(*task.to.table, r))
    return nullptr;
  ElementTask steps = task;
  steps.env.rounding = RoundingMode::rtz;
  auto towards = elements::stairs_of(steps);
  steps.env.rounding = RoundingMode::raz;
  auto away = elements::stairs_of(steps);
  if (!towards || !away) return nullptr;
  return std::make_unique<elements::Draw>(task, std::move(towards), std::move(away));
}

}  // namespace widthwise
