#include "numbers.hpp"

#include <bit>

#include "stored_codes.hpp"

namespace widthwise::hdl {

Code random_code(const Format& f, Random& random) {
  Code code;
  for (auto& limb : code.limb) limb = random();
  return within(f, code);
}

Number apply(Operation op, const Format& to, const std::vector<Number>& x) {
  std::vector<Bytes> bytes;
  std::vector<CodeArray> operands;
  for (const Number& n : x) bytes.push_back(stored({n.code}, n.format));
  for (std::size_t i = 0; i < x.size(); ++i) operands.push_back({x[i].format, bytes[i].data()});
  Format ends = to;
  if (to.wraps()) ends.overflow = Overflow::ieee;
  Bytes result = stored({Code()}, to);
  elementwise(op, ends, {}, operands, 1, result.data(), nullptr);
  return {to, loaded(result, to)[0]};
}

Number whole(std::int64_t m, std::int64_t e) {
  constexpr Format f = ieee_format(30, 64);
  const Code sign = m < 0 ? sign_of(f) : Code();
  const std::uint64_t magnitude =
      m < 0 ? -static_cast<std::uint64_t>(m) : static_cast<std::uint64_t>(m);
  if (magnitude == 0) return {f, sign};
  const int leading = std::bit_width(magnitude) - 1;
  const Code field(static_cast<std::uint64_t>(e + leading + f.bias));
  // The leading one is not stored: the field is one lower, and it carries.
  return {f, (((field - Code(1)) << f.frac_bits) + (Code(magnitude) << (f.frac_bits - leading))) |
                 sign};
}

}  // namespace widthwise::hdl
