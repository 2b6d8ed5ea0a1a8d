#include "quantise.hpp"

#include <algorithm>

#include "kernels/fuse.hpp"
#include "values.hpp"

namespace widthwise::cuda {
namespace {

constexpr int float_digits = 24;

// Digits below a code's last that rounding asks for, the lowest one to odd.
int digits_below(const Rounding& r) { return r.stochastic() ? r.random_bits + 2 : 2; }

std::uint32_t bits_of_power(std::int64_t e) {
  return static_cast<std::uint32_t>(e + binary32.bias) << binary32.frac_bits;
}
// Where every magnitude overflows.
std::uint32_t overflowing(const Format& f) { return bits_of_power(f.emax() + 1); }

// From a float's digits to the code's and `below` more, the last of which two sums make.
int down_to(const Format& f, int below) { return float_digits - f.precision() - (below - 1); }

bool adds_up(const Format& f, int below) {
  const int down = down_to(f, below);
  return down >= 1 && f.emin() >= binary32.emin() && f.emax() + 1 + down <= binary32.emax();
}
bool cuts_short(const Format& f, int below) {
  return down_to(f, below) >= 1 && f.emin() == binary32.emin() && f.emax() <= binary32.emax();
}

// Whether long codes hold what decides a rounding to such a format.
bool holds(const Format& f, const Rounding& r) {
  const int below = digits_below(r);
  return f.width() <= 16 && !f.all_normal() && !f.ftz &&
         (adds_up(f, below) || cuts_short(f, below));
}
// Whether the significand's last digit decides a tie, where that is the only one, and the code's
// last is another.
bool asks_for_single_digit(const Rounder<std::uint64_t>& to) {
  return to.precision == 1 && !to.even_code &&
         (to.rule.table & 0x0f0f) != (to.rule.table >> 4 & 0x0f0f);
}
// Codes without flags and payloads.
bool plain_results(const ElementTask& task) {
  return !task.flags && task.env.nan == NanResult::canonical;
}

CutShort cut_short(const Format& f, int below) { return {overflowing(f), down_to(f, below) - 1}; }
AddedUp added_up(const Format& f, int below) {
  const int down = down_to(f, below), digits = f.frac_bits + below;
  const auto step = (1u << digits) - (2u << binary32.frac_bits);  // 2 c grows by the latter
  const auto least_field = static_cast<std::uint32_t>(f.emin() + binary32.bias);
  return {overflowing(f), bits_of_power(f.emin()), std::bit_cast<float>(bits_of_power(down)), step,
          (least_field << digits) + (static_cast<std::uint32_t>(down) << (binary32.frac_bits + 1))};
}

ByTable by_table(const Rounder<std::uint64_t>& to) {
  const std::uint32_t table = to.rule.table;
  return {(table & 0xff) | table >> 8 << 24};
}
ByChance by_chance(const Rounder<std::uint64_t>& to, int below) {
  return {static_cast<std::uint32_t>(to.increment[0] >> (to.drop - below)),
          static_cast<std::uint32_t>(to.random_tie), below};
}

BySign by_sign(std::uint64_t positive, std::uint64_t negative) {
  return {static_cast<std::uint32_t>(positive), static_cast<std::uint32_t>(positive ^ negative)};
}
template <Ends ends>
Finish<ends> finish(const Rounder<std::uint64_t>& to) {
  const Layout<std::uint64_t>& f = to.layout;
  const auto word = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const bool is_signed = f.format.is_signed();
  const std::uint64_t past_zero = is_signed ? overflowed(to, true) : to.nan_code;
  return {
      .sign = word(f.sign),
      .max_finite = word(f.max_finite),
      .nan = word(to.nan_code),
      .over = by_sign(overflowed(to, false), past_zero),
      .infinite = by_sign(delivered_infinity(to, false).code, delivered_infinity(to, true).code),
      .lost = is_signed ? 0 : ~0u,
      .below_zero = word(is_signed ? f.sign : to.nan_code),
      .negative_zero = word(delivered_zero(to, true).code)};
}

Ends ends_of(const Rounder<std::uint64_t>& to) {
  const Finish<Ends::any> z = finish<Ends::any>(to);
  const bool alike = z.over.positive == z.infinite.positive && z.over.turned == z.infinite.turned;
  if (!to.keeps_zero_sign || !alike) return Ends::any;
  if (z.over.turned == z.sign && z.over.positive - z.max_finite <= 1) return Ends::mirrored;
  return z.over.turned == 0 && z.over.positive == z.nan ? Ends::one : Ends::any;
}

template <class LongCodes, class Rounded, Ends ends>
Encode<LongCodes, Rounded, ends> encode(const Rounder<std::uint64_t>& to, const LongCodes& codes,
                                        const Rounded& rounded) {
  return {codes, rounded, finish<ends>(to), to.rule.rounding.random_bits};
}
template <class Encode>
void draw_from(const RandomSource& random, Encode& encode) {
  encode.keys = PhiloxKeys(random.seed);
  encode.first_index = random.first_index;
}

// One of the kernels of kernels/quantise.hpp.
template <class Work>
class Converted final : public Elementwise::Way {
 public:
  Converted(Device& device, const char* name, std::string kernel, const Work& work)
      : device_(device), name_(name), kernel_(std::move(kernel)), work_(work) {}

