#include "products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <unordered_map>

#include "targets.hpp"
#include "tests/turns.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/op/convert.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/product_tiles.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace tests {

using namespace widthwise;

Opinion opinion(std::string_view engine, const Unit& u, bool flags, std::size_t k) {
  return opinion(ProductTask{.unit = u, .k = k, .flags = flags}, engine);
}

bool has_length(const Unit& u, std::size_t k) {
  try {
    make_reference(u, k);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

namespace {

template <class U>
class Maker {
 public:
  Maker(const Format& f, ProductRandom& random) : f_(f), layout_(f), random_(random) {}

  U operator()(Manner manner) {
    const U sign = f_.is_signed() && random_() & 1 ? layout_.sign : U{};
    switch (manner) {
      case Manner::bits: return uniform() & (layout_.magnitude_mask | layout_.sign);
      case Manner::about_one: return near(-3, 5) | sign;
      case Manner::cancelling: return near(-1, 2, random_() % 8 ? U{} : fraction()) | sign;
      case Manner::tiny: return near(f_.emin() - 2, 4) | sign;
      case Manner::underflow: return near(f_.emin() / 2 - 2, 4) | sign;
      case Manner::large: return near(f_.emax() - 1, 2) | sign;
      case Manner::overflow: return near(f_.emax() / 2 - 1, 4) | sign;
      case Manner::full: return near(0, 1, layout_.fraction_mask);
      case Manner::sparse: return random_() % 16 ? sign : U(near(-8, 16) | sign);
      case Manner::zeros: return sign;
      case Manner::few:
        return one_of({U{}, field(0), field(-1), field(-f_.frac_bits - 1), U(1)}, 5) | sign;
      case Manner::powers:
        return (random_() % 3 ? at_most_finite(U(U(random_() % top()) << f_.frac_bits)) : U(1)) |
               sign;
      case Manner::named:
        return one_of({U{}, U(1), U(layout_.hidden - U(1)), layout_.hidden, layout_.max_finite,
                       field(0), std::min(U(layout_.max_finite + U(1)), layout_.magnitude_mask),
                       layout_.magnitude_mask},
                      random_() % 4 ? 6 : 8) |
               sign;
    }
    return U{};
  }

 private:
  U uniform() {
    U x(random_());
    for (int i = 64; i < f_.width(); i += 64) x = (x << 32 << 32) | U(random_());
    return x;
  }
  std::uint64_t top() const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(f_.top_field(), 1));
  }
  // Half of the digits, where they may be an exponent's too.
  U fraction() {
    return uniform() &
           (f_.is_float() ? layout_.fraction_mask : widthwise::ones<U>(f_.frac_bits / 2));
  }
  U at_most_finite(const U& x) const { return std::min(x, layout_.max_finite); }
  U field(std::int64_t exponent) {
    if (!f_.is_float()) {
      const auto [power, is_new] = powers_.try_emplace(exponent);
      if (is_new) power->second = power_of_two(exponent);
      return power->second;
    }
    const std::int64_t biased = std::clamp<std::int64_t>(exponent + f_.bias, 0, f_.top_field());
    return at_most_finite(U(static_cast<std::uint64_t>(biased)) << f_.frac_bits);
  }
  // 2^exponent, as the format rounds it; up to 64 bits.
  U power_of_two(std::int64_t exponent) const {
    const Rounder<WideCode> to(f_);
    constexpr int top = digits<WideCode> - 1;
    return U(deliver(to, finite<WideCode>({}, exponent - top, bit<WideCode>(top))).code.limb[0]);
  }
  U near(std::int64_t exponent, unsigned spread) {
    const U digits = fraction();
    return near(exponent, spread, digits);
  }
  U near(std::int64_t exponent, unsigned spread, const U& digits) {
    const U power = field(exponent + static_cast<std::int64_t>(random_() % spread));
    return at_most_finite(power | digits);
  }
  U one_of(std::initializer_list<U> some, std::size_t first) {
    return std::data(some)[random_() % first];
  }

  Format f_;
  Layout<U> layout_;
  std::unordered_map<std::int64_t, U> powers_;
  ProductRandom& random_;
};

template <class U>
CodeList made_codes(const Format& f, std::size_t count, Manner manner, ProductRandom& random) {
  Maker<U> make(f, random);
  CodeList x(f, count);
  for (std::size_t i = 0; i < count; ++i) x.set(i, make(manner));
  return x;
}

// From any one on, and the last.
std::vector<Manner> some_manners(ProductRandom& random) {
  const std::size_t others = sorts_of_operands() - 1;
  const std::size_t first = (random() + turn()) % (manners - 1);
  std::vector<Manner> some{last_manner};
  for (std::size_t i = 0; i < others; ++i)
    some.push_back(static_cast<Manner>((first + i) % (manners - 1)));
  return some;
}

std::string flags_text(bool wanted, int flags) {
  return wanted ? fmt::format(", flags {:05b}", flags) : "";
}

}  // namespace

