#include "sum_run.hpp"

#include <cmath>
#include <limits>

#include "numbers.hpp"

namespace widthwise::hdl {
namespace {

using Limits = std::numeric_limits<std::int32_t>;

// The integer that a code of the port stands for.
std::int64_t zero_point_of(const SumRequantisation& s, std::uint64_t code) {
  const Format f = s.code();
  const std::uint64_t sign = f.is_signed() ? std::uint64_t{1} << (f.width() - 1) : 0;
  return static_cast<std::int64_t>((code ^ sign) - sign);
}

std::int32_t code_of(const SumRequantisation& s, const RequantiseRule& rule, const SumOperands& x) {
  const SumScale m = s.multiplier_port ? s.scale_of(x.multiplier) : s.scale();
  const std::int64_t z = s.zero_point_port ? zero_point_of(s, x.zero_point) : s.zero_point;
  std::int32_t code = 0;
  requantise(rule, {}, {m}, {z}, &x.sum, 0, 1, &code);
  return code;
}

Stimulus stimulus(std::int64_t sum) {
  const auto code = static_cast<std::uint32_t>(sum);
  return {.a = {Code(std::uint64_t{code})}, .b = {}, .c = {}, .scale_a = {}, .scale_b = {}};
}

void add_near(std::vector<Stimulus>& all, double sum) {
  if (!(std::abs(sum) < 0x1p31)) return;
  for (std::int64_t by = -2; by <= 2; ++by) all.push_back(stimulus(std::llround(sum) + by));
}

}  // namespace

// The range without a clamp is one code wider on either side.
Requantised requantised(const SumRequantisation& s, const SumOperands& x) {
  RequantiseRule wider = s.rule();
  --wider.qmin, ++wider.qmax;
  const std::int32_t code = code_of(s, s.rule(), x);
  return {code, code_of(s, wider, x) != code};
}

namespace {

std::vector<Stimulus> directed_by_constants(const SumRequantisation& s, std::uint64_t seed) {
  std::vector<Stimulus> all;
  for (int i = 0; i < 32; ++i)
    for (const std::int64_t by : {-1, 0, 1}) {
      all.push_back(stimulus((std::int64_t{1} << i) + by));
      all.push_back(stimulus(-(std::int64_t{1} << i) + by));
    }
  for (const std::int64_t end : {s.qmin, s.qmax, s.zero_point})
    for (const double half : {-1.0, -0.5, 0.0, 0.5, 1.0})
      add_near(all, (static_cast<double>(end - s.zero_point) + half) / s.multiplier);
  Random random(seed);
  const auto codes = static_cast<std::uint64_t>(s.qmax - s.qmin + 1);
  for (int i = 0; i < 64; ++i) {
    const auto code = static_cast<double>(random() % codes);
    add_near(all, (code + static_cast<double>(s.qmin - s.zero_point) + 0.5) / s.multiplier);
  }
  return all;
}

// Of any size, or of one whose code is not clamped.
Stimulus random_sum(const SumRequantisation& s, Random& random) {
  const double reach = static_cast<double>(s.qmax - s.qmin + 2) / s.multiplier;
  const auto near = static_cast<std::int64_t>(std::min(reach, 0x1p31));
  const auto drawn = static_cast<std::int64_t>(static_cast<std::int32_t>(random() >> 32));
  return stimulus(random() % 2 && near ? drawn % (near + 1)
                                       : drawn >> static_cast<int>(random() % 32));
}

// Codes of a port: those at the ends of a multiplier's fields, and beside.
std::vector<std::uint64_t> multipliers_at_ends(const SumRequantisation& s) {
  const auto all_of = [](std::initializer_list<std::uint64_t> high, int bits,
                         std::initializer_list<std::uint64_t> low) {
    std::vector<std::uint64_t> all;
    for (const std::uint64_t x : high)
      for (const std::uint64_t y : low) all.push_back(x << bits | y);
    return all;
  };
  if (s.takes_shift())
    return all_of({0, 1, 7, 30, 31, 32, 33, 34, 56, 63}, 32,
                  {0, 1, 1U << 30, 3U << 29, (1U << 31) - 1, 1U << 31, 0xffffffff});
  return all_of(
      {0, 1, 44, 45, 46, 95, 118, 126, 127, 149, 150, 151, 157, 189, 190, 191, 214, 254, 255}, 23,
      {0, 1, 1U << 22, (1U << 23) - 1});
}

// Half of all have an exponent that leaves some codes unclamped.
std::uint64_t random_multiplier(const SumRequantisation& s, Random& random) {
  const auto any = random() & ((std::uint64_t{1} << s.multiplier_format().width()) - 1);
  if (random() % 2) return any;
  if (s.takes_shift()) return (any & 0x7fffffff) | 1U << 30 | (40 + random() % 24) << 32;
  return (any & 0x7fffff) | (95 + random() % 40) << 23;
}

std::uint64_t random_zero_point(const SumRequantisation& s, Random& random) {
  return random() & ((std::uint64_t{1} << s.code().width()) - 1);
}

// Codes of a zero point: 0, the ends of its integers and of the results.
std::vector<std::uint64_t> zero_points_at_ends(const SumRequantisation& s) {
  const std::uint64_t half = std::uint64_t{1} << (s.code().width() - 1), all = 2 * half - 1;
  const auto code = [&](std::int64_t z) { return static_cast<std::uint64_t>(z) & all; };
  return {half, half - 1, all, 0, code(s.qmin), code(s.qmax)};
}

// The design with constants in the ports' place.
struct Constants {
  SumRequantisation design;
  std::uint64_t multiplier, zero_point;

