#include <algorithm>
#include <span>

#include "widthwise/op/convert.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise {
namespace {

constexpr int widest = 4160;  // digits: holds every code within the limits
using Widest = Wide<widest / 64>;

// Limbs without trailing zero bits, and how many were dropped.
template <class U>
std::vector<std::uint64_t> odd_limbs(U sig, std::int64_t& exponent) {
  Wide<std::max(2, digits<U> / 64)> x(sig);
  int low = 0;
  while (x.limb[low] == 0) ++low;
  const int drop = 64 * low + std::countr_zero(x.limb[low]);
  x = x >> drop;
  exponent += drop;
  const auto length = static_cast<std::size_t>(bit_length(x) + 63) / 64;
  return {x.limb, x.limb + length};
}

template <class U>
Value value_in(const Format& f, const void* code) {
  const auto bits = load_code<U>(static_cast<const std::byte*>(code), item_bytes(f.width()));
  const Number<U> x = unpack(Layout<U>(f), bits);
  Value v{Kind::finite, bool(x.negative), bool(x.signaling), {}, 0};
  if (x.nan) return v.kind = Kind::nan, v;
  if (x.infinite) return v.kind = Kind::infinite, v;
  if (x.zero) return v.kind = Kind::zero, v;
  v.exponent = x.exp;
  v.significand = odd_limbs(x.sig, v.exponent);
  return v;
}

std::vector<std::uint64_t> limbs(const Format&, std::uint64_t code) { return {code}; }
std::vector<std::uint64_t> limbs(const Format& f, const Widest& code) {
  return {code.limb, code.limb + (f.width() + 63) / 64};
}

std::optional<std::uint64_t> find_listed(const Format& f, NamedCode which) {
  using Found = std::optional<std::uint64_t>;
  const Table& t = *f.table;
  const std::span values(t.values, static_cast<std::size_t>(t.count));
  const auto positive =
      std::ranges::find_if(values, [](const TableValue& v) { return v.sig != 0 && !v.negative; });
  const auto one = std::ranges::find_if(values, [&](const TableValue& v) {
    return !v.negative && v.exp == 1 - t.digits && v.sig == std::uint64_t{1} << (t.digits - 1);
  });
  const auto found = [&](auto at) { return at == values.end() ? Found() : Found(at->code); };
  switch (which) {
    case NamedCode::zero: return t.has_zero ? Found(t.zero) : Found();
    case NamedCode::min_normal: return found(positive);
    case NamedCode::one: return found(one);
    case NamedCode::max_finite: return Found(t.largest().code);
    case NamedCode::nan: return t.has_nan ? Found(t.nan) : Found();
    default: return {};
  }
}

// U holds all that the format's operations need.
template <class U>
std::optional<U> find(const Format& f, NamedCode which) {
  using Found = std::optional<U>;
  const Layout<U> l(f);
  const U least(1), none{};
  const bool subnormals = f.is_float() && f.frac_bits > 0 && !l.all_normal;
  switch (which) {
    case NamedCode::zero: return f.zero ? Found(none) : Found();
    case NamedCode::min_subnormal: return subnormals ? Found(least) : Found();
    case NamedCode::max_subnormal:
      return subnormals ? Found(std::min(l.fraction_mask, l.max_finite)) : Found();
    case NamedCode::min_normal: {
      if (!f.is_float()) return l.max_finite == none ? Found() : Found(least);
      const U code = !l.all_normal ? l.hidden : f.zero ? least : none;
      return code > l.max_finite ? Found() : Found(code);
    }
    case NamedCode::max_finite: return l.max_finite;
    case NamedCode::infinity: return f.has_inf() ? Found(l.infinity) : Found();
    case NamedCode::nan: return f.has_nan() ? Found(l.nan_code) : Found();
    case NamedCode::one: {
      const Rounder<U> to(f);
      const Result<U> z = from_integer(to, false, 1);
      return z.flags == 0 ? Found(z.code) : Found();
    }
  }
  return {};
}

}  // namespace

Value value_of(const Format& f, const void* code) {
  const int digits = std::max(f.magnitude_bits() + 1, f.precision());
  if (digits <= 64) return value_in<std::uint64_t>(f, code);
  return digits <= 128 ? value_in<uint128>(f, code) : value_in<Widest>(f, code);
}

std::string_view to_string(NamedCode which) {
  switch (which) {
    case NamedCode::zero: return "zero";
    case NamedCode::min_subnormal: return "min_subnormal";
    case NamedCode::max_subnormal: return "max_subnormal";
    case NamedCode::min_normal: return "min_normal";
    case NamedCode::one: return "one";
    case NamedCode::max_finite: return "max_finite";
    case NamedCode::infinity: return "infinity";
    case NamedCode::nan: return "nan";
  }
  return "";
}

std::optional<std::vector<std::uint64_t>> find_code(const Format& f, NamedCode which) {
  const auto listed = [&](const auto& code) {
    return code ? std::optional(limbs(f, *code)) : std::nullopt;
  };
  if (f.is_table()) return listed(find_listed(f, which));
  return digits_needed(f) <= 64 ? listed(find<std::uint64_t>(f, which))
                                : listed(find<Widest>(f, which));
}

}  // namespace widthwise
