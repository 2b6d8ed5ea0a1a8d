#include "block_stimuli.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "block_division.hpp"
#include "block_run.hpp"
#include "block_scaling.hpp"
#include "numbers.hpp"
#include "stored_codes.hpp"
#include "widthwise/sim/operands.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise::hdl {
namespace {

constexpr std::size_t most_lanes = 128;  // that vectors look at one by one

class Blocks {
 public:
  Blocks(const BlockQuantisation& q, std::uint64_t seed) : q_(q), run_(q), random_(seed) {}

  std::vector<Stimulus> directed() {
    for (const Code& code : named()) {
      alone(code);
      among(code, drawn(64));
    }
    q_.to.power_of_two() ? at_turns(scaling_of(q_)) : at_quotients();
    for (int i = 0; i < 64; ++i) half_way();
    lane_by_lane();
    return std::move(all_);
  }

  std::vector<Stimulus> random(std::size_t count) {
    while (all_.size() < count) all_.size() % 2 ? add(near()) : add(drawn(1));
    return std::move(all_);
  }

 private:
  using Numbers = std::vector<Code>;

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }
  // At the first of them where the second is below it.
  std::int64_t between(std::int64_t a, std::int64_t b) {
    return a + below(std::max<std::int64_t>(b - a, 0) + 1);
  }
  Code number(std::int64_t m, std::int64_t e) {
    const Code code = apply(Operation::convert, q_.from, {whole(m, e)}).code;
    return below(2) ? negated(q_.from, code) : code;
  }

  std::vector<Code> named() const {
    std::vector<Code> all;
    for (const NamedCode which : named_codes)
      if (const auto limbs = find_code(q_.from, which)) {
        Code code;
        std::ranges::copy(*limbs, code.limb);
        all.push_back(code);
        if (q_.from.is_signed()) all.push_back(within(q_.from, code | sign_of(q_.from)));
      }
    return all;
  }

  // Sim's operands, at places of their own.
  Numbers drawn(std::uint64_t stream) {
    Bytes bytes = stored(Numbers(q_.numbers()), q_.from);
    void* at = bytes.data();
    random_operands(q_.from, stream, random_() >> 16, q_.numbers(), {&at, 1});
    return loaded(bytes, q_.from);
  }

  // Within some binades of one that is anywhere: their quotients are numbers of every size.
  Numbers near() {
    const std::int64_t top = any_exponent();
    const std::int64_t spread = between(0, 2 + q_.to.element.rounding_digits() * 2);
    Numbers all;
    for (std::size_t i = 0; i < q_.numbers(); ++i)
      all.push_back(near_exponent(top - between(0, spread)));
    return all;
  }
  // Of a source's number; every second time of one that a tensor's scale brings into its range.
  std::int64_t any_exponent() {
    const std::int64_t least = q_.from.least_digit(), most = q_.from.emax();
    if (!q_.to.takes_tensor_scale() || below(2)) return between(least, most);
    const std::int64_t one = std::ilogb(q_.tensor_scale) + q_.to.element.emax();
    return std::clamp(between(one - 12, one + 10), least, most);
  }
  Code near_exponent(std::int64_t e) {
    const int digits = q_.from.precision();
    const std::int64_t one = std::int64_t{1} << (digits - 1);
    const std::int64_t rest = below(one) & (below(2) ? -1 : -(one >> below(digits)));
    return number(one | rest, e - digits + 1);
  }

  // Significands at and beside those where the scale turns, or a binade ends.
  void at_turns(const BlockScaling& scaling) {
    const int digits = q_.from.precision();
    const auto one = std::int64_t{1} << (digits - 1);
    const auto up = static_cast<std::int64_t>(scaling.up),
               down = static_cast<std::int64_t>(scaling.down);
    for (const std::int64_t turn : {up, down, one, 2 * one})
      for (const std::int64_t by : {-1, 0, 1})
        for (const std::int64_t e : exponents(scaling)) {
          const std::int64_t m = turn + by;
          if (m >= one && m < 2 * one) largest_is(m, e);
        }
  }

  // Of largest magnitudes: the ends of the source, those at which scales are clamped, some between.
  std::vector<std::int64_t> exponents(const BlockScaling& scaling) {
    const std::int64_t least = q_.from.least_digit(), most = q_.from.emax();
    std::vector<std::int64_t> all{least, q_.from.emin(), most, between(least, most)};
    for (const std::int64_t end : {-scaling.top, std::int64_t{0}, scaling.top})
      for (const std::int64_t by : {-1, 0, 1}) all.push_back(scaling.emax + end + by);
    std::erase_if(all, [&](std::int64_t e) { return e < least || e > most; });
    return all;
  }

  void largest_is(std::int64_t m, std::int64_t e) {
    Numbers x;
    for (std::size_t i = 0; i < q_.numbers(); ++i)
      x.push_back(near_exponent(e - between(1, 2 + q_.to.element.rounding_digits())));
    among(number(m, e - q_.from.precision() + 1), std::move(x));
  }

  // Largest magnitudes half way between two that are over scales, and beside that; under each the
  // like of its elements.
  void at_quotients() {
    const double most =
        value(largest_code(q_.to.element), q_.to.element) * static_cast<double>(q_.tensor_scale);
    for (int i = 0; i < 384; ++i) {
      const Code amax = beside(middle(q_.to.scale) * most);
      Numbers x(q_.numbers());
      x.back() = amax;
      const double by = run_.divisor(run_.quantised(x).scale);
      for (Code& each : x) each = beside(middle(q_.to.element) * by);
      among(amax, std::move(x));
    }
  }

