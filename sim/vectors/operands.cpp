#include "widthwise/sim/operands.hpp"

#include <algorithm>
#include <vector>

#include "widthwise/layout.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/codes.hpp"
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

template <class U>
class CodeMaker {
 public:
  explicit CodeMaker(const Format& f) : f_(f), layout_(f) {}

  // How the operands of one vector hang together.
  enum class Company { landmarks, edges, any };

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

template <class U>
void fill(const Format& f, std::uint64_t seed, std::uint64_t first, std::size_t count,
          std::span<void* const> operands) {
  using Company = typename CodeMaker<U>::Company;
  const CodeMaker<U> maker(f);
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

}  // namespace

void random_operands(const Format& f, std::uint64_t seed, std::uint64_t first, std::size_t count,
                     std::span<void* const> operands) {
  if (f.magnitude_bits() < 64) return fill<std::uint64_t>(f, seed, first, count, operands);
  fill<Wide<65>>(f, seed, first, count, operands);
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
