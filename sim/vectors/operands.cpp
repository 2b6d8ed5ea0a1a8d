#include "widthwise/sim/operands.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "widthwise/layout.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/wide.hpp"

namespace widthwise {
namespace {

// Random words of one element: as many as are asked for.
class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t index) : where_{seed, index} {}
  std::uint64_t word() { return random_bits(64, where_, Slot::product, step_++); }
  int below(int n) { return static_cast<int>(word() % static_cast<std::uint64_t>(n)); }
  template <class U>
  U bits(int n) {
    U x{};
    for (int done = 0; done < n; done += 64) {
      if constexpr (digits < U >> 64) x = x << 64;
      x = x | U(word());
    }
    return n == 0 ? U{} : U(x & ones<U>(n));
  }

 private:
  Where where_;
  std::uint64_t step_ = 0;
};

// How the operands of one vector hang together.
enum class Company { landmarks, edges, any };

template <class U>
class CodeMaker {
 public:
  explicit CodeMaker(const Format& f) : f_(f), layout_(f) {}

  U make(Draw& draw, Company company, bool has_first, const U& first) const {
    if (company == Company::landmarks) return draw_sign(draw) | landmark(draw);
    if (company == Company::edges) {
      const bool beside = has_first && draw.below(2);
      return draw_sign(draw) | (beside ? next_to(draw, first) : edge(draw)) | pattern(draw);
    }
    switch (draw.below(has_first ? 8 : 5)) {
      case 0: return draw.bits<U>(f_.width());
      case 1: return draw_sign(draw) | landmark(draw);
      case 2: return draw_sign(draw) | exponent(draw) | draw.bits<U>(f_.frac_bits);
      case 3: return draw_sign(draw) | exponent(draw) | pattern(draw);
      case 4: return draw_sign(draw) | near_one(draw) | pattern(draw);
      case 5: return draw_sign(draw) | near(draw, first) | pattern(draw);
      case 6: return draw_sign(draw) | near(draw, first) | draw.bits<U>(f_.frac_bits);
      default: return almost(draw, first);
    }
  }

 private:
  U draw_sign(Draw& draw) const { return draw.below(2) ? layout_.sign : U{}; }
  U exponent(Draw& draw) const { return draw.bits<U>(f_.exp_bits) << f_.frac_bits; }
  U held(const U& magnitude) const { return magnitude & layout_.magnitude_mask; }

  // Zero, the subnormals' ends, the largest number, infinity, NaN, and up to two codes beside them.
  U landmark(Draw& draw) const {
    const U marks[] = {
        U{},
        layout_.hidden,
        layout_.max_finite,
        held(layout_.infinity),
        held(layout_.nan_code),
        U(static_cast<std::uint64_t>(std::clamp<std::int64_t>(f_.bias, 0, layout_.top_field)))
            << f_.frac_bits};
    return held(U(marks[draw.below(6)] + U(static_cast<std::uint64_t>(draw.below(5))) - U(2)));
  }
  // Fractions at which carries run, ties fall and one digit decides.
  U pattern(Draw& draw) const {
    if (f_.frac_bits == 0) return {};
    const U one(1);
    const U low = U(one << draw.below(f_.frac_bits));
    switch (draw.below(4)) {
      case 0: return low;
      case 1: return low - one;
      case 2: return layout_.fraction_mask ^ U(low - one);
      default: return layout_.fraction_mask ^ low;
    }
  }
  U field(std::int64_t e) const {
    return U(static_cast<std::uint64_t>(std::clamp<std::int64_t>(e, 0, layout_.top_field)))
           << f_.frac_bits;
  }
  // The ends of the range, and half way to them: products of those reach the ends.
  U edge(Draw& draw) const {
    const std::int64_t top = layout_.top_field,
                       place[] = {0, top, (f_.bias + 1) / 2, (f_.bias + top) / 2};
    return field(place[draw.below(4)] + draw.below(7) - 3);
  }
  U near_one(Draw& draw) const { return field(f_.bias + draw.below(9) - 4); }
  std::int64_t field_of(const U& code) const {
    return static_cast<std::int64_t>(U(code & layout_.magnitude_mask) >> f_.frac_bits);
  }
  U next_to(Draw& draw, const U& first) const { return field(field_of(first) + draw.below(5) - 2); }
  // The exponents within two significands of another's.
  U near(Draw& draw, const U& first) const {
    const int reach = 2 * f_.precision() + 3;
    return field(field_of(first) + draw.below(2 * reach) - reach);
  }
  U almost(Draw& draw, const U& first) const {
    const U flipped =
        U(static_cast<std::uint64_t>(draw.below(8))) & ones<U>(std::min(3, f_.width()));
    return first ^ layout_.sign ^ flipped;
  }

