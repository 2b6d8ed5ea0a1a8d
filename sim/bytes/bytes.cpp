#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "sim/containers/integer_lanes.hpp"
#include "sim/engine/engines.hpp"
#include "sim/engine/plain.hpp"
#include "sim/engine/rewritten.hpp"
#include "sim/exact/plan.hpp"
#include "widthwise/sim/integer_product.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::bytes {
namespace {

constexpr int sum_bits = 32;
constexpr std::int64_t furthest = 900;  // last digits, either way, of sums that are doubles

// Codes are bytes, and a product is that of two of them times 2^product_last.
std::string unfit_factor(const char* where, const Operand& x) {
  if (x.fmt.is_fixed() && x.fmt.width() <= 8 && is_plain(x)) return {};
  return fmt::format("{} = {} is not fixed point of up to 8 bits as it lies", where,
                     to_string(x.fmt));
}

std::int64_t largest(const Format& f) { return (std::int64_t{1} << f.frac_bits) - !f.is_signed(); }
// Whether k products and C stay below 2^31 times a product's last digit.
bool stays(const Unit& u, std::size_t k) {
  const std::int64_t up = u.c.fmt.least_digit() - product_last(u);
  if (u.c.fmt.width() + up > sum_bits) return false;
  const std::int64_t c = largest(u.c.fmt) << up;
  return static_cast<std::int64_t>(k) * largest(u.a.fmt) * largest(u.b.fmt) + c <
         std::int64_t{1} << (sum_bits - 1);
}
// Whether 32 bits tell all there is of the register, whose sums are whole products.
bool told_in_32_bits(const exact::Plan& p, const Unit& u, std::size_t k) {
  if (p.terms != exact::Terms::whole) return false;
  if (p.reg == exact::Register::open) return stays(u, k);
  const std::int64_t bits = p.last + *u.group_sum.width - product_last(u);
  return (bits == sum_bits && p.reg == exact::Register::wraps) || (bits >= sum_bits && stays(u, k));
}

std::string unfit(const Unit& u, std::size_t k) {
  const exact::Answer sums = exact::plan(u, k, false);
  if (!sums.plan) return sums.reason;
  if (u.scale) return "scales";
  if (u.chain.final || !is_plain(u.out) || u.out.rm.stochastic())
    return "more than one rounding, or one by random bits";
  if (!u.out.fmt.is_fixed())
    return fmt::format("out = {} is not fixed point", to_string(u.out.fmt));
  if (std::string why = unfit_factor("a", u.a); !why.empty()) return why;
  if (std::string why = unfit_factor("b", u.b); !why.empty()) return why;
  if (!u.c.fmt.is_fixed() || !is_plain(u.c) || u.c.fmt.least_digit() < product_last(u))
    return fmt::format("c = {} is not fixed point that ends where products do", to_string(u.c.fmt));
  if (std::abs(product_last(u)) > furthest) return "products that end too far from 1";
  if (!told_in_32_bits(*sums.plan, u, k)) return "sums, or a register, of other than 32 bits";
  return {};
}

// Integers of a format's last digit in bytes.
Format in_bytes(const Format& f) {
  return f.width() == 8 ? f : fixed_format(8, -f.least_digit(), f.is_signed());
}
IntegerMatrix integers(const CodeMatrix& x, const Format& f) {
  return {x.data, x.row, x.column, {1, f.is_signed()}};
}

// What 32 bits are as codes. Those of a format that differs in its overflow alone are the same, but
// where one of them is not its number.
Format sums_of(const Unit& u) {
  Format f = fixed_format(sum_bits, -product_last(u), true);
  f.overflow = Overflow::wrap;
  return f;
}
Format as_sums(const Unit& u, const Format& f) {
  const Format sums = sums_of(u);
  Format alike = f;
  alike.overflow = sums.overflow;
  return alike == sums && f.overflow != Overflow::symmetric ? f : sums;
}

class BytesProduct final : public ProductEngine {
 public:
  explicit BytesProduct(const ProductTask& task)
      : unit_(task.unit),
        k_(task.k),
        a_(unit_.a.fmt, in_bytes(unit_.a.fmt), task.outputs),
        b_(unit_.b.fmt, in_bytes(unit_.b.fmt), task.outputs),
        c_(unit_.c.fmt, as_sums(unit_, unit_.c.fmt), task.outputs) {
    check(unit_);
    if (as_sums(unit_, unit_.out.fmt) != unit_.out.fmt)
      deliver_.emplace(conversion(binary64, unit_.out.fmt, unit_.out.rm, false, task.outputs));
  }

