#include "widthwise/sim/rounded_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>

#include "../engine/machine_rounding.hpp"
#include "draw_bits.hpp"
#include "fixed_lanes.hpp"
#include "lane_plan.hpp"
#include "quick_chunk.hpp"
#include "tapered_lanes.hpp"
#include "value_lanes.hpp"
#include "way.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise {
namespace {

// Elements that are rounded and brought back together: codes of 16 bits stay in the second cache,
// and what is done once a piece, as setting the machine's rounding, does not count.
constexpr std::size_t piece = 16384;

// Calls f with an unsigned integer of a format's width.
template <class F>
auto with_word(const Format& own, const F& f) {
  switch (own.width()) {
    case 16: return f(std::uint16_t{});
    case 32: return f(std::uint32_t{});
    case 64: return f(std::uint64_t{});
    default:
      throw std::invalid_argument(fmt::format(
          "values are floats of 16, 32 or 64 bits, and {} has {}", to_string(own), own.width()));
  }
}

template <class Word>
constexpr Word magnitude_of(Word code) {
  return static_cast<Word>(code & static_cast<Word>(~Word{}) >> 1);
}

template <class Word>
WIDTHWISE_VECTOR_LEVELS Word largest_magnitude(const Word* x, std::size_t n) {
  constexpr std::size_t together = 256 / sizeof(Word);  // several vectors, which wait for no other
  Word most[together] = {};
  std::size_t i = 0;
  for (; i + together <= n; i += together)
    for (std::size_t j = 0; j < together; ++j) most[j] = std::max(most[j], magnitude_of(x[i + j]));
  for (; i < n; ++i) most[0] = std::max(most[0], magnitude_of(x[i]));
  return *std::max_element(most, most + together);
}

// A code's place in the order of numbers, -0 before +0.
template <class Word>
constexpr auto in_order(Word code) {
  using Signed = std::make_signed_t<Word>;
  const auto x = static_cast<Signed>(code);
  const auto turned = static_cast<Signed>(static_cast<Word>(~Word{}) >> 1);
  return static_cast<Signed>(x < 0 ? x ^ turned : x);
}

template <class Word>
struct Ends {
  std::make_signed_t<Word> low, high;
  Word infinity;
};

template <class Word>
WIDTHWISE_VECTOR_LEVELS void keep_inside(Ends<Word> ends, const Word* __restrict g,
                                         const Word* __restrict x, std::size_t n,
                                         Word* __restrict y) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = in_order(x[i]);
    const bool nan = magnitude_of(x[i]) > ends.infinity;
    const bool inside = nan | ((at >= ends.low) & (at <= ends.high));
    y[i] = static_cast<Word>(g[i] & static_cast<Word>(-static_cast<Word>(inside)));
  }
}

// Fixed point of few digits is rounded as floats are, and never written as codes.
std::optional<elements::FixedSteps> fixed_steps(const Format& own, const Format& to,
                                                const Rounding& rounding) {
  constexpr int most_random = 22, far = 120;
  const std::int64_t last = to.least_digit();
  if (own != binary32 || !elements::saturates(to) || to.width() > binary32.precision() ||
      last < -far || last + to.width() > far || rounding.random_bits > most_random)
    return std::nullopt;
  return elements::FixedSteps(to, rounding);
}

using elements::Encoding;
using elements::ValueEnds;

// Floats to floats of fewer digits, without codes.
class OnFloats {
 public:
  OnFloats(const Format& to, const Env& env, RoundingMode machine)
      : encoding_(to, env),
        rounding_(env.rounding),
        places_(rounding_.stochastic() ? encoding_.places(rounding_) : elements::RandomPlaces{}),
        machine_(machine),
        ends_(ends_of(to, env)),
        kernel_(elements::value_kernel(encoding_.quick)) {}