  Format f_;
  Layout<U> layout_;
};

// Codes that are integers, in two's complement or without a sign: fixed point, posits, takums.
template <class U>
class IntegerMaker {
 public:
  explicit IntegerMaker(const Format& f)
      : f_(f), places_(std::max(f.frac_bits, 1)), mask_(ones<U>(f.width())) {}

  U make(Draw& draw, Company company, bool has_first, const U& first) const {
    if (company == Company::landmarks) return beside(draw, landmark(draw));
    if (company == Company::edges) return either_sign(draw, edge(draw));
    switch (draw.below(has_first ? 8 : 4)) {
      case 0: return draw.bits<U>(f_.width());
      case 1:
      case 2: return beside(draw, landmark(draw));
      case 3: return either_sign(draw, draw.bits<U>(1 + draw.below(places_)));
      case 4: return either_sign(draw, edge(draw));
      case 5: return beside(draw, first);
      case 6: return beside(draw, opposite(first));
      default: return first ^ power(draw.below(f_.width()));
    }
  }

 private:
  static U power(int n) { return U(1) << n; }
  U opposite(const U& code) const { return U(U{} - code) & mask_; }
  U either_sign(Draw& draw, const U& code) const {
    return draw.below(2) ? code & mask_ : opposite(code);
  }
  U beside(Draw& draw, const U& code) const {
    const U near = U(code + U(static_cast<std::uint64_t>(draw.below(5)))) - U(2);
    return either_sign(draw, near & mask_);
  }
  U largest() const { return ones<U>(f_.frac_bits); }
  U one() const {
    const std::int64_t place = f_.is_fixed() ? -f_.least_digit() : f_.frac_bits - 1;
    return power(static_cast<int>(std::clamp<std::int64_t>(place, 0, places_ - 1)));
  }

  // Zero, one, the ends, NaR or the least integer, and powers of two: where the regime of a posit
  // changes its length, and where a sum gains a digit.
  U landmark(Draw& draw) const {
    switch (draw.below(10)) {
      case 0: return {};
      case 1: return U(1);
      case 2: return largest();
      case 3: return power(f_.width() - 1);
      case 4: return one();
      case 5:
      case 6:
      case 7: return power(draw.below(places_));
      default: return largest() ^ U(power(draw.below(places_)) - U(1));
    }
  }
  // Near an end, and half way to it: products of those reach the ends. Few digits, or all.
  U edge(Draw& draw) const {
    const int at[] = {0, places_ / 2, places_ - 1};
    const int place = std::clamp(at[draw.below(3)] + draw.below(3) - 1, 0, places_ - 1);
    const U start = draw.below(2) ? power(place) : U(largest() ^ U(power(place) - U(1)));
    return start ^ (draw.below(2) ? draw.bits<U>(place) : U{});
  }

  Format f_;
  int places_;  // of a magnitude's bits; a format of one bit has a sign alone
  U mask_;
};

