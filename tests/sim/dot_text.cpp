#include "dot_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "widthwise/sim/codes.hpp"

namespace tests {
namespace {

std::size_t digits_of(const Format& f) { return static_cast<std::size_t>(f.width() + 3) / 4; }
std::size_t bytes_of(const Format& f) { return static_cast<std::size_t>(item_bytes(f.width())); }

std::vector<std::byte> packed(const Format& f, const std::string& hex) {
  const std::size_t digits = digits_of(f), bytes = bytes_of(f);
  if (hex.size() % digits != 0) throw std::invalid_argument(hex + ": not whole codes");
  std::vector<std::byte> items(hex.size() / digits * bytes);
  for (std::size_t i = 0; i < hex.size(); ++i) {
    const std::size_t place = digits - 1 - i % digits;  // hexadecimal digits above the lowest
    const auto nibble = static_cast<std::byte>(std::stoi(hex.substr(i, 1), nullptr, 16));
    items[i / digits * bytes + place / 2] |= nibble << (place % 2 * 4);
  }
  return items;
}

std::string unpacked(const Format& f, const std::vector<std::byte>& item) {
  std::string hex;
  for (std::size_t place = digits_of(f); place-- > 0;)
    hex += "0123456789abcdef"[static_cast<int>(item[place / 2] >> (place % 2 * 4)) & 15];
  return hex;
}

// The magnitude of a positive number, by its exponent and fraction.
std::uint64_t magnitude(const Format& f, double x) {
  const int e = std::max<int>(std::ilogb(x), static_cast<int>(f.emin()));
  const double sig = std::ldexp(x, f.frac_bits - e);
  const auto m = static_cast<std::uint64_t>(sig);
  if (static_cast<double>(m) != sig || e > f.emax())
    throw std::invalid_argument("not a number of the format");
  const std::uint64_t hidden = std::uint64_t{1} << f.frac_bits;
  if (m < hidden) return m;
  return static_cast<std::uint64_t>(e + f.bias) << f.frac_bits | (m - hidden);
}

std::uint64_t code(const Format& f, double x) {
  const Layout<uint128> layout(f);
  if (std::isnan(x)) return static_cast<std::uint64_t>(layout.nan_code);
  const std::uint64_t sign = std::signbit(x) ? static_cast<std::uint64_t>(layout.sign) : 0;
  if (std::isinf(x)) return sign | static_cast<std::uint64_t>(layout.infinity);
  return sign | (x == 0 ? 0 : magnitude(f, std::fabs(x)));
}

}  // namespace

std::string codes(const Format& f, const std::vector<double>& numbers) {
  std::string hex;
  for (double x : numbers) hex += fmt::format("{:0{}x}", code(f, x), digits_of(f));
  return hex;
}

Dot::Dot(const Unit& unit, const DotText& text)
    : result_(result_round(unit).fmt),
      a_(packed(unit.a.fmt, text.a)),
      b_(packed(unit.b.fmt, text.b)),
      c_(packed(unit.c.fmt, text.c)) {
  const std::size_t k = a_.size() / bytes_of(unit.a.fmt);
  if (k != b_.size() / bytes_of(unit.b.fmt)) throw std::invalid_argument("a and b of two lengths");
  static const std::byte nothing{};  // an empty operand is not an absent one
  product_.m = product_.n = 1;
  product_.k = k;
  product_.seed = text.seed;
  product_.first_index = text.index;
  product_.a = {a_.empty() ? &nothing : a_.data(), 0, 1};
  product_.b = {b_.empty() ? &nothing : b_.data(), 1, 0};
  product_.c = {c_.data(), 0, 0};
  if (!unit.scale) return;
  scale_a_ = packed(unit.scale->fmt, text.scale_a);
  scale_b_ = packed(unit.scale->fmt, text.scale_b);
  product_.scale_a = {scale_a_.empty() ? &nothing : scale_a_.data(), 0, 1};
  product_.scale_b = {scale_b_.empty() ? &nothing : scale_b_.data(), 1, 0};
}

std::string Dot::run(const ReferenceUnit& unit) const {
  Flags flags = 0;
  return run(unit, flags);
}

std::string Dot::run(const ReferenceUnit& unit, Flags& flags) const {
  std::vector<std::byte> result(bytes_of(result_));
  std::uint8_t raised = 0;
  MatrixProduct p = product_;
  p.result = result.data(), p.flags = &raised;
  unit.run(p, 0, 1);
  flags = raised;
  return unpacked(result_, result);
}

std::string Dot::at_the_end_of_the_trace(const ReferenceUnit& unit) const {
  const std::string code = unit.trace(product_, 0, 0).back().significand;
  return std::string(digits_of(result_) - code.size(), '0') + code;
}

std::vector<std::string> Dot::trace(const ReferenceUnit& unit) const {
  constexpr const char* kinds[] = {"zero", "", "inf", "nan"};
  std::vector<std::string> rows;
  for (TraceRow& r : unit.trace(product_, 0, 0)) {
    if (r.stage == Stage::normalise || r.stage == Stage::denormalise)
      for (; r.significand.back() == '0'; r.exponent += 4) r.significand.pop_back();
    const std::string kind = kinds[static_cast<int>(r.kind)];
    const std::string number = fmt::format("{}p{}", r.significand, r.exponent);
    rows.push_back(fmt::format("{} {} {} {}{}", stage_names[static_cast<int>(r.stage)], r.slot,
                               r.lane, r.negative ? "-" : "", kind.empty() ? number : kind));
  }
  return rows;
}

Question::Question(const std::string& line) {
  std::vector<std::string> fields(1);
  for (char c : line) {
    if (c == '\t')
      fields.emplace_back();
    else
      fields.back() += c == '|' ? '\n' : c;
  }
  if (fields.size() != 9) throw std::invalid_argument(line + ": not nine fields");
  unit_text = fields[0];
  operands = {fields[1],
              fields[2],
              fields[3],
              fields[4],
              fields[5],
              std::stoull(fields[6], nullptr, 16),
              std::stoull(fields[7], nullptr, 16)};
  want = fields[8];
}

std::string dot(const Unit& unit, const DotText& text) {
  const Dot dot(unit, text);
  return dot.run(*make_reference(unit, dot.k()));
}

std::string dot(const Unit& unit, const std::vector<double>& a, const std::vector<double>& b,
                double c) {
  return dot(unit, {codes(unit.a.fmt, a), codes(unit.b.fmt, b), codes(unit.c.fmt, {c})});
}

}  // namespace tests
