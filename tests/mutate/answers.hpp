#pragma once
#include <cstdint>
#include <iterator>
#include <limits>

#include "widthwise/format.hpp"
#include "widthwise/rounding.hpp"
#include "widthwise/sim/operation.hpp"

// One stream of questions, and for each subject a digest of all the answers, flags included. The
// kill test asks the definition; tests/lib/test_digests.cpp asks the oracles, and so vouches for
// the digests that the kill test compares with.
//
// An engine has
//   void set(const Format& a, const Format& b, const Format& c, const Format& to, const Env& env);
//   Answer operate(Operation op, Code a, Code b, Code c, Code random);
//   Answer scaleb(Code a, std::int64_t n, Code random);
//   Answer to_integer(IntegerType type, Code a, Code random);
//   Answer from_integer(IntegerType type, Code integer, Code random);
//   Answer compare(Comparison what, Code a, Code b);     code: 0 or 1
//   Answer class_of(Code a);                             code: as NumberClass counts
namespace mutate {

using namespace widthwise;
using Code = std::uint64_t;

struct Answer {
  Code code;
  Flags flags;
};

class Digest {
 public:
  void operator+=(const Answer& x) {
    value_ = (value_ ^ (x.code << 8 | static_cast<Code>(x.flags))) * 0x9e3779b97f4a7c15;
    value_ ^= value_ >> 29;
  }
  Code value() const { return value_; }