std::size_t sorts_of_operands() {
  if (sanitized) return 2;
  return is_long() ? manners : 5;
}

Manner any_manner(ProductRandom& random) { return static_cast<Manner>(random() % manners); }

std::size_t sorts_of_c() { return is_long() ? 3 : 1; }

std::uint64_t outputs_compared(const Rival::Shape& s) {
  return sorts_of_operands() * sorts_of_c() * s.m * s.n;
}

CodeList ones(const Format& f, std::size_t count) {
  CodeList x(f, count);
  for (std::size_t i = 0; i < count; ++i) x.set(i, WideCode(f.bias) << f.frac_bits);
  return x;
}

CodeList::CodeList(const Format& f, std::size_t count)
    : items_(count * static_cast<std::size_t>(item_bytes(f.width()))),
      bytes_(item_bytes(f.width())) {}
void CodeList::set(std::size_t i, std::uint64_t code) {
  store_code(&items_[i * static_cast<std::size_t>(bytes_)], bytes_, code);
}
std::uint64_t CodeList::operator[](std::size_t i) const {
  return load_code<std::uint64_t>(&items_[i * static_cast<std::size_t>(bytes_)], bytes_);
}
void CodeList::set(std::size_t i, const WideCode& code) {
  store_code(&items_[i * static_cast<std::size_t>(bytes_)], bytes_, code);
}
bool CodeList::same(const CodeList& other, std::size_t i) const {
  const auto bytes = static_cast<std::size_t>(bytes_);
  return std::memcmp(&items_[i * bytes], &other.items_[i * bytes], bytes) == 0;
}
std::string CodeList::hexadecimal(std::size_t i) const {
  const auto bytes = static_cast<std::size_t>(bytes_);
  std::string text;
  for (std::size_t at = bytes; at-- > 0;)
    text += fmt::format("{:02x}", static_cast<unsigned>(items_[i * bytes + at]));
  return text;
}
CodeMatrix CodeList::rows(std::size_t columns, std::size_t first) const {
  return {items_.data() + first * static_cast<std::size_t>(bytes_),
          static_cast<std::ptrdiff_t>(columns), 1};
}

CodeList codes(const Format& f, std::size_t count, Manner manner, ProductRandom& random) {
  if (f.magnitude_bits() >= 64) return made_codes<WideCode>(f, count, manner, random);
  return made_codes<std::uint64_t>(f, count, manner, random);
}

namespace {

const Format& scale_format(const Unit& u) { return u.scale ? u.scale->fmt : u.a.fmt; }

// Blocks that share a scale, along k.
std::size_t scaled_runs(const Unit& u, std::size_t k) {
  if (!u.scale) return 0;
  const auto block = static_cast<std::size_t>(u.scale->block);
  return (k + block - 1) / block;
}

}  // namespace

