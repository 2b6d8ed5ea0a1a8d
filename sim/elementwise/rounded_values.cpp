#include "widthwise/sim/rounded_values.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "draw_bits.hpp"
#include "fixed_lanes.hpp"
#include "quick_chunk.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise {
namespace {

// Elements that are rounded and brought back together: codes of 16 bits stay in the second cache, and
// what is done once a piece, as setting the machine's rounding, does not count.
constexpr std::size_t piece = 16384;

// Calls f with an unsigned integer of a format's width.
template <class F>
auto with_word(const Format& own, const F& f) {
  switch (own.width()) {
    case 16: return f(std::uint16_t{});
    case 32: return f(std::uint32_t{});
    case 64: return f(std::uint64_t{});
    default: throw std::invalid_argument("values are floats of 16, 32 or 64 bits");
  }
}

template <class Word>
constexpr Word magnitude_of(Word code) {
  return static_cast<Word>(code & static_cast<Word>(~Word{}) >> 1);
}

template <class Word>
WIDTHWISE_VECTOR_LEVELS Word largest_magnitude(const Word* x, std::size_t n) {
  Word most{};
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, magnitude_of(x[i]));
  return most;
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
std::optional<elements::FixedSteps> steps_on_floats(const Format& own, const Format& to,
                                                    const Rounding& rounding) {
  constexpr int most_random = 22, far = 120;
  const std::int64_t last = to.least_digit();
  if (own != binary32 || !elements::saturates(to) || to.width() > binary32.precision() ||
      last < -far || last + to.width() > far || rounding.random_bits > most_random)
    return std::nullopt;
  return elements::FixedSteps(to, rounding);
}

}  // namespace

struct RoundedValues::Steps {
  Format own, to;
  Rounding rounding;
  std::optional<elements::FixedSteps> on_floats;
  std::optional<Elementwise> there, back;

  Steps(const Format& from, const Format& format, const Env& env, std::size_t expected)
      : own(from),
        to(format),
        rounding(env.rounding),
        on_floats(steps_on_floats(from, format, env.rounding)) {
    if (on_floats) return;
    there.emplace(Operation::convert, to, env, std::array{own}, false, expected);
    back.emplace(Operation::convert, own, Env{}, std::array{to}, false, expected);
  }

  void run_floats(const float* x, std::size_t n, float* y, const RandomSource& random) const {
    std::uint64_t room[piece];
    elements::to_values(*on_floats, x, elements::random_bits(rounding, random, 0, n, room), n, y);
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

RoundedValues::RoundedValues(const Format& own, const Format& to, const Env& env,
                             std::size_t expected)
    : steps_(std::make_unique<Steps>(own, to, env, expected)) {
  if (to.width() > 64)
    throw std::invalid_argument("values are rounded to formats of at most 64 bits");
}
RoundedValues::RoundedValues(RoundedValues&&) noexcept = default;
RoundedValues::~RoundedValues() = default;

bool RoundedValues::quick() const {
  return steps_->on_floats || (steps_->there->quick() && steps_->back->quick());
}

Unheld RoundedValues::unheld(const void* x, std::size_t count) const {
  const Format &own = steps_->own, &to = steps_->to;
  if (to.has_nan()) return Unheld::nothing;
  const std::uint64_t infinity = Layout<std::uint64_t>(own).infinity;
  const std::uint64_t most = with_word(own, [&](auto word) -> std::uint64_t {
    return largest_magnitude(static_cast<const decltype(word)*>(x), count);
  });
  if (most > infinity) return Unheld::nan;
  return most == infinity && to.wraps() ? Unheld::infinity : Unheld::nothing;
}

void RoundedValues::run(const void* x, std::size_t count, void* y, RandomSource random) const {
  const auto bytes = static_cast<std::size_t>(item_bytes(steps_->own.width()));
  for (std::size_t first = 0; first < count; first += piece) {
    const std::size_t n = std::min(piece, count - first);
    const void* from = static_cast<const std::byte*>(x) + first * bytes;
    void* to = static_cast<std::byte*>(y) + first * bytes;
    const RandomSource source = random.from(random.first_index + first);
    if (steps_->on_floats)
      steps_->run_floats(static_cast<const float*>(from), n, static_cast<float*>(to), source);
    else
      steps_->run_codes(from, n, to, source);
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