 private:
  Code value_ = 0x243f6a8885a308d3;
};

class Draw {  // splitmix64
 public:
  Code operator()() {
    Code z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  Code state_ = 1;
};

constexpr Format with(Format f, auto change) {
  change(f);
  return f;
}

// Every kind of encoding and policy, in at most six bits.
inline constexpr Format small_formats[] = {
    e2m1fn,
    e3m2fn,
    ieee_format(2, 2),
    ieee_format(3, 1),
    with(ieee_format(3, 1), [](Format& f) { f.sign = Sign::none; }),
    with(ieee_format(2, 2), [](Format& f) { f.inf = InfCodes::none; }),
    with(ieee_format(2, 2), [](Format& f) { f.subnormals = false; }),
    with(ieee_format(3, 1), [](Format& f) { f.bias = 9; }),
    with(ieee_format(2, 2), [](Format& f) { f.bias = -7; }),
    with(ieee_format(2, 2), [](Format& f) { f.daz = true; }),
    with(ieee_format(2, 2), [](Format& f) { f.ftz = true; }),
    with(ieee_format(2, 2), [](Format& f) { f.overflow = Overflow::max; }),
    with(ieee_format(2, 2), [](Format& f) { f.overflow = Overflow::nan; }),
    with(ieee_format(2, 2), [](Format& f) { f.overflow = Overflow::inf; }),
    with(finite_format(3, 1), [](Format& f) { f.overflow = Overflow::inf; }),
    with(finite_format(2, 2), [](Format& f) { f.inf = InfCodes::top; }),
    with(finite_format(2, 2), [](Format& f) { f.nan = NanCodes::all_ones; }),
    with(finite_format(2, 2),
         [](Format& f) { f.nan = NanCodes::all_ones, f.overflow = Overflow::max; }),
    with(finite_format(2, 1), [](Format& f) { f.zero = false; }),
    with(finite_format(2, 1), [](Format& f) { f.subnormals = false; }),
    with(finite_format(3, 0), [](Format& f) { f.subnormals = false; }),
    with(finite_format(2, 2),
         [](Format& f) { f.zero = false, f.sign = Sign::none, f.nan = NanCodes::all_ones; }),
    with(finite_format(3, 0), [](Format& f) { f.nan = NanCodes::all_ones; }),
    finite_format(1, 3),
    fnuz_format(2, 2, 2),
    with(fnuz_format(2, 2, 1), [](Format& f) { f.daz = f.ftz = true; }),
    p3109_format(5, 1, true, true),
    p3109_format(5, 3, true, true),
    p3109_format(5, 4, false, false),
    with(e8m0fnu, [](Format& f) { f.exp_bits = 4, f.bias = 7; }),
};

// Longer ones, which use up a carrier of 32 digits or nearly.
inline constexpr Format long_formats[] = {binary32, ieee_format(4, 26), ieee_format(3, 20)};

inline constexpr IntegerType integer_types[] = {{32, true}, {32, false}, {64, true}, {64, false}};

constexpr int random_bits_of_small = 6, random_bits_of_long = 1;

// Deterministic modes under both rules of tininess, then the stochastic variants.
constexpr int environments = 2 * deterministic_modes + 3;
inline Env environment(int i, int k) {
  if (i < 2 * deterministic_modes)
    return {.rounding = static_cast<RoundingMode>(i % deterministic_modes),
            .tininess = static_cast<Tininess>(i / deterministic_modes)};
  const auto variant = static_cast<StochasticVariant>(i - 2 * deterministic_modes);
  return {.rounding = Rounding(k, variant), .tininess = Tininess::after_rounding};
}

inline Code size(const Format& f) { return Code{1} << f.width(); }

template <class Engine, class Ask>
Code in_small_environments(Engine& engine, const Format& f, const Format& g, const Format& to,
                           Digest& digest, const Ask& ask) {
  Draw draw;
  for (int e = 0; e < environments; ++e) {
    engine.set(f, g, f, to, environment(e, random_bits_of_small));
    const bool stochastic = e >= 2 * deterministic_modes;
    ask([&] { return stochastic ? draw() >> (64 - random_bits_of_small) : 0; });
  }
  return digest.value();
}

// Every pair of codes of every small format; operands, then results of the next format in line.
template <class Engine>
Code pairs(Engine& engine, Operation op) {
  Digest digest;
  const std::size_t count = std::size(small_formats);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t shift : {0u, 5u}) {
      if (shift != 0 && op == Operation::copysign) continue;
      const Format &f = small_formats[i], &g = small_formats[(i + shift) % count];
      const Format& to = small_formats[(i + 2 * shift) % count];
      in_small_environments(engine, f, g, to, digest, [&](const auto& random) {
        for (Code a = 0; a < size(f); ++a)
          for (Code b = 0; b < size(g); ++b) digest += engine.operate(op, a, b, 0, random());
      });
    }
  return digest.value();
}

// Every code of every small format, results in every one of them.
template <class Engine>
Code codes(Engine& engine, Operation op) {
  Digest digest;
  for (const Format& f : small_formats)
    for (const Format& to : small_formats)
      in_small_environments(engine, f, f, to, digest, [&](const auto& random) {
        for (Code a = 0; a < size(f); ++a) digest += engine.operate(op, a, 0, 0, random());
      });
  return digest.value();
}

template <class Engine>
Code own_codes(Engine& engine, Operation op) {
  Digest digest;
  for (const Format& f : small_formats) {
    engine.set(f, f, f, f, {});
    for (Code a = 0; a < size(f); ++a) digest += engine.operate(op, a, 0, 0, 0);
  }
  return digest.value();
}

// Three codes of every small format, each in one environment.
template <class Engine>
Code triples(Engine& engine) {
  Digest digest;
  Draw draw;
  for (const Format& f : small_formats)
    for (int e = 0; e < environments; ++e) {
      engine.set(f, f, f, f, environment(e, random_bits_of_small));
      const bool stochastic = e >= 2 * deterministic_modes;
      for (int i = 0; i < 1'000; ++i) {
        const Code a = draw() % size(f), b = draw() % size(f), c = draw() % size(f);
        const Code random = stochastic ? draw() >> (64 - random_bits_of_small) : 0;
        digest += engine.operate(Operation::fma, a, b, c, random);
      }
    }
  return digest.value();
}

template <class Engine>
Code powers(Engine& engine) {
  Digest digest;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Format& f : small_formats)
    for (int e = 0; e < environments; e += 3) {
      engine.set(f, f, f, f, environment(e, random_bits_of_small));
      for (Code a = 0; a < size(f); ++a) {
        for (std::int64_t n = -18; n <= 18; ++n) digest += engine.scaleb(a, n, 1);
        for (std::int64_t n : {-most - 1, -most, most}) digest += engine.scaleb(a, n, 1);
      }
    }
  return digest.value();
}