DrawnProduct::DrawnProduct(const Unit& u, const ProductShape& s, const Manners& of,
                           ProductRandom& random)
    : a_(codes(u.a.fmt, s.m * s.k, of.a, random)),
      b_(codes(u.b.fmt, 2 * s.k * s.n, of.b, random)),
      c_(codes(u.c.fmt, s.m * s.n, of.c, random)),
      scale_a_(codes(scale_format(u), s.m * scaled_runs(u, s.k), any_manner(random), random)),
      scale_b_(codes(scale_format(u), scaled_runs(u, s.k) * s.n, any_manner(random), random)) {
  const CodeMatrix by_rows = b_.rows(s.n);
  const CodeMatrix ways[] = {by_rows,
                             {by_rows.data, 1, static_cast<std::ptrdiff_t>(s.k)},
                             {by_rows.data, 2 * by_rows.row, 2}};
  MatrixProduct& p = product_;
  p.m = s.m, p.k = s.k, p.n = s.n;
  p.seed = random(), p.first_index = random() % 1000;
  p.a = a_.rows(s.k), p.b = ways[random() % std::size(ways)];
  if (random() % 8) p.c = c_.rows(s.n);
  if (u.scale) p.scale_a = scale_a_.rows(scaled_runs(u, s.k)), p.scale_b = scale_b_.rows(s.n);
}

Rival::Outputs Rival::outputs(std::string_view engine, MatrixProduct p, bool flags,
                              std::size_t at_once) const {
  const std::size_t count = p.m * p.n;
  Outputs z{CodeList(result_round(unit_).fmt, count), std::vector<std::uint8_t>(count)};
  p.result = z.codes.data();
  p.flags = flags ? z.flags.data() : nullptr;
  const Prepared prepared =
      prepare({.unit = unit_, .k = p.k, .flags = flags, .multiplier = multiplier_}, engine);
  const ProductTiles tiles(p.m, p.n, p.k, at_once, 1);
  for (std::size_t i = 0; i < tiles.count(); ++i) {
    const auto [row, column, m, n] = tiles.at(i);
    prepared.product->run(tile(unit_, p, row, column, m, n), 0, m);
  }
  return z;
}

void Rival::compare_with(const Outputs& want, std::string_view engine, const MatrixProduct& p,
                         bool flags, const std::string& what) const {
  const Outputs got = outputs(engine, p, flags, at_once_);
  for (std::size_t i = 0; i < want.flags.size(); ++i) {
    const bool same_flags = !flags || got.flags[i] == want.flags[i];
    tally_.check(same_flags && got.codes.same(want.codes, i), [&] {
      return fmt::format("{}, {}, output {} of {} x {} x {}: got {}{}, want {}{}", to_string(unit_),
                         what, i, p.m, p.k, p.n, got.codes.hexadecimal(i),
                         flags_text(flags, got.flags[i]), want.codes.hexadecimal(i),
                         flags_text(flags, want.flags[i]));
    });
  }
}

std::uint64_t Rival::times_everywhere() { return 2 * hwy::SupportedAndGeneratedTargets().size(); }

void Rival::compare(MatrixProduct p, const std::string& what) const {
  const Outputs want = outputs("reference", p, flags_, whole);
  if (!everywhere_) return compare_with(want, engine_, p, flags_, what);
  on_every_target([&] {
    for (const bool flags : {false, true}) compare_with(want, engine_, p, flags, what);
  });
}

std::uint64_t Rival::compare_engines(const std::vector<std::string>& engines,
                                     const MatrixProduct& p) const {
  const Outputs want = outputs("reference", p, true, whole);
  std::uint64_t compared = 0;
  for (const std::string& engine : engines)
    for (const bool flags : {false, true})
      if (opinion(engine, unit_, flags, p.k).takes) {
        compare_with(want, engine, p, flags, engine);
        compared += p.m * p.n;
      }
  return compared;
}