  const char* name() const override { return name_; }

  void run(const ElementArrays& x) const override {
    Work work = work_;
    work.arrays.lie_at(x.operands[0], x.result, x.count);
    if constexpr (requires { work.encode; }) draw_from(x.random, work.encode);
    launch_each(device_, {"quantise", kernel_.c_str()}, work.arrays.threads_wanted(), &work);
  }

 private:
  Device& device_;
  const char* name_;
  std::string kernel_;
  Work work_;
};

// Picks the kernel, choice by choice; `name` grows with them.
struct Choice {
  Device& device;
  Rounder<std::uint64_t> to;
  int below;
  std::string name;

  template <class From>
  ElementwiseWay from() const {
    const Format& f = to.layout.format;
    if (adds_up(f, below)) {
      const AddedUp codes = added_up(f, below);
      return item_bytes(f.width()) == 1 ? to_item<From, std::uint8_t>("_8", codes)
                                        : to_item<From, std::uint16_t>("_16", codes);
    }
    if constexpr (!std::is_same_v<From, FromDouble>)  // whose large numbers are no floats
      if (cuts_short(f, below) && item_bytes(f.width()) == 2)
        return to_item<From, std::uint16_t>("_16_cut", cut_short(f, below));
    return nullptr;
  }

 private:
  template <class From, class Item, class LongCodes>
  ElementwiseWay to_item(const char* suffix, const LongCodes& codes) const {
    const std::string kernel = name + suffix;
    if (to.rule.rounding.stochastic())
      return way<From, Item, Ends::any>(kernel + "_random", codes, by_chance(to, below));
    // The usual source and ends have kernels of their own.
    if constexpr (std::is_same_v<From, FromSingle>) {
      if (ends_of(to) == Ends::mirrored)
        return way<From, Item, Ends::mirrored>(kernel + "_mirrored", codes, by_table(to));
      if constexpr (sizeof(Item) == 1)
        if (ends_of(to) == Ends::one)
          return way<From, Item, Ends::one>(kernel + "_one", codes, by_table(to));
    }
    return way<From, Item, Ends::any>(kernel, codes, by_table(to));
  }
  template <class From, class Item, Ends ends, class LongCodes, class Rounded>
  ElementwiseWay way(std::string kernel, const LongCodes& codes, const Rounded& rounded) const {
    using Work = Quantise<From, Item, LongCodes, Rounded, ends>;
    const Work work{.encode = encode<LongCodes, Rounded, ends>(to, codes, rounded)};
    return std::make_unique<Converted<Work>>(device, "quantise", std::move(kernel), work);
  }
};

// Whether the format's fields are a float's once they stand in its places: none is the float's top
// one but that of its own infinities and NaN.
bool slides(const Format& f) {
  const std::int64_t bias = binary32.bias;
  return f.width() <= 16 && !f.all_normal() && !f.daz && f.exp_bits <= binary32.exp_bits &&
         f.emax() + f.bias <= 2 * bias && bias - f.bias >= binary32.emin() &&
         bias - f.bias <= bias && f.emax() <= bias && f.least_digit() >= binary32.least_digit();
}

template <class T>
NumberOf<T> number_of(const Format& f) {
  const Layout<std::uint32_t> from(f);
  const bool lone = f.nan == NanCodes::sign_alone;
  return {.magnitude_mask = from.magnitude_mask,
          .sign = from.sign,
          .up = binary32.frac_bits - f.frac_bits,
          .scale = std::bit_cast<float>(bits_of_power(binary32.bias - f.bias)),
          .infinity = from.infinity,
          .first_nan = from.first_nan,
          .lone_nan = lone ? from.nan_code : ~0u};
}

template <class Item, class T>
ElementwiseWay numbers_of(const Format& f, Device& device, const char* kernel) {
  const Dequantise<Item, T> work{.number = number_of<T>(f)};
  return std::make_unique<Converted<Dequantise<Item, T>>>(device, "dequantise", kernel, work);
}

// Sums and products in floats, of codes that all have items of one size.
template <class Item, class Rounded>
class Fused final : public Elementwise::Way {
 public:
  Fused(const ElementTask& task, Device& device, const char* kernel,
        const Encode<AddedUp, Rounded, Ends::any>& encode)
      : device_(device),
        kernel_(kernel),
        work_{.step = {task.op, task.env.rounding.mode == RoundingMode::rdn},
              .operands = arity(task.op),
              .number = {operand(task, 0), operand(task, 1), operand(task, 2)},
              .encode = encode} {}

