#include "significand_products.hpp"

#include "sim/dot/checked_product.hpp"

namespace widthwise {

SignificandProducts::SignificandProducts(Multiplier multiply, int digits_a, int digits_b)
    : multiply_(std::move(multiply)), digits_a_(digits_a), digits_b_(digits_b) {}

void SignificandProducts::expect(std::size_t count) const {
  const int digits = digits_a_ + digits_b_;
  if (digits > most_digits) return;
  if ((expected_ += count) < std::size_t{1} << digits) return;
  std::call_once(once_, [&] {
    memory_ = std::vector<Known>(std::size_t{1} << digits);
    known_ = memory_.data();
  });
}

double SignificandProducts::asked(std::uint64_t a, std::uint64_t b) const {
  if (a == 0 || b == 0) return 1;
  return static_cast<double>(CheckedProduct{multiply_, digits_a_, digits_b_}(a, b));
}

void SignificandProducts::row(std::uint64_t a, const std::uint64_t* b, std::size_t n,
                              double* products) const {
  Known* const all = known_;
  if (!all) {
    for (std::size_t i = 0; i < n; ++i) products[i] = asked(a, b[i]);
    return;
  }
  Known* const of_a = all + (a << digits_b_);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t known = of_a[b[i]].load(std::memory_order_relaxed);
    if (known == 0) {
      known = static_cast<std::uint32_t>(asked(a, b[i])) + 1;
      of_a[b[i]].store(known, std::memory_order_relaxed);
    }
    products[i] = known - 1.0;
  }
}

}  // namespace widthwise
