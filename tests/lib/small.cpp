#include "small.hpp"

#include "widthwise/sim/text.hpp"

namespace tests {

Target::Target(const Format& f, const std::vector<Env>& environments)
    : values_(&oracle::values(f)) {
  for (const Env& env : environments) rounders_.emplace_back(f, env);
}

namespace {

oracle::Outcome outcome(Operation op, const oracle::Values& to, std::initializer_list<Operand> x,
                        const Rounding& how, std::uint64_t random) {
  const Operand* p = x.begin();
  const auto coded = [p](int i) { return oracle::Coded(*p[i].codes->values, p[i].code); };
  switch (x.size()) {
    case 1: return oracle::outcome(op, to, {coded(0)}, how, random);
    case 2: return oracle::outcome(op, to, {coded(0), coded(1)}, how, random);
    default: return oracle::outcome(op, to, {coded(0), coded(1), coded(2)}, how, random);
  }
}

}  // namespace

void Judge::compare(const std::string& what, const Rounder<Small>& to, std::uint64_t random,
                    const Result<Small>& got, const oracle::Answer& want) {
  tally_.check(got.code == want.code && got.flags == want.flags, [&] {
    return Description{what,
                       to.layout.format,
                       to.env,
                       random,
                       {got.code},
                       {want.code},
                       static_cast<Flags>(got.flags),
                       want.flags}
        .text();
  });
}

void Judge::operator()(Operation op, const Target& to, std::initializer_list<Operand> x) {
  Coded<Small> coded[3]{};
  for (Coded<Small>* p = coded; const Operand& operand : x)
    *p++ = {&operand.codes->layout, static_cast<Small>(operand.code)};
  const bool rounds_twice =
      op == Operation::round_to_integral || op == Operation::round_to_integral_exact;
  oracle::Outcome exact = outcome(op, to.values(), x, {}, 0);
  for (const Rounder<Small>& rounder : to.rounders()) {
    const std::uint64_t r = random_bits(rounder.env, random_);
    if (rounds_twice) exact = outcome(op, to.values(), x, rounder.env.rounding, r);
    const oracle::Answer want = oracle::deliver(exact, rounder.env, r);
    const Result<Small> got = apply(op, rounder, coded, static_cast<Small>(r));
    tally_.check(got.code == want.code && got.flags == want.flags, [&] {
      return Description{
          call_text(op, coded), rounder.layout.format,         rounder.env, r, {got.code},
          {want.code},          static_cast<Flags>(got.flags), want.flags}
          .text();
    });
  }
}

void Judge::all_codes(Operation op, const Target& to, const Codes& f) {
  for (std::uint64_t a = 0; a < f.size(); ++a) (*this)(op, to, {{&f, a}});
}

void Judge::all_pairs(Operation op, const Target& to, const Codes& f, const Codes& g) {
  for (std::uint64_t a = 0; a < f.size(); ++a)
    for (std::uint64_t b = 0; b < g.size(); ++b) (*this)(op, to, {{&f, a}, {&g, b}});
}

std::vector<Format> formats(std::initializer_list<std::string_view> texts) {
  std::vector<Format> all;
  for (std::string_view text : texts) all.push_back(parse_format(text));
  return all;
}

const std::vector<Format>& main_formats() {
  static const std::vector<Format> all =
      formats({"e4m3fn", "e5m2", "e4m3fnuz", "binary8p3se", "ue4m3fn", "e3m4;sub=no"});
  return all;
}

const std::vector<Format>& tiny_formats() {
  static const std::vector<Format> all = formats({"e2m1fn",
                                                  "e2m2",
                                                  "e3m1",
                                                  "e1m3;nan=none",
                                                  "e2m2;nan=negative_zero",
                                                  "binary5p3se",
                                                  "binary5p1se",
                                                  "ue3m2",
                                                  "e2m2;sub=no",
                                                  "e3m1;sub=no;nan=none",
                                                  "ue2m2;zero=no;nan=all_ones",
                                                  "e2m1;zero=no;nan=none",
                                                  "e2m2;nan=all_ones",
                                                  "e3m0;nan=none",
                                                  "e3m1;bias=9",
                                                  "e2m2;bias=-7",
                                                  "binary5p4uf",
                                                  "e2m2;ftz",
                                                  "e2m2;daz",
                                                  "e2m2;overflow=max"});
  return all;
}

namespace {

std::vector<Format> named_formats_of_eight_bits() {
  std::vector<Format> all;
  for (const NamedFormat& named : named_formats())
    if (named.format.width() <= 8) all.push_back(named.format);
  return all;
}

std::vector<Format> p3109_formats() {
  std::vector<Format> all;
  for (int precision = 1; precision <= 7; ++precision)
    for (bool is_signed : {true, false})
      for (bool extended : {true, false})
        all.push_back(p3109_format(8, precision, is_signed, extended));
  return all;
}

}  // namespace

const std::vector<Format>& small_formats() {
  static const std::vector<Format> all = [] {
    std::vector<Format> list = named_formats_of_eight_bits();
    for (const Format& f : p3109_formats()) list.push_back(f);
    // No subnormals, no zero, neither.
    for (const Format& f : formats({"e4m3;sub=no", "e5m2;sub=no;nan=none", "e4m3fn;sub=no",
                                    "e3m3;sub=no;nan=negative_zero", "ue4m3;sub=no",
                                    "e4m2;zero=no;nan=none", "ue3m4;zero=no;nan=all_ones",
                                    "e3m3;zero=no", "e6m1;sub=no", "e5m0;sub=no;nan=none"}))
      list.push_back(f);
    // Unusual biases: everything below one, everything above, the middle elsewhere.
    for (const Format& f : formats({"e3m3;bias=20", "e3m3;bias=-9", "e4m3;bias=0", "e4m2;bias=100",
                                    "ue4m3;bias=-30", "e4m3fn;bias=15"}))
      list.push_back(f);
    // One exponent bit, one digit, and combinations of specials that nobody has named.
    for (const Format& f : formats({"e1m3;nan=none",
                                    "e1m6;nan=none",
                                    "e1m3",
                                    "ue1m4;nan=all_ones",
                                    "e3m0;nan=none",
                                    "e5m0;nan=ieee",
                                    "e5m0;nan=ieee;inf=no",
                                    "e4m0;nan=all_ones",
                                    "ue7m0;nan=none",
                                    "e6m0;nan=negative_zero;inf=top",
                                    "e1m0;nan=none",
                                    "e1m1;nan=none",
                                    "e3m3;nan=ieee;inf=no",
                                    "e4m3;nan=none;inf=top",
                                    "e3m3;nan=all_ones;inf=top",
                                    "e5m1;nan=all_ones;inf=top",
                                    "e2m4;nan=negative_zero;inf=top",
                                    "e6m1",
                                    "e2m5",
                                    "ue5m2",
                                    "ue4m4",
                                    "binary8p8ue",
                                    "binary3p2se"}))
      list.push_back(f);
    return list;
  }();
  return all;
}

}  // namespace tests