template <class Maker, class U>
void fill(const Format& f, std::uint64_t seed, std::uint64_t first, std::size_t count,
          std::span<void* const> operands) {
  const Maker maker(f);
  const int bytes = item_bytes(f.width());
  for (std::size_t i = 0; i < count; ++i) {
    Draw draw(seed, first + i);
    const int kind = draw.below(8);
    const Company company = kind == 0   ? Company::landmarks
                            : kind == 1 ? Company::edges
                                        : Company::any;
    U a{};
    for (std::size_t j = 0; j < operands.size(); ++j) {
      const U code = maker.make(draw, company, j > 0, a);
      if (j == 0) a = code;
      store_code(static_cast<std::byte*>(operands[j]) + i * static_cast<std::size_t>(bytes), bytes,
                 code);
    }
  }
}

template <class U>
void fill_by_system(const Format& f, std::uint64_t seed, std::uint64_t first, std::size_t count,
                    std::span<void* const> operands) {
  if (f.is_float()) return fill<CodeMaker<U>, U>(f, seed, first, count, operands);
  fill<IntegerMaker<U>, U>(f, seed, first, count, operands);
}

// A digit more: its codes are those of the format and the borders between them.
std::optional<Format> with_borders(const Format& f) {
  if (f.is_fixed()) return fixed_format(f.width() + 1, 1 - f.least_digit(), f.is_signed());
  if (!f.is_tapered() || f.width() == max_tapered_width) return {};
  return f.is_posit() ? posit_format(f.width() + 1, f.exp_bits) : takum_format(f.width() + 1);
}

template <class U>
void move_to(const Format& f, const std::vector<std::byte>& borders, std::uint64_t seed,
             std::uint64_t first, std::size_t count, std::byte* operands) {
  const int bytes = item_bytes(f.width());
  for (std::size_t i = 0; i < count; ++i) {
    Draw draw(~seed, first + i);
    const std::size_t at = i * static_cast<std::size_t>(bytes);
    const int far = draw.below(12) - 1;
    if (far > 1) continue;
    const U code = load_code<U>(borders.data() + at, bytes);
    const U near = far < 0 ? code - U(1) : code + U(static_cast<std::uint64_t>(far));
    store_code(operands + at, bytes, near & ones<U>(f.width()));
  }
}

}  // namespace

void random_operands(const Format& f, std::uint64_t seed, std::uint64_t first, std::size_t count,
                     std::span<void* const> operands) {
  if (f.magnitude_bits() < 64)
    return fill_by_system<std::uint64_t>(f, seed, first, count, operands);
  fill_by_system<Wide<65>>(f, seed, first, count, operands);
}

void operands_to_borders(const Format& f, const Format& to, std::uint64_t seed, std::uint64_t first,
                         std::size_t count, void* operands) {
  const std::optional<Format> wider = to.is_float() ? std::nullopt : with_borders(to);
  if (!wider) return;
  std::vector<std::byte> there(count * static_cast<std::size_t>(item_bytes(wider->width())));
  std::vector<std::byte> here(count * static_cast<std::size_t>(item_bytes(f.width())));
  void* at[] = {there.data()};
  random_operands(*wider, seed, first, count, at);
  const CodeArray given{*wider, there.data()};
  elementwise(Operation::convert, f, {}, std::span(&given, 1), count, here.data(), nullptr);
  auto* codes = static_cast<std::byte*>(operands);
  if (f.magnitude_bits() < 64) return move_to<std::uint64_t>(f, here, seed, first, count, codes);
  move_to<Wide<65>>(f, here, seed, first, count, codes);
}

void random_integers(IntegerType type, std::uint64_t seed, std::uint64_t first, std::size_t count,
                     std::uint64_t* result) {
  for (std::size_t i = 0; i < count; ++i) {
    Draw draw(seed, first + i);
    std::uint64_t x = draw.word() >> draw.below(type.width);  // every magnitude
    if (draw.below(2)) x = (std::uint64_t{1} << draw.below(type.width)) + x % 5 - 2;
    if (draw.below(2)) x = 0 - x;
    if (type.width == 32)
      x = type.is_signed ? static_cast<std::uint64_t>(static_cast<std::int32_t>(x))
                         : x & 0xffffffff;
    result[i] = x;
  }
}

}  // namespace widthwise