  void run(const float* x, std::size_t n, float* y, const RandomSource& random) const {
    const MachineRounding mode(machine_);
    const std::size_t whole = n / elements::padding * elements::padding;
    std::uint64_t room[piece];
    const std::uint64_t* bits = elements::random_bits(rounding_, random, 0, n, room);
    kernel_(encoding_, ends_, places_, x, bits, whole, y);
    if (whole == n) return;
    float rest[elements::padding] = {};
    std::uint64_t of_rest[elements::padding] = {};
    std::copy(x + whole, x + n, rest);
    if (bits) std::copy(bits + whole, bits + n, of_rest);
    kernel_(encoding_, ends_, places_, rest, of_rest, elements::padding, rest);
    std::copy_n(rest, n - whole, y + whole);
  }

 private:
  // What the definition makes of one number of each kind.
  static ValueEnds ends_of(const Format& to, const Env& env) {
    using Limits = std::numeric_limits<float>;
    constexpr float most = Limits::max(), infinity = Limits::infinity();
    const std::array<float, 5> x{most, -most, infinity, -infinity, Limits::quiet_NaN()};
    std::array<std::uint64_t, x.size()> codes{};
    std::array<std::uint32_t, x.size()> y;
    const std::array<Format, 1> own{binary32};
    const ElementTask there{Operation::convert, to, env, own, false, x.size()};
    const void* from = x.data();
    std::array<std::uint64_t, x.size()> bits;  // that round up, past the largest number
    bits.fill(~std::uint64_t{0} >> (64 - std::max(env.rounding.random_bits, 1)));
    integer_way(there)->run({{&from, 1}, x.size(), codes.data(), nullptr, {0, 0, bits.data()}});
    elementwise(Operation::convert, binary32, {}, std::array{CodeArray{to, codes.data()}}, x.size(),
                y.data(), nullptr);
    const auto lane = [&](std::size_t i) { return static_cast<std::int32_t>(y[i]); };
    return {{lane(0), lane(1)}, {lane(2), lane(3)}, lane(4), largest_of(to)};
  }
  static std::int32_t largest_of(const Format& to) {
    const std::uint64_t code = Layout<std::uint64_t>(to).max_finite;
    std::byte stored[sizeof code];
    store_code(stored, item_bytes(to.width()), code);
    std::int32_t bits;
    elementwise(Operation::convert, binary32, {}, std::array{CodeArray{to, stored}}, 1, &bits,
                nullptr);
    return bits;
  }

  Encoding<float> encoding_;
  Rounding rounding_;
  elements::RandomPlaces places_;
  RoundingMode machine_;
  ValueEnds ends_;
  elements::ValueKernel kernel_;
};

// Where codes would be made of floats without whims, by lanes of floats.
std::optional<OnFloats> float_steps(const Format& own, const Format& to, const Env& env) {
  if (own != binary32 || !to.is_float() || to.daz || to == own) return std::nullopt;
  const auto plan = elements::plan_lanes(Operation::convert, to, env, std::array{own}, false).plan;
  if (!plan || plan->carrier != elements::Carrier::in_float) return std::nullopt;
  const Encoding<float> encoding(to, env);
  if (encoding.quick == elements::Quick::none && !env.rounding.stochastic()) return std::nullopt;
  return OnFloats(to, env, plan->machine);
}

}  // namespace

struct RoundedValues::Steps {
  Format own, to;
  Rounding rounding;
  std::optional<elements::FixedSteps> as_fixed;
  std::optional<OnFloats> on_floats;
  std::optional<elements::TaperedShape> as_posits;
  std::optional<Elementwise> there, back;

  Steps(const Format& from, const Format& format, const Env& env, std::size_t expected)
      : own(from),
        to(format),
        rounding(env.rounding),
        as_fixed(fixed_steps(from, format, env.rounding)),
        on_floats(float_steps(from, format, env)) {
    if (own == binary32 && elements::in_words(to, rounding)) as_posits.emplace(to, rounding);
    if (as_fixed || on_floats || as_posits) return;
    there.emplace(Operation::convert, to, env, std::array{own}, false, expected);
    back.emplace(Operation::convert, own, Env{}, std::array{to}, false, expected);
  }

