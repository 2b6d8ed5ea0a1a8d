#include "posits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels.hpp"
#include "sim/engine/tiled.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::lanes {
namespace {

// No inexact sum of two posits of d digits seems to lie on a border between two others where the
// carrier has 2 d + 1; exponents stay far from the carrier's ends.
constexpr int most_digits = (in_double.digits - 1) / 2, most_exponent = 400;

std::string unfit_format(const char* where, const Format& f) {
  if (!f.is_posit()) return fmt::format("{} = {} is no posit", where, to_string(f));
  return f.digits() <= most_digits && f.emax() <= most_exponent
             ? ""
             : fmt::format("{} = {} has too many digits, or too large exponents", where,
                           to_string(f));
}
std::string unfit_operand(const char* where, const Operand& x) {
  if (x != Operand{.fmt = x.fmt}) return fmt::format("{} is conditioned before use", where);
  return unfit_format(where, x.fmt);
}
// What becomes of zeros' signs and tininess a posit does not show.
std::string unfit_round(const char* where, const Round& r) {
  const Round plain{.fmt = r.fmt, .tininess = r.tininess};
  return r == plain ? unfit_format(where, r.fmt)
                    : fmt::format("{} does more than round to the nearest posit", where);
}

// Whether any two numbers have a sum of a carrier's digits. A product of another format than the
// sums' may be a border between two of these, which hides what is added to it.
bool sums_are_exact(const Format& a, const Format& b) {
  const std::int64_t top = std::max(a.emax(), b.emax()) + 1;
  return top - std::min(a.least_digit(), b.least_digit()) + 1 <= in_double.digits;
}

std::string unfit(const Unit& u) {
  if (std::string why = unlike_a_chain(u, unfit_operand, unfit_round); !why.empty()) return why;
  if (!u.product.round) return "products that are not rounded, before sums in posits";
  if (u.c.fmt != u.out.fmt) return "C is no sum's format";
  const Format& product = u.product.round->fmt;
  return product == u.out.fmt || sums_are_exact(product, u.out.fmt)
             ? ""
             : "products of another format than the sums, whose sums are no doubles";
}

PositPlace place(const Format& f) {
  const auto end = [](std::int64_t e) { return std::ldexp(1.0, static_cast<int>(e)); };
  return {f.width(), f.exp_bits, end(-f.emax()), end(f.emax())};
}

class PositProduct final : public TiledProduct<double, NothingBeside> {
 public:
  explicit PositProduct(const ProductTask& task)
      : TiledProduct(task, {.columns = tile_columns<double>, .depth = 256}),
        constants_{place(task.unit.product.round->fmt), place(task.unit.out.fmt)},
        kernel_(posit_kernel()) {}

 private:
  bool multiply(const Meeting& m) const override { return kernel_(tile_of<double>(m), constants_); }
  // Posits have one zero.
  Zeros doubtful_zeros(const TileState&) const override { return Zeros::none; }

  PositConstants constants_;
  PositKernel kernel_;
};

}  // namespace

Opinion opinion_in_posits(const ProductTask& task) {
  if (const std::string why = unfit(task.unit); !why.empty()) return {"lanes", false, why, 0};
  constexpr double rate = 0.33e9;  // products a second of one core with AVX2, measured
  return {"lanes", true,
          fmt::format("double lanes: patterns of posits, rounded to nearest; {}", target_name()),
          rate};
}

std::unique_ptr<ProductEngine> make_in_posits(const ProductTask& task) {
  return std::make_unique<PositProduct>(task);
}

}  // namespace widthwise::lanes