  static double value(const Code& code, const Format& f) {
    return std::bit_cast<double>(apply(Operation::convert, binary64, {{f, code}}).code.limb[0]);
  }

  // Of two neighbouring numbers above zero.
  double middle(const Format& f) {
    for (;;) {
      const Number x{f, random_code(f, random_)}, above = apply(Operation::next_up, f, {x});
      const double low = value(x.code, f), high = value(above.code, f);
      if (low >= 0 && high > low && std::isfinite(high)) return (low + high) / 2;
    }
  }

  // A source's number of either sign at a place or next to it.
  Code beside(double x) { return beside(x, between(-1, 1)); }
  Code beside(double x, std::int64_t by) {
    const Number place{binary64, Code(std::bit_cast<std::uint64_t>(x))};
    Number near = apply(Operation::convert, q_.from, {place});
    if (by != 0) near = apply(by < 0 ? Operation::next_down : Operation::next_up, q_.from, {near});
    return below(2) ? negated(q_.from, near.code) : near.code;
  }

  // Over a scale of 2^e: odd multiples of half an element's last place.
  void half_way() {
    const int digits = q_.to.element.rounding_digits() + 1;
    const std::int64_t e = between(q_.from.emin() + 2 * digits, q_.from.emax() - digits);
    Numbers x;
    for (std::size_t i = 0; i < q_.numbers(); ++i)
      x.push_back(number(2 * below(std::int64_t{1} << std::min(digits, 40)) + 1,
                         e - digits - between(0, digits)));
    add(std::move(x));
  }

  // What one lane alone loses: the block's largest number, whose quotient is near the largest
  // element, and is it in binary32 about every second time; and one half way between two elements,
  // under a scale that is exact.
  void lane_by_lane() {
    const double most = value(largest_code(q_.to.element), q_.to.element);
    const int times = q_.to.scale == binary32 ? 6 : 1;
    for (std::size_t i = 0; i < std::min(q_.numbers(), most_lanes); ++i) {
      Numbers x(q_.numbers());
      for (int k = 0; k < times; ++k) {
        x[i] = near_exponent(any_exponent());
        add(x);
      }
      if (x.size() == 1) continue;
      const double by = std::ldexp(double{q_.tensor_scale}, static_cast<int>(between(-4, 4)));
      x[i] = beside(middle(q_.to.element) * by, 0);
      x[(i + 1) % x.size()] = beside(most * by, 0);
      add(std::move(x));
    }
  }

  void alone(const Code& code) { among(code, Numbers(q_.numbers())); }
  void among(const Code& code, Numbers x) {
    x[static_cast<std::size_t>(below(static_cast<std::int64_t>(x.size())))] = code;
    add(std::move(x));
  }
  void add(Numbers x) {
    all_.push_back({.a = std::move(x), .b = {}, .c = {}, .scale_a = {}, .scale_b = {}});
  }

  const BlockQuantisation& q_;
  BlockRun run_;
  Random random_;
  std::vector<Stimulus> all_;
};

// Codes of a tensor's scale: those that are none, and at the ends of what is one.
constexpr std::uint32_t scales_at_ends[] = {
    0,          0x80000000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
    0x00000001, 0x007fffff, 0x00800000, 0x3f800000, 0x3eaaaaab, 0x7f7fffff};

// Half of all bring numbers of some size into the range of elements.
std::uint32_t random_scale(Random& random) {
  const auto any = static_cast<std::uint32_t>(random() >> 33);
  return random() % 2 ? any
                      : (any & 0x7fffff) | static_cast<std::uint32_t>(95 + random() % 64) << 23;
}

// A port's blocks are those under constants; where its code is none, under 1.
template <class Make>
std::vector<Stimulus> at_port(const BlockQuantisation& q, std::uint32_t code, const Make& make) {
  BlockQuantisation one = q;
  one.tensor_scale_port = false;
  std::vector<Stimulus> all = make(q.under(code).value_or(one));
  for (Stimulus& x : all) x.b = {Code(std::uint64_t{code})};
  return all;
}

}  // namespace

// Of a port's, each scale has its share.
std::vector<Stimulus> directed_blocks(const BlockQuantisation& q, std::uint64_t seed) {
  const auto make = [&](const BlockQuantisation& own) { return Blocks(own, seed).directed(); };
  if (!q.tensor_scale_port) return make(q);
  Random random(seed);
  std::vector<std::uint32_t> codes(std::begin(scales_at_ends), std::end(scales_at_ends));
  while (codes.size() < 24) codes.push_back(random_scale(random));
  std::vector<Stimulus> all;
  for (std::size_t at = 0; at < codes.size(); ++at) {
    const std::vector<Stimulus> some = at_port(q, codes[at], make);
    for (std::size_t i = at; i < some.size(); i += codes.size()) all.push_back(some[i]);
  }
  return all;
}

std::vector<Stimulus> random_blocks(const BlockQuantisation& q, std::uint64_t seed,
                                    std::size_t count) {
  if (!q.tensor_scale_port) return Blocks(q, seed + 1).random(count);
  constexpr std::size_t each = 4;
  Random random(seed);
  std::vector<Stimulus> all;
  while (all.size() < count) {
    const auto make = [&, own_seed = random()](const BlockQuantisation& own) {
      return Blocks(own, own_seed).random(std::min(each, count - all.size()));
    };
    std::ranges::move(at_port(q, random_scale(random), make), std::back_inserter(all));
  }
  return all;
}

}  // namespace widthwise::hdl