void Rival::compare_doubles(const std::vector<double>& a, const std::vector<double>& b,
                            double c) const {
  const auto codes = [](const Operand& of, const std::vector<double>& numbers) {
    REQUIRE(of.fmt.width() <= 64);
    const Rounder<std::uint64_t> to(Round{.fmt = of.fmt});
    const Layout<std::uint64_t> doubles(binary64);
    CodeList x(of.fmt, numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      x.set(i, convert(to, doubles, std::bit_cast<std::uint64_t>(numbers[i])).code);
    return x;
  };
  const CodeList x = codes(unit_.a, a), y = codes(unit_.b, b), z = codes(unit_.c, {c});
  MatrixProduct p;
  p.m = p.n = 1, p.k = a.size();
  p.a = x.rows(p.k), p.b = y.rows(1), p.c = z.rows(1);
  compare(p, fmt::format("{} x {} onto {}", fmt::join(a, ", "), fmt::join(b, ", "), c));
}

void Rival::compare_random(const Shape& s, ProductRandom& random) const {
  for (const Manner of_a : some_manners(random)) {
    const Manner of_all_c[] = {any_manner(random), of_a, Manner::zeros};
    const std::size_t first_c = random() % std::size(of_all_c);
    for (std::size_t i = 0; i < sorts_of_c(); ++i) {
      const Manner of_c = of_all_c[(first_c + i) % std::size(of_all_c)];
      const Manner of_b = random() % 3 ? of_a : any_manner(random);
      const DrawnProduct drawn(unit_, s, {of_a, of_b, of_c}, random);
      compare(drawn.product(),
              fmt::format("manners {} {} {}", static_cast<int>(of_a), static_cast<int>(of_b),
                          drawn.product().c.data ? static_cast<int>(of_c) : -1));
    }
  }
}

void Rival::compare_lasting(std::size_t k) const {
  const Format& f = unit_.a.fmt;
  const Layout<std::uint64_t> layout(f);
  const std::uint64_t most = layout.max_finite, least = most | layout.sign;
  const std::uint64_t infinite = f.has_inf() ? layout.infinity : most;
  const std::uint64_t no_number = f.has_nan() ? layout.nan_code : most;
  CodeList specials = ones(f, 5 * k), overflows = specials;
  specials.set(0, infinite), specials.set(k, no_number);  // at once, later, at last
  specials.set(2 * k + k / 2, infinite), specials.set(3 * k + k / 2, no_number);
  specials.set(5 * k - 1, no_number);
  compare_rows(specials, k, "infinity, NaN, the same later, NaN at last");
  for (std::size_t t = 0; t < k; ++t) {
    overflows.set(t, most);
    overflows.set(k + t, t < k / 2 ? most : least);  // it would come back
    overflows.set(2 * k + t, t < k / 2 ? least : most);
  }
  for (std::size_t t = 0; t < 40; ++t) overflows.set(3 * k + k / 2 + t, most);
  compare_rows(overflows, k, "overflow, the same there and back, in the middle, numbers");
}

void Rival::compare_rows(const CodeList& a, std::size_t k, const std::string& what) const {
  MatrixProduct p;
  p.m = 5, p.k = k, p.n = 3;
  const CodeList b = ones(unit_.b.fmt, k * p.n);
  p.a = a.rows(k), p.b = b.rows(p.n);
  compare(p, what);
}

void compare_running(const Unit& u, const MatrixProduct& operands, bool flags, const CodeList& got,
                     const std::vector<std::uint8_t>& raised, Tally& tally) {
  const std::size_t outputs = operands.m * operands.n;
  MatrixProduct p = operands;
  for (p.k = 1; p.k <= operands.k; ++p.k) {
    CodeList want(result_round(u).fmt, outputs);
    std::vector<std::uint8_t> expected(outputs);
    p.result = want.data(), p.flags = flags ? expected.data() : nullptr;
    make_reference(u, p.k)->run(p, 0, p.m);
    for (std::size_t i = 0; i < outputs; ++i) {
      const std::size_t at = i * operands.k + p.k - 1;
      const std::string is = got.hexadecimal(at), wanted = want.hexadecimal(i);
      tally.check(is == wanted && raised[at] == expected[i], [&] {
        return fmt::format("{}, output {}, {} elements: got {} flags {}, want {} flags {}",
                           to_string(u), i, p.k, is, raised[at], wanted, expected[i]);
      });
    }
  }
}

}  // namespace tests
