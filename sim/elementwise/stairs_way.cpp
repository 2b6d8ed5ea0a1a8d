#include <algorithm>
#include <bit>
#include <iterator>
#include <vector>

#include "lately.hpp"
#include "stairs.hpp"
#include "tapered_lanes.hpp"

// Rounding to posits, takums and tables takes the definition's whole path, but goes up with the
// number on each side of zero: where its steps lie is all to know (docs/exactness.md, 64).
namespace widthwise {
namespace elements {
namespace {

constexpr std::uint32_t sign = 0x80000000, infinity = 0x7f800000, nan = 0x7fc00000;

using Words = std::vector<std::uint32_t>;
using Step = Stairs::Step;

// The definition, word by word.
class Conversion {
 public:
  explicit Conversion(const ElementTask& task) : way_(integer_way(task)) {}

  std::vector<std::uint8_t> operator()(const Words& words) const {
    std::vector<std::uint8_t> codes(words.size());
    const void* operand = words.data();
    way_->run({{&operand, 1}, words.size(), codes.data(), nullptr, {}});
    return codes;
  }

 private:
  ElementwiseWay way_;
};

// A range of words at whose ends the codes differ.
struct Range {
  Step first, last;
};

// The steps from one word to the other, the first of them at the first.
std::vector<Step> steps_between(const Conversion& convert, std::uint32_t first,
                                std::uint32_t last) {
  const auto ends = convert({first, last});
  std::vector<Step> found{{first, ends[0]}};
  std::vector<Range> open;
  if (ends[0] != ends[1]) open.push_back({{first, ends[0]}, {last, ends[1]}});
  while (!open.empty()) {
    std::vector<std::uint32_t> middles;
    for (const Range& r : open) middles.push_back(r.first.word + (r.last.word - r.first.word) / 2);
    const auto codes = convert(middles);
    std::vector<Range> halves;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const Step middle{middles[i], codes[i]};
      for (const Range& half : {Range{open[i].first, middle}, Range{middle, open[i].last}}) {
        if (half.first.code == half.last.code) continue;
        if (half.last.word - half.first.word == 1)
          found.push_back(half.last);
        else
          halves.push_back(half);
      }
    }
    open = std::move(halves);
  }
  std::ranges::sort(found, {}, &Step::word);
  return found;
}

constexpr std::uint32_t stair(std::size_t place, std::size_t second, std::size_t first) {
  return static_cast<std::uint32_t>(place << 16 | second << 8 | first);
}

// Of an upper half whose first word has reached steps[at], and which holds so many behind it.
std::uint32_t stair_of(const std::vector<Step>& steps, std::size_t at, std::size_t inside,
                       std::size_t before) {
  if (inside > 1) return stair(before + at + 1, inside - 1, inside - 1);
  if (inside == 0) return stair(0, steps[at].code, steps[at].code);
  return stair(steps[at + 1].word & 0xffff, steps[at + 1].code, steps[at].code);
}

void put(Stairs& stairs, const std::vector<Step>& steps) {
  const std::size_t before = stairs.steps.size();
  stairs.steps.insert(stairs.steps.end(), steps.begin(), steps.end());
  std::size_t at = 0;
  for (std::uint32_t half = steps.front().word >> 16;
       half <= (steps.back().word | 0x7fffffff) >> 16; ++half) {
    const std::uint32_t from = half << 16, to = from | 0xffff;
    while (at + 1 < steps.size() && steps[at + 1].word <= from) ++at;
    std::size_t inside = 0;
    while (at + inside + 1 < steps.size() && steps[at + inside + 1].word <= to) ++inside;
    stairs.halves[half] = stair_of(steps, at, inside, before);
  }
}

// Of finite numbers above zero and of those below: the first step at the first word.
using Sides = std::array<std::vector<Step>, 2>;

constexpr std::uint32_t exponent_halves = 128;  // upper halves with one exponent

constexpr std::uint32_t upper_half(std::uint32_t word) { return (word & ~sign) >> 16; }

// Without their sign, those at which there is a step.
Words words_of(const std::vector<Step>& steps) {
  Words words;
  for (std::size_t i = 1; i < steps.size(); ++i) words.push_back(steps[i].word & ~sign);
  return words;
}
Words words_of_both(const Sides& sides) {
  const Words above = words_of(sides[0]), below = words_of(sides[1]);
  Words both;
  std::ranges::set_union(above, below, std::back_inserter(both));
  return both;
}

// The lowest digits that a bin may leave out, if no more steps than these are to share one; or -1
// where more share an upper half.
int digits_left_out(const Words& words, int in_a_bin, std::uint32_t cell) {
  const auto apart = static_cast<std::size_t>(in_a_bin);
  int digits = 7;
  for (std::size_t i = apart; i < words.size(); ++i) {
    const std::uint32_t below = upper_half(words[i - apart]) - cell,
                        above = upper_half(words[i]) - cell;
    if (below < exponent_halves && above < exponent_halves)
      digits = std::min(digits, static_cast<int>(std::bit_width(below ^ above)) - 1);
  }
  return digits;
}

// False where more steps than a bin is to hold share an upper half, or bins have no room.
bool hold_bins(const HeldSteps& z, HeldSteps::Side& side, const Words& words) {
  const auto most = static_cast<std::size_t>(2 * HeldSteps::page * z.pages);
  std::size_t next = 0, filled = 0, cell = 0;
  for (std::uint32_t half = z.low; half < z.high; half += exponent_halves) {
    const int left_out = digits_left_out(words, z.in_a_bin, half);
    if (left_out < 0) return false;
    const std::size_t above = (half - z.low) >> left_out;
    side.cells[cell++] =
        static_cast<std::uint16_t>((filled - above) << 4 | static_cast<std::size_t>(left_out));
    for (std::uint32_t at = half; at < half + exponent_halves; at += 1U << left_out) {
      if (filled == most) return false;
      while (next + 1 < words.size() && upper_half(words[next]) < at) ++next;
      side.bins[filled++] = static_cast<std::uint8_t>(next);
    }
  }
  return true;
}

// False where vectors do not hold them.
bool hold_words(const HeldSteps& z, HeldSteps::Side& side, const Words& words) {
  if (words.empty() || words.size() > static_cast<std::size_t>(z.pages * HeldSteps::page) ||
      !hold_bins(z, side, words))
    return false;
  for (std::size_t at = 0; at < words.size(); ++at)
    for (std::size_t k = 0; k < side.word.size(); ++k)
      side.word[k][at] = static_cast<std::uint8_t>(words[at] >> 8 * k);
  return true;
}

// A step that the other side alone has leaves the code as it is.
void hold_codes(HeldSteps::Side& side, const Words& words, const std::vector<Step>& steps) {
  auto step = steps.begin();
  const auto code_at = [&](std::uint32_t word) {
    while (step + 1 != steps.end() && (step[1].word & ~sign) <= word) ++step;
    return step->code;
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    side.before[at] = code_at(words[at] - 1);
    side.behind[at] = code_at(words[at]);
  }
  side.last = static_cast<std::uint8_t>(words.size() - 1);
}

bool hold_shared(HeldSteps& z, const Sides& sides, const Words& both) {
  if (!hold_words(z, z.sides[0], both)) return false;
  for (std::size_t i = 0; i < sides.size(); ++i) hold_codes(z.sides[i], both, sides[i]);
  return true;
}

bool hold_apart(HeldSteps& z, const Sides& sides) {
  for (std::size_t i = 0; i < sides.size(); ++i) {
    Words words = words_of(sides[i]);
    if (z.zero_apart) std::erase(words, 1U);
    if (!hold_words(z, z.sides[i], words)) return false;
    hold_codes(z.sides[i], words, sides[i]);
  }
  return true;
}

// In as few pages as hold them, and once for both sides, if they can be.
bool hold_with(HeldSteps& z, int in_a_bin, const Sides& sides, const Words& both) {
  const int exponents = (z.high - z.low) / static_cast<int>(exponent_halves) + 1;
  z.in_a_bin = in_a_bin;
  for (const int pages : {1, 2}) {
    z.pages = pages;
    z.shared = true;
    if (exponents <= HeldSteps::exponents(pages) && hold_shared(z, sides, both)) return true;
  }
  z.pages = 2;
  z.shared = false;
  return exponents <= HeldSteps::exponents(z.pages) && hold_apart(z, sides);
}

// With as few steps in a bin as they can be.
void hold(HeldSteps& z, const Sides& sides) {
  Words both = words_of_both(sides);
  // What leaves zero at once would hold the exponents of all subnormals.
  z.zero_apart = both.size() > 1 && both.front() == 1;
  if (z.zero_apart) both.erase(both.begin());
  if (both.empty()) return;
  const std::uint32_t low = upper_half(both.front()), high = upper_half(both.back());
  z.low = static_cast<std::uint16_t>(low - low % exponent_halves);
  z.high = static_cast<std::uint16_t>(high | (exponent_halves - 1));
  constexpr int most_in_a_bin = 8;  // beyond that a search is as fast
  for (int in_a_bin = 1; in_a_bin <= most_in_a_bin; ++in_a_bin)
    if (hold_with(z, in_a_bin, sides, both)) return;
  z.pages = 0;
}

// What goes towards zero or away from it in a table without a zero goes up on each side of it, but
// not from zero itself.
std::vector<Step> steps_of_side(const Conversion& convert, std::uint32_t side) {
  std::vector<Step> steps = steps_between(convert, side | 1, side | infinity);
  const auto others = convert({side, side | nan});
  if (others[0] == steps.front().code)
    steps.front().word = side;
  else
    steps.insert(steps.begin(), {side, others[0]});
  if (others[1] != steps.back().code) steps.push_back({(side | infinity) + 1, others[1]});
  return steps;
}

std::shared_ptr<const Stairs> build(const ElementTask& task) {
  const Conversion convert(task);
  auto stairs = std::make_shared<Stairs>();
  Sides sides;
  for (const std::uint32_t side : {std::uint32_t{0}, sign}) {
    std::vector<Step> steps = steps_of_side(convert, side);
    put(*stairs, steps);
    std::erase_if(steps, [](const Step& s) { return (s.word & infinity) == infinity; });
    sides[side != 0] = std::move(steps);
  }
  hold(stairs->held, sides);
  return stairs;
}

struct Purpose {
  Format to;
  RoundingMode mode;
  bool operator==(const Purpose&) const = default;
};

class Climb final : public Elementwise::Way {
 public:
  explicit Climb(std::shared_ptr<const Stairs> stairs) : stairs_(std::move(stairs)) {}
  const char* name() const final { return "stairs"; }
  void run(const ElementArrays& x) const final {
    climb(*stairs_, static_cast<const std::uint32_t*>(x.operands[0]), x.count,
          static_cast<std::uint8_t*>(x.result));
  }

 private:
  std::shared_ptr<const Stairs> stairs_;
};

}  // namespace

std::shared_ptr<const Stairs> stairs_of(const ElementTask& task) {
  constexpr std::size_t worth_it = 1 << 14;
  if (task.op != Operation::convert || task.operands[0] != binary32 || task.flags ||
      task.env.rounding.stochastic() || task.to.width() > 8 || task.expected < worth_it)
    return nullptr;
  // Floats and fixed point have ways of their own.
  if (!task.to.is_table() && !task.to.is_tapered()) return nullptr;
  if (in_words(task.to, task.env.rounding)) return nullptr;
  static Lately<Purpose, Stairs> lately;
  return lately.get({task.to, task.env.rounding.mode}, [&] { return build(task); });
}

}  // namespace elements

ElementwiseWay stairs_way(const ElementTask& task) {
  auto stairs = elements::stairs_of(task);
  return stairs ? std::make_unique<elements::Climb>(std::move(stairs)) : nullptr;
}

}  // namespace widthwise