  void run_fixed(const float* x, std::size_t n, float* y, const RandomSource& random) const {
    std::uint64_t room[piece];
    elements::to_values(*as_fixed, x, elements::random_bits(rounding, random, 0, n, room), n, y);
  }
  void run(const void* x, std::size_t n, void* y, const RandomSource& random) const {
    if (there) return run_codes(x, n, y, random);
    const auto* from = static_cast<const float*>(x);
    auto* to_floats = static_cast<float*>(y);
    if (as_fixed) return run_fixed(from, n, to_floats, random);
    if (as_posits) return elements::to_posit_values(*as_posits, from, n, to_floats);
    on_floats->run(from, n, to_floats, random);
  }
  void run_codes(const void* x, std::size_t n, void* y, const RandomSource& random) const {
    const auto bytes = static_cast<std::size_t>(item_bytes(to.width()));
    const auto codes = std::make_unique_for_overwrite<std::byte[]>(n * bytes);
    const void* from = x;
    there->run({&from, 1}, n, codes.get(), nullptr, random);
    from = codes.get();
    back->run({&from, 1}, n, y, nullptr);
  }
};

static void check(const Format& own, const Format& to, const Rounding& rounding) {
  with_word(own, [](auto) {});  // there is one
  if (to.width() > 64)
    throw std::invalid_argument(
        fmt::format("format = {} has {} bits; values are rounded to formats of at most 64",
                    to_string(to), to.width()));
  if (rounding.stochastic() && (rounding.random_bits < 1 || rounding.random_bits > 64))
    throw std::invalid_argument(
        fmt::format("rounding = {}: 1 to 64 random bits are wanted", to_string(rounding)));
}

RoundedValues::RoundedValues(const Format& own, const Format& to, const Env& env,
                             std::size_t expected) {
  check(own, to, env.rounding);
  const MachineRounding mode(RoundingMode::rne);
  steps_ = std::make_unique<Steps>(own, to, env, expected);
}
RoundedValues::RoundedValues(RoundedValues&&) noexcept = default;
RoundedValues::~RoundedValues() = default;

bool RoundedValues::quick() const {
  return !steps_->there || (steps_->there->quick() && steps_->back->quick());
}

Unheld unheld(const Format& own, const Format& to, const void* x, std::size_t count) {
  if (to.has_nan()) return Unheld::nothing;
  const std::uint64_t infinity = Layout<std::uint64_t>(own).infinity;
  const std::uint64_t most = with_word(own, [&](auto word) -> std::uint64_t {
    return largest_magnitude(static_cast<const decltype(word)*>(x), count);
  });
  if (most > infinity) return Unheld::nan;
  const bool turns = to.is_fixed() && !elements::saturates(to);  // infinities into 0
  return most == infinity && turns ? Unheld::infinity : Unheld::nothing;
}

void RoundedValues::run(const void* x, std::size_t count, void* y, RandomSource random) const {
  const MachineRounding mode(RoundingMode::rne);
  const auto bytes = static_cast<std::size_t>(item_bytes(steps_->own.width()));
  for (std::size_t first = 0; first < count; first += piece) {
    const std::size_t n = std::min(piece, count - first);
    const void* from = static_cast<const std::byte*>(x) + first * bytes;
    void* to = static_cast<std::byte*>(y) + first * bytes;
    const RandomSource source = random.from(random.first_index + first);
    steps_->run(from, n, to, source);
  }
}

void pass_inside(const Format& own, const void* g, const void* x, std::uint64_t low,
                 std::uint64_t high, std::size_t count, void* y) {
  const std::uint64_t infinity = Layout<std::uint64_t>(own).infinity;
  with_word(own, [&](auto word) {
    using Word = decltype(word);
    const auto at = [](std::uint64_t code) { return in_order(static_cast<Word>(code)); };
    keep_inside(Ends<Word>{at(low), at(high), static_cast<Word>(infinity)},
                static_cast<const Word*>(g), static_cast<const Word*>(x), count,
                static_cast<Word*>(y));
  });
}

}  // namespace widthwise
