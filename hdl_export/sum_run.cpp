#include "sum_run.hpp"

#include <cmath>
#include <limits>

#include "numbers.hpp"

namespace widthwise::hdl {
namespace {

using Limits = std::numeric_limits<std::int32_t>;

std::int32_t code_of(const SumRequantisation& s, const RequantiseRule& rule, std::int32_t sum) {
  std::int32_t code = 0;
  requantise(rule, {}, {s.scale()}, {s.zero_point}, &sum, 0, 1, &code);
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
Requantised requantised(const SumRequantisation& s, std::int32_t sum) {
  RequantiseRule wider = s.rule();
  --wider.qmin, ++wider.qmax;
  const std::int32_t code = code_of(s, s.rule(), sum);
  return {code, code_of(s, wider, sum) != code};
}

std::vector<Stimulus> directed_sums(const SumRequantisation& s, std::uint64_t seed) {
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

std::vector<Stimulus> random_sums(const SumRequantisation& s, std::uint64_t seed,
                                  std::size_t count) {
  Random random(seed + 1);
  const double reach = static_cast<double>(s.qmax - s.qmin + 2) / s.multiplier;
  const auto near = static_cast<std::int64_t>(std::min(reach, 0x1p31));
  std::vector<Stimulus> all;
  while (all.size() < count) {
    const auto drawn = static_cast<std::int64_t>(static_cast<std::int32_t>(random() >> 32));
    all.push_back(stimulus(all.size() % 2 && near ? drawn % (near + 1)
                                                  : drawn >> static_cast<int>(random() % 32)));
  }
  return all;
}

}  // namespace widthwise::hdl