  void run(const MatrixProduct& whole, std::size_t first, std::size_t last) const override {
    const MatrixProduct p = tile(unit_, whole, first, 0, last - first, whole.n);
    Codes held, a, b, c;
    std::vector<std::int32_t> sums(p.m * p.n);
    const IntegerProduct product{.m = p.m,
                                 .n = p.n,
                                 .k = k_,
                                 .a = integers(a_.read(p.a, p.m, k_, held, a), unit_.a.fmt),
                                 .b = integers(b_.read(p.b, k_, p.n, held, b), unit_.b.fmt),
                                 .zero_a = {0},
                                 .zero_b = {0}};
    PreparedIntegers(product).run(0, p.m, sums.data());
    if (p.c.data) add(c_.read(p.c, p.m, p.n, held, c), p, sums.data());
    std::vector<double> numbers(p.n);
    for (std::size_t i = 0; i < p.m; ++i) deliver(p, i, sums.data() + i * p.n, numbers.data());
  }

 private:
  static void add(const CodeMatrix& c, const MatrixProduct& p, std::int32_t* sums) {
    const auto* from = static_cast<const std::uint32_t*>(c.data);
    for (std::size_t i = 0; i < p.m; ++i)
      for (std::size_t j = 0; j < p.n; ++j, ++sums)
        *sums = static_cast<std::int32_t>(static_cast<std::uint32_t>(*sums) +
                                          from[static_cast<std::ptrdiff_t>(i) * c.row +
                                               static_cast<std::ptrdiff_t>(j) * c.column]);
  }
  void deliver(const MatrixProduct& p, std::size_t row, const std::int32_t* sums,
               double* numbers) const {
    std::byte* const to =
        static_cast<std::byte*>(p.result) + p.output(row, 0) * bytes_of(unit_.out.fmt);
    if (!deliver_) {
      std::memcpy(to, sums, p.n * sizeof *sums);
      return;
    }
    const double digit = std::ldexp(1.0, static_cast<int>(product_last(unit_)));
    for (std::size_t j = 0; j < p.n; ++j) numbers[j] = sums[j] * digit;
    const void* const from[] = {numbers};
    deliver_->run(from, p.n, to, nullptr);
  }

  Unit unit_;
  std::size_t k_;
  Rewritten a_, b_, c_;
  std::optional<Elementwise> deliver_;  // where results are other codes than sums
};

// Measured: as it is, brought to another format by doubles in lanes, or one by one.
double seconds_of_sum(const Unit& u) {
  const Format& out = u.out.fmt;
  if (as_sums(u, out) == out) return 1e-9;
  return out.width() <= 32 ? 3e-9 : 40e-9;
}

}  // namespace

Opinion opinion(const ProductTask& task) {
  if (std::string why = unfit(task.unit, task.k); !why.empty())
    return {"bytes", false, std::move(why), 0};
  const bool in_fours = integer_product::tile_kernel(true).together == 4;
  const double of_product = in_fours ? 1e-11 : 3e-11;
  const double seconds = of_product + seconds_of_sum(task.unit) / static_cast<double>(task.k);
  return {"bytes", true,
          fmt::format("sums in 32 bits, of {} products of bytes at a time", in_fours ? 4 : 2),
          share_of(task, outputs_under_way) / seconds};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  return std::make_unique<BytesProduct>(task);
}

}  // namespace widthwise::bytes