  const char* name() const override { return "float lanes"; }

  void run(const ElementArrays& x) const override {
    Fuse<Item, Rounded> work = work_;
    std::ranges::copy(x.operands, work.data);
    work.result = x.result;
    work.count = x.count;
    draw_from(x.random, work.encode);
    launch_each(device_, {"quantise", kernel_}, x.count, &work);
  }

 private:
  static NumberOf<float> operand(const ElementTask& task, std::size_t i) {
    return number_of<float>(i < task.operands.size() ? task.operands[i] : task.operands[0]);
  }

  Device& device_;
  const char* kernel_;
  Fuse<Item, Rounded> work_;
};

bool fuses(const ElementTask& task) {
  switch (task.op) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::fma: break;
    default: return false;
  }
  const int bytes = item_bytes(task.to.width());
  return std::ranges::all_of(
      task.operands, [&](const Format& f) { return slides(f) && item_bytes(f.width()) == bytes; });
}

}  // namespace

ElementwiseWay fuse_way(const ElementTask& task, Device& device) {
  const Format& f = task.to;
  const int below = digits_below(task.env.rounding);
  if (!plain_results(task) || !fuses(task)) return nullptr;
  if (!holds(f, task.env.rounding) || !adds_up(f, below)) return nullptr;
  const Rounder<std::uint64_t> to(f, task.env);
  if (asks_for_single_digit(to)) return nullptr;
  const auto way = [&]<class Rounded>(const char* kernel_8, const char* kernel_16,
                                      const Rounded& rounded) -> ElementwiseWay {
    const auto codes = encode<AddedUp, Rounded, Ends::any>(to, added_up(f, below), rounded);
    if (item_bytes(f.width()) == 1)
      return std::make_unique<Fused<std::uint8_t, Rounded>>(task, device, kernel_8, codes);
    return std::make_unique<Fused<std::uint16_t, Rounded>>(task, device, kernel_16, codes);
  };
  if (task.env.rounding.stochastic())
    return way("fuse_8_random", "fuse_16_random", by_chance(to, below));
  return way("fuse_8", "fuse_16", by_table(to));
}

ElementwiseWay dequantise_way(const ElementTask& task, Device& device) {
  const Format &to = task.to, &from = task.operands[0];
  if (task.op != Operation::convert || !plain_results(task)) return nullptr;
  if (!from.is_float() || !slides(from) || (to != binary32 && to != binary64)) return nullptr;
  if (item_bytes(from.width()) == 1)
    return to == binary32 ? numbers_of<std::uint8_t, float>(from, device, "dequantise_8_single")
                          : numbers_of<std::uint8_t, double>(from, device, "dequantise_8_double");
  return to == binary32 ? numbers_of<std::uint16_t, float>(from, device, "dequantise_16_single")
                        : numbers_of<std::uint16_t, double>(from, device, "dequantise_16_double");
}

ElementwiseWay quantise_way(const ElementTask& task, Device& device) {
  const Format& from = task.operands[0];
  const Rounding& rounding = task.env.rounding;
  if (task.op != Operation::convert || !plain_results(task)) return nullptr;
  if (!task.to.is_float() || !holds(task.to, rounding)) return nullptr;
  Choice choice{device, Rounder<std::uint64_t>(task.to, task.env), digits_below(rounding), ""};
  if (asks_for_single_digit(choice.to)) return nullptr;
  if (from == binary32) return choice.name = "quantise_single", choice.from<FromSingle>();
  if (from == binary64) return choice.name = "quantise_double", choice.from<FromDouble>();
  if (from == binary16) return choice.name = "quantise_half", choice.from<FromHalf>();
  if (from == bfloat16) return choice.name = "quantise_brain", choice.from<FromBrain>();
  return nullptr;
}

}  // namespace widthwise::cuda