template <class Engine>
Code comparisons(Engine& engine) {
  Digest digest;
  for (const Format& f : small_formats) {
    engine.set(f, f, f, f, {});
    for (Code a = 0; a < size(f); ++a) {
      digest += engine.class_of(a);
      for (Code b = 0; b < size(f); ++b)
        for (int what = 0; what <= static_cast<int>(Comparison::total_order_magnitude); ++what)
          digest += engine.compare(static_cast<Comparison>(what), a, b);
    }
  }
  return digest.value();
}

// Operands whose integers lie at the ends of 32 and 64 bits, and anything smaller.
template <class Engine>
Code integers(Engine& engine) {
  Digest digest;
  Draw draw;
  const Format f = ieee_format(8, 7);
  for (int e = 0; e < environments; ++e) {
    const Env env = environment(e, random_bits_of_small);
    engine.set(f, f, f, f, env);
    for (const IntegerType& type : integer_types) {
      for (Code exponent = 118; exponent < 194; ++exponent)
        for (int i = 0; i < 24; ++i) {
          const Code fraction = i < 8 ? (i % 2 ? 0x7f : 0x40) >> (i / 2) : draw() % 128;
          const Code a = exponent << 7 | fraction | (i % 4 > 1 ? 0x8000 : 0);
          digest += engine.to_integer(type, a, draw() % 64);
        }
      for (Code a :
           {0x0ull, 0x8000ull, 0x7f80ull, 0xff80ull, 0x7fc0ull, 0xffc0ull, 0x7f81ull, 1ull})
        digest += engine.to_integer(type, a, 0);
      for (int n = 0; n < type.width; ++n)
        for (Code below : {Code{0}, Code{1}, draw()}) {
          const Code mask = ~Code{0} >> (64 - type.width);
          digest += engine.from_integer(type, ((Code{1} << n) - below) & mask, draw() % 64);
        }
    }
  }
  return digest.value();
}

// Digits to spare are few here: what is jammed decides. Exponents close, fractions of long runs.
inline Code long_code(const Format& f, Code exponent, Draw& draw) {
  if (draw() % 16 == 0) return 0;
  const int runs = static_cast<int>(draw() % 4);
  const Code x = draw(), n = draw() % 30, m = draw() % 30;
  const Code fraction = runs == 0 ? x : runs == 1 ? x >> n << n : (~Code{0} << n) ^ (~Code{0} << m);
  const Code field = exponent + draw() % (2 * static_cast<Code>(f.precision()));
  const Code top = static_cast<Code>(f.top_field());
  return (field % (top + 1)) << f.frac_bits | (fraction & ((Code{1} << f.frac_bits) - 1)) |
         (draw() % 2 ? Code{1} << f.magnitude_bits() : 0);
}

template <class Engine>
Code long_ones(Engine& engine, Operation op) {
  Digest digest;
  Draw draw;
  for (const Format& f : long_formats)
    for (const Format& to : {f, binary32})
      for (int e = 0; e < environments; ++e) {
        engine.set(f, f, f, to, environment(e, random_bits_of_long));
        for (int i = 0; i < 200; ++i) {
          const Code exponent = draw() % 256;
          const Code a = long_code(f, exponent, draw), b = long_code(f, exponent, draw);
          const Code product = 2 * exponent - static_cast<Code>(f.bias);
          const Code c = long_code(f, i % 4 ? product : 0, draw);
          digest += engine.operate(op, a, b, c, e >= 2 * deterministic_modes ? draw() % 2 : 0);
        }
      }
  return digest.value();
}

}  // namespace mutate
