#pragma once
#include "tests/sim/products.hpp"

namespace tests {

// Ordinary operands of a product.
struct Ordinary {
  CodeList a, b, scale_a, scale_b;
  widthwise::MatrixProduct p;

  Ordinary(const widthwise::Unit& u, const Rival::Shape& s, ProductRandom& random)
      : a(about_one(u.a.fmt, s.m * s.k, random)),
        b(about_one(u.b.fmt, s.k * s.n, random)),
        scale_a(about_one(scale(u), s.m * scales(u, s.k), random)),
        scale_b(about_one(scale(u), scales(u, s.k) * s.n, random)) {
    p.m = s.m, p.k = s.k, p.n = s.n;
    p.a = a.rows(s.k), p.b = b.rows(s.n);
    if (u.scale) p.scale_a = scale_a.rows(scales(u, s.k)), p.scale_b = scale_b.rows(s.n);
  }

 private:
  static CodeList about_one(const widthwise::Format& f, std::size_t count, ProductRandom& random) {
    return codes(f, count, Manner::about_one, random);
  }
  static widthwise::Format scale(const widthwise::Unit& u) {
    return u.scale ? u.scale->fmt : widthwise::e8m0fnu;
  }
  static std::size_t scales(const widthwise::Unit& u, std::size_t k) {
    return u.scale ? (k - 1) / static_cast<std::size_t>(u.scale->block) + 1 : 1;
  }
};

}  // namespace tests
