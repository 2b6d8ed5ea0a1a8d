#pragma once
#include <doctest/doctest.h>

#include "tests/sim/products.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace tests {

inline const char* const wide_text = "mp = uint128(ma) * mb << 9;";
inline void wide_product(std::uint64_t a, std::uint64_t b, widthwise::uint128* mp) {
  *mp = widthwise::uint128{a} * b << 9;
}

// An engine refuses a product of too many digits in the reference's words, and multiplies neither
// specials nor zeros.
inline void check_wide_product(const char* engine, const widthwise::TextProduct& wide) {
  const widthwise::Unit u = widthwise::parse_unit("mac(e5m2)");
  CodeList a(u.a.fmt, 1), sum(result_round(u).fmt, 1);
  widthwise::MatrixProduct p;
  p.m = p.n = p.k = 1;
  p.a = p.b = a.rows(1), p.result = sum.data();
  const widthwise::Prepared prepared = widthwise::prepare({u, 1, false, wide}, engine);
  a.set(0, 0x3e);  // 1.5
  CHECK_THROWS_WITH_AS(prepared.product->run(p, 0, 1),
                       "multiplier: 0x6 * 0x6 gave a product of 15 bits; that of significands of "
                       "3 and 3 digits has at most 6",
                       std::invalid_argument);
  for (const std::uint64_t none : {0x00, 0x7c}) {
    a.set(0, none);
    CHECK_NOTHROW(prepared.product->run(p, 0, 1));
    CHECK(sum[0] == none);
  }
}

}  // namespace tests