  Constants(const SumRequantisation& s, std::uint64_t multiplier_code,
            std::uint64_t zero_point_code)
      : design(s), multiplier(multiplier_code), zero_point(zero_point_code) {
    if (s.zero_point_port) design.zero_point = zero_point_of(s, zero_point);
    if (!s.multiplier_port) return;
    const SumScale m = s.scale_of(multiplier);
    design.multiplier = std::ldexp(static_cast<double>(m.significand), m.exponent);
  }

  Stimulus at_ports(Stimulus x) const {
    x.b = {Code(multiplier)};
    x.c = {Code(zero_point)};
    return x;
  }
};

}  // namespace

std::vector<Stimulus> directed_sums(const SumRequantisation& s, std::uint64_t seed) {
  if (!s.multiplier_port && !s.zero_point_port) return directed_by_constants(s, seed);
  constexpr std::size_t each = 48;
  Random random(seed);
  std::vector<std::uint64_t> multipliers(16);
  if (s.multiplier_port) {
    for (std::uint64_t& m : multipliers) m = random_multiplier(s, random);
    for (const std::uint64_t m : multipliers_at_ends(s)) multipliers.push_back(m);
  }
  const std::vector<std::uint64_t> ends = zero_points_at_ends(s);
  std::vector<Stimulus> all;
  for (std::size_t at = 0; at < multipliers.size(); ++at) {
    const std::uint64_t z = at % 2 ? random_zero_point(s, random) : ends[at / 2 % ends.size()];
    const Constants constants(s, multipliers[at], z);
    const std::vector<Stimulus> sums = directed_by_constants(constants.design, random());
    for (std::size_t i = 0; i < each; ++i)
      all.push_back(constants.at_ports(sums[random() % sums.size()]));
  }
  return all;
}

std::vector<Stimulus> random_sums(const SumRequantisation& s, std::uint64_t seed,
                                  std::size_t count) {
  Random random(seed + 1);
  std::vector<Stimulus> all;
  while (all.size() < count) {
    const std::uint64_t m = s.multiplier_port ? random_multiplier(s, random) : 0;
    const Constants constants(s, m, random_zero_point(s, random));
    all.push_back(constants.at_ports(random_sum(constants.design, random)));
  }
  return all;
}

}  // namespace widthwise::hdl
