#include <fmt/format.h>

#include <array>
#include <bit>
#include <vector>

#include "limb_ways.hpp"
#include "sim/wide/codes.hpp"
#include "widthwise/operations.hpp"
#include "widthwise/sim/codes.hpp"

namespace test_limb_codes {

// Codes to limbs and back: all that formats of every kind of encoding have.
namespace {

using namespace widthwise;
using namespace tests;

using Code = std::uint64_t;

constexpr const char* formats[] = {"e4m3",
                                   "e4m3fn",
                                   "e4m3fnuz",
                                   "e5m2;overflow=max",
                                   "ue4m4",
                                   "e8m0fnu",
                                   "e1m6",
                                   "e5m0;nan=all_ones",
                                   "e4m3;daz",
                                   "e4m3;ftz",
                                   "e3m4;sub=no",
                                   "e3m4;nan=none;inf=no;zero=no",
                                   "e4m3;nan=all_ones;inf=top",
                                   "e3m2;bias=-9"};
// Limbs of both ways, above and below one of the machine's words, and a leading one within a limb.
constexpr wide::Shape shapes[] = {{1, 64, 63, 1},  {2, 64, 127, 1}, {3, 64, 191, 1},
                                  {1, 52, 40, 8},  {2, 52, 100, 8}, {2, 52, 60, 8},
                                  {3, 52, 140, 8}, {4, 52, 160, 1}};

// A number of one lane.
class Held {
 public:
  explicit Held(const wide::Shape& s) : shape_(s), words_(s.words() * lanes()) {}

  wide::Limb* at() { return words_.data(); }
  std::size_t lanes() const { return static_cast<std::size_t>(shape_.lanes); }
  std::int64_t exponent() const { return static_cast<std::int64_t>(word(shape_.limbs)); }
  bool negative() const { return word(shape_.limbs + 1) != 0; }
  // So many places below the leading one.
  bool digit(int below) const {
    const int bit = shape_.leading - below;
    return word(bit / shape_.limb_bits) >> (bit % shape_.limb_bits) & 1;
  }
  int digits() const { return shape_.leading + 1; }

 private:
  wide::Limb word(int i) const { return words_[static_cast<std::size_t>(i) * lanes()]; }

  wide::Shape shape_;
  std::vector<wide::Limb> words_;
};

std::array<std::byte, 8> item_of(const Format& f, Code code) {
  std::array<std::byte, 8> item{};
  store_code(item.data(), item_bytes(f.width()), code);
  return item;
}

bool is_as(Held& x, const Number<Code>& lib, bool taken) {
  if (lib.infinite || lib.nan) return !taken;
  if (!taken || x.negative() != lib.negative) return false;
  const int top = digits<Code> - 1 - std::countl_zero(lib.sig);  // -1 for zero
  if (x.exponent() != (lib.zero ? wide::zero_exponent : lib.exp + top)) return false;
  for (int below = 0; below < x.digits(); ++below)
    if (x.digit(below) != (below <= top && (lib.sig >> (top - below) & 1))) return false;
  return true;
}

}  // namespace

TEST_CASE("limbs hold what every code stands for") {
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : formats)
    for (const wide::Shape& shape : shapes) {
      const Format f = parse_format(text);
      const Layout<Code> layout(f);
      const auto codec = wide::codec({.fmt = f}, shape);
      for (Code code = 0; code < Code{1} << f.width(); ++code) {
        Held x(shape);
        const bool taken = codec->load(item_of(f, code).data(), x.at(), x.lanes());
        tally.check(is_as(x, unpack(layout, code), taken),
                    [&] { return fmt::format("{} {:#x}, {} limbs", text, code, shape.limbs); });
        ++expected;
      }
    }
  tally.expect(expected);
}

TEST_CASE("limbs become the code that lib's conversion rounds to") {
  // Of 7 digits, so that nearly all formats cut some, down below the subnormals of most.
  const Format from = parse_format("e5m6");
  const Layout<Code> numbers(from);
  Tally tally;
  std::uint64_t expected = 0;
  for (const char* text : formats)
    for (const char* mode : {"rne", "rdn", "raz", "odd"})
      for (const wide::Shape& shape : shapes) {
        const Round to{.fmt = parse_format(text), .rm = parse_rounding(mode)};
        const Rounder<Code> rounder(to.fmt, Env{.rounding = to.rm});
        const auto in = wide::codec({.fmt = from}, shape), out = wide::codec(to, shape);
        for (Code code = 0; code < Code{1} << from.width(); ++code) {
          Held x(shape);
          if (!in->load(item_of(from, code).data(), x.at(), x.lanes())) continue;
          std::array<std::byte, 8> item{};
          const Flags flags = out->store(x.at(), x.lanes(), {}, item.data());
          const Result<Code> lib = convert(rounder, numbers, code);
          const Code found = load_code<Code>(item.data(), item_bytes(to.fmt.width()));
          tally.check(found == lib.code && flags == lib.flags, [&] {
            return fmt::format("{} {:#x} to {}: {:#x}, not {:#x}", mode, code, text, found,
                               lib.code);
          });
          ++expected;
        }
      }
  tally.expect(expected);
}

TEST_CASE("wide: final roundings") {
  Comparing all;
  for (const std::string& way : ways()) {
    for (const char* text :
         {"mac(e15m112, final=binary64)", "mac(binary64, sum=e15m112, final=e5m10:rtz)",
          "fma(binary64, sum=e15m112, final=e4m3fn;overflow=max:rna)",
          "mac(e8m70, final=ue8m3;nan=none;inf=no:rdn)", "fma(e15m112, final=e8m0fnu:rup)",
          "mac(e15m200, final=e20m200)", "mac(e11m70, final=e5m2;ftz:odd)",
          "mac(e5m10, sum=e3m60, final=e4m80)", "fma(e8m7, sum=e5m40, final=e20m1131)",
          "mac(e8m7, sum=e11m60, final=e5m10:sr13)", "mac(e11m70, final=e8m23:sr64:half)",
          "kahan(e15m63, final=e8m7;daz:sr30:even)",
          // 64 bits without a sign: one more than a word's layout has room for, in an item of a
          // word
          "mac(ue11m53;nan=none;inf=no, product=e15m112, sum=e15m112)",
          "mac(e15m112, final=ue11m53;nan=none;inf=no)"})
      all.compare(way, parse_unit(text), {{2, 1, 9}, {3, 7, 10}});
    Unit plus = parse_unit("mac(e15m112, final=binary64:rdn)");
    plus.chain.final->zero_sign = ZeroSign::plus, plus.chain.final->keep_frac = 40;
    all.compare(way, plus, {{2, 1, 9}, {3, 7, 10}});
    Unit twice = parse_unit("mac(e15m112, final=binary64:sr7)");
    twice.chain.final->post_norm_frac = 60, twice.chain.final->post_norm_rm = RoundingMode::rdn;
    all.compare(way, twice, {{2, 1, 9}, {3, 7, 10}});
    // Numbers that the format has, with more digits than are kept.
    Unit fewer = parse_unit("mac(e5m10, sum=e8m23, final=binary64)");
    fewer.chain.final->keep_frac = 9;
    all.compare(way, fewer, {{2, 1, 9}, {3, 7, 10}});
    fewer.chain.final->keep_frac = 30, fewer.chain.final->post_norm_frac = 5;
    all.compare(way, fewer, {{2, 1, 9}, {3, 7, 10}});
  }
}

}  // namespace test_limb_codes
