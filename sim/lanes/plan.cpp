#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/engine/fields.hpp"
#include "sim/engine/final_rounding.hpp"
#include "sim/engine/machine_rounding.hpp"
#include "sim/engine/plain.hpp"
#include "sim/engine/unusual.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::lanes {
namespace {

const char* unfit(const Format& f) {
  if (!f.is_float()) return "is no float";
  if (const char* why = lacks_numbers(f)) return why;
  return f.width() > 64 ? "has more than 64 bits" : nullptr;
}

std::string unfit_round(const char* where, const Round& r) {
  if (const char* why = unfit(r.fmt))
    return fmt::format("{} = {} {}", where, to_string(r.fmt), why);
  if (r.fmt.daz && !r.fmt.ftz)
    return fmt::format("{} = {} reads subnormals as zeros, and delivers them", where,
                       to_string(r.fmt));
  if (r.fmt.nan == NanCodes::sign_alone && !r.rm.stochastic() && r.rm.mode != RoundingMode::rne)
    return fmt::format("{} = {} has no -0, and rounds by {}", where, to_string(r.fmt),
                       to_string(r.rm));
  if (r.rm.stochastic() && r.rm.variant != StochasticVariant::plain)
    return fmt::format("{} rounds by {}; of these lanes take sr<k>", where, to_string(r.rm));
  if (r.keep_frac || r.post_norm_frac || r.subnormals != Flush::keep ||
      r.zero_sign != ZeroSign::ieee || r.nan_bits)
    return fmt::format("{} does more than round to its format", where);
  return {};
}

constexpr bool exact(const Sum& s) {
  return s.align.reference == Reference::exact && !s.width && !s.node_round;
}

// Why the unit is no chain of multiply-adds over floats, each of one product; empty if it is.
std::string unfit(const Unit& u) { return unlike_a_chain(u, unlike_a_float, unfit_round); }

// Why products and sums cannot share one rounding mode of the carrier's; empty if they can.
std::string unlike_modes(const Unit& u) {
  const Rounding wanted = u.out.rm.stochastic() ? Rounding() : u.out.rm;
  if (!u.product.round || u.product.round->rm == wanted) return {};
  return fmt::format("product.round does not round by {}, as it has to with out's {}",
                     to_string(wanted), to_string(u.out.rm));
}

// What is rounded goes to the machine's format, flushed or not, and overflow as IEEE 754 has it.
bool rounds_like(const Unit& u, const Format& f) {
  const auto same = [&](const Round& r) {
    Format kept = r.fmt;
    kept.daz = kept.ftz = false;
    return kept == f && r.overflow == Overflow::ieee;
  };
  return same(u.out) && (!u.product.round || same(*u.product.round));
}
bool flushes(const Unit& u) {
  return u.out.fmt.ftz || (u.product.round && u.product.round->fmt.ftz);
}

// Whether digits below those that a rounding keeps of subnormals may decide what it flushes.
bool flushes_below(const Round& r, std::int64_t last) {
  return r.fmt.ftz && last < r.fmt.least_digit();
}
bool all_operands_held(const Carrier& carrier, const Unit& u) {
  return held(carrier, u.a.fmt) && held(carrier, u.b.fmt) && held(carrier, u.c.fmt);
}

// What a subnormal is added to and taken off again is a number of the carrier, and so is their sum.
bool has_room(const Carrier& carrier, const Format& f) {
  return f.emin() + carrier.digits - f.precision() < carrier.emax;
}
constexpr const char* no_room = "a format's least numbers lie too near the carrier's largest";

Answer refusal(const Carrier& carrier, const std::string& why) {
  return {std::nullopt, fmt::format("{} lanes: {}", carrier.name, why)};
}

bool all_held(const Carrier& carrier, const Unit& u) {
  return all_operands_held(carrier, u) && held(carrier, u.out.fmt);
}
constexpr const char* passes = "a format's digits or exponents pass the carrier's";

// Of the exact product of two numbers: its digits, and the last one that it may have.
int product_digits(const Unit& u) { return u.a.fmt.precision() + u.b.fmt.precision(); }
// Whether product.round changes any product that does not overflow.
bool rounds_products(const Unit& u) {
  if (!u.product.round) return false;
  const Format& f = u.product.round->fmt;
  return product_digits(u) > f.precision() ||
         product_last(u) < (f.ftz ? f.emin() : f.least_digit());
}

// The same of products, and of sums with C.
bool flushes_products_below(const Unit& u) {
  return u.product.round && flushes_below(*u.product.round, product_last(u));
}
bool flushes_sums_below(const Unit& u) {
  const std::int64_t last = u.product.round ? u.product.round->fmt.least_digit() : product_last(u);
  return flushes_below(u.out, std::min(last, u.c.fmt.least_digit()));
}
// What is tiny by another rule than after rounding.
bool is_other_tininess(const Round& r) { return r.tininess != Tininess::after_rounding; }

// What is rounded goes to the machine's own format: the lanes are the hardware.
bool machine_like(const Carrier& carrier, const Unit& u) {
  const Format& own = carrier.digits == in_float.digits ? binary32 : binary64;
  return rounds_like(u, own) && is_machine_mode(u.out.rm) && all_operands_held(carrier, u) &&
         !(flushes_products_below(u) && is_other_tininess(*u.product.round)) &&
         !(flushes_sums_below(u) && is_other_tininess(u.out));
}

// How a product reaches a sum.
struct Product {
  Multiply multiply = Multiply::exact;
  std::int64_t last = 0;  // digit
  std::string unfit;      // why it does not, if so
};

// Why the carrier has no room for the formats, or the first sum is unlike the others; empty if
// neither is so.
std::string unfit_formats(const Carrier& carrier, const Unit& u) {
  const Format& to = u.out.fmt;
  if (!all_held(carrier, u)) return passes;
  if (!has_room(carrier, to)) return no_room;
  if (const int needed = 2 * to.precision() + 1; carrier.digits < needed)
    return fmt::format("{} digits of out need {}", to.precision(), needed);
  if (const int digits = product_digits(u); digits > carrier.digits)
    return fmt::format("exact products have {} digits", digits);
  if (u.c.fmt.precision() > to.precision())
    return "c is wider than out: the first sum differs from all others";
  return {};
}

// A product to such a sum, exact or rounded to nearest.
Product nearest_product_in(const Carrier& carrier, const Unit& u) {
  const int D = carrier.digits;
  if (!rounds_products(u)) {
    const std::int64_t last = product_last(u);
    if (last < carrier.emin) return {.unfit = "products have digits below the carrier's"};
    return {Multiply::exact, last, {}};
  }
  const Format& f = u.product.round->fmt;
  if (product_digits(u) == D)
    return {.unfit = fmt::format("exact products have {} digits, one too many", D)};
  if (const int needed = 2 * f.precision() + 1; D < needed)
    return {.unfit = fmt::format("{} digits of a product need {}", f.precision(), needed)};
  if (!held(carrier, f)) return {.unfit = "product.round's format passes the carrier's"};
  if (!has_room(carrier, f)) return {.unfit = no_room};
  return {Multiply::rounded, f.least_digit(), {}};
}

// Of what is added, C apart.
int term_digits(const Unit& u) {
  return rounds_products(u) ? u.product.round->fmt.precision() : product_digits(u);
}

// Why the carrier's own rounding may do harm to a sum of a product that ends there; empty if not.
std::string unfit_sum(const Carrier& carrier, const Unit& u, std::int64_t last) {
  const Format &c = u.c.fmt, &to = u.out.fmt;
  const int D = carrier.digits, p = to.precision(), digits = term_digits(u);
  if (digits > p) {
    if (const int needed = p + digits + 1; D < needed)
      return fmt::format("a sum of {} and {} digits needs {}", p, digits, needed);
    if (to.emax() - D >= std::min(to.least_digit(), c.least_digit()))
      return "a long product may hide a short addend: only rounding to odd would show it";
  }
  const std::int64_t lower = std::min(last, c.least_digit()),
                     higher = std::max(last, c.least_digit());
  if (higher < to.least_digit() && lower < to.emin() - D)
    return "C and a product may both lie between out's least numbers, far from each other";
  if (to.ftz && lower < to.least_digit() && u.out.tininess == Tininess::before_rounding)
    return "sums that are tiny before rounding may not be so in the carrier";
  return {};
}

// The carrier's own rounding does no harm to the sum.
Answer chain_in(const Carrier& carrier, const Unit& u) {
  if (const std::string why = unfit_formats(carrier, u); !why.empty()) return refusal(carrier, why);
  const Product product = nearest_product_in(carrier, u);
  if (!product.unfit.empty()) return refusal(carrier, product.unfit);
  if (const std::string why = unfit_sum(carrier, u, product.last); !why.empty())
    return refusal(carrier, why);
  const bool below = std::min(product.last, u.c.fmt.least_digit()) < u.out.fmt.least_digit();
  return {Plan{.carrier = carrier,
               .multiply = product.multiply,
               .add = below ? Add::rounded : Add::normal,
               .flushes = flushes(u)},
          fmt::format("{} lanes: {} digits hold sums of {} and {}", carrier.name, carrier.digits,
                      u.out.fmt.precision(), term_digits(u))};
}

// Why the carrier's sums to odd, whose last digit tells of all that lay below, are not rounded to
// out's format afterwards; empty if they are. A format that the carrier holds with two digits to
// spare has none among its last two.
std::string unfit_from_odd(const Carrier& carrier, const Unit& u) {
  if (flushes(u)) return "sums to odd do not flush subnormals";
  if (!all_held(carrier, u)) return passes;
  if (!has_room(carrier, u.out.fmt)) return no_room;
  const int p = u.out.fmt.precision(), needed = p + 2;
  return carrier.digits < needed ? fmt::format("{} digits of out need {}", p, needed) : "";
}
Answer from_odd(const Plan& plan, const Unit& u) {
  return {plan, fmt::format("{} lanes: sums rounded to odd show {} digits all they need",
                            plan.carrier.name, u.out.fmt.precision())};
}

// Fused sums that the carrier rounds to odd by itself.
Answer odd_in(const Carrier& carrier, const Unit& u) {
  if (u.product.round) return refusal(carrier, "products are rounded, not fused");
  if (const std::string why = unfit_from_odd(carrier, u); !why.empty())
    return refusal(carrier, why);
  return from_odd({.carrier = carrier, .multiply = Multiply::odd, .add = Add::rounded}, u);
}

// Directed modes of the carrier and of the format after it are the format's alone, and ties away
// need but one digit more. Subnormals have to be the carrier's, so numbers are scaled.
Answer cut_in(const Carrier& carrier, const Unit& u) {
  const Format& to = u.out.fmt;
  const auto refuse = [&](const std::string& why) { return refusal(carrier, why); };
  if (!is_machine_mode(u.out.rm) && u.out.rm != Rounding(RoundingMode::rna))
    return refuse(fmt::format("they do not round by {} themselves", to_string(u.out.rm)));
  if (u.product.round && u.product.round->fmt.emin() != to.emin())
    return refuse("product.round and out have different least exponents");
  if (u.out.rm.mode != RoundingMode::rtz && (flushes_products_below(u) || flushes_sums_below(u)))
    return refuse("what is flushed has digits below the least one");
  for (const Format* f : {&u.a.fmt, &u.b.fmt, &u.c.fmt, &to})
    if (f->precision() > carrier.digits - 2) return refuse("a format has too many digits");
  if (u.product.round && u.product.round->fmt.precision() > carrier.digits - 2)
    return refuse("product.round has too many digits");
  const std::int64_t scale = carrier.emin - to.emin(), least = carrier.emin - carrier.digits + 1;
  if (-scale > carrier.emax)
    return refuse("2^-scale, which takes the scale off, passes the carrier's");
  const auto fits = [&](const Format& f, std::int64_t moved) {
    return f.emax() + moved <= carrier.emax && f.least_digit() + moved >= least;
  };
  if (!fits(u.a.fmt, scale) || !held(carrier, u.a.fmt) || !held(carrier, u.b.fmt) ||
      !fits(u.c.fmt, scale) || !held(carrier, u.c.fmt) || !fits(to, scale) || !held(carrier, to) ||
      (u.product.round && !fits(u.product.round->fmt, scale)))
    return refuse("exponents pass the carrier's");
  return {Plan{.carrier = carrier,
               .multiply = u.product.round ? Multiply::rounded : Multiply::exact,
               .add = Add::cut,
               .mode = u.out.rm.mode,
               .scale = static_cast<int>(scale),
               .flushes = flushes(u)},
          fmt::format("{} lanes: it rounds by {} as the formats do", carrier.name,
                      to_string(u.out.rm))};
}

// A product to a sum that is then rounded to odd.
Product product_in(const Carrier& carrier, const Unit& u) {
  const int D = carrier.digits, digits = product_digits(u);
  if (!rounds_products(u)) {
    const std::int64_t last = product_last(u);
    if (digits > D) return {.unfit = fmt::format("exact products have {} digits", digits)};
    if (last <= carrier.emin - D) return {.unfit = "products have digits below the carrier's"};
    return {Multiply::exact, last, {}};
  }
  const Format& f = u.product.round->fmt;
  if (const Rounding& mode = u.product.round->rm; mode != Rounding())
    return {.unfit = fmt::format("product.round rounds by {}, and sums by {}", to_string(mode),
                                 to_string(u.out.rm))};
  if (!held(carrier, f)) return {.unfit = "product.round's format passes the carrier's"};
  if (!has_room(carrier, f)) return {.unfit = no_room};
  if (digits < D && D >= 2 * f.precision() + 1) return {Multiply::rounded, f.least_digit(), {}};
  if (const int needed = f.precision() + 2; D < needed)
    return {.unfit = fmt::format("{} digits of a product need {}", f.precision(), needed)};
  return {Multiply::wide, f.least_digit(), {}};
}

// Sums to odd by operations that all round to nearest, and then by any mode: products may have
// another one than sums. Only to nearest may sums have digits below out's least one.
Answer odd_sums_in(const Carrier& carrier, const Unit& u) {
  if (const std::string why = unfit_from_odd(carrier, u); !why.empty())
    return refusal(carrier, why);
  const Product product = product_in(carrier, u);
  if (!product.unfit.empty()) return refusal(carrier, product.unfit);
  const RoundingMode mode = u.out.rm.mode;
  const std::int64_t last = std::min(product.last, u.c.fmt.least_digit());
  if (mode != RoundingMode::rne && last < u.out.fmt.least_digit())
    return refusal(
        carrier, fmt::format("sums by {} have digits below out's least one", to_string(u.out.rm)));
  return from_odd({.carrier = carrier, .multiply = product.multiply, .add = Add::odd, .mode = mode},
                  u);
}

// The carrier's bits below out's last digit have to hold all of the random ones.
Answer random_in(const Carrier& carrier, const Unit& u) {
  Unit nearest = u;
  nearest.out.rm = {};
  Answer answer = chain_in(carrier, nearest);
  if (!answer.plan) return answer;
  const int below = carrier.digits - u.out.fmt.precision();
  if (answer.plan->add != Add::normal)
    return refusal(carrier, "sums have digits below out's least one");
  if (u.out.rm.random_bits > below)
    return refusal(carrier, fmt::format("{} digits below out's for {} random bits", below,
                                        u.out.rm.random_bits));
  answer.plan->add = Add::random;
  answer.plan->random_bits = u.out.rm.random_bits;
  return answer;
}

Answer stochastic(const Unit& u) {
  if (flushes(u)) return {std::nullopt, "stochastic sums do not flush subnormals"};
  if (u.out.rm.random_bits > 16)
    return {std::nullopt, "more than 16 random bits, of which one call serves fewer steps"};
  if (const Answer narrow = random_in(in_float, u); narrow.plan) return narrow;
  return random_in(in_double, u);
}

// What is rounded by one mode, which the machine may be set to.
Answer by_one_mode(const Unit& u, bool own_modes) {
  for (const Carrier& carrier : {in_float, in_double})
    if (machine_like(carrier, u))
      return {Plan{.carrier = carrier,
                   .multiply = u.product.round ? Multiply::native : Multiply::exact,
                   .add = Add::native,
                   .mode = u.out.rm.mode,
                   .flushes = flushes(u)},
              fmt::format("{} lanes: they round as the machine does", carrier.name)};
  const bool nearest = u.out.rm.mode == RoundingMode::rne;
  const auto in = nearest ? chain_in : cut_in;
  for (const Carrier& carrier : {in_float, in_double}) {
    if (const Answer plain = in(carrier, u); plain.plan) return plain;
    if (!nearest || !own_modes) continue;
    if (const Answer odd = odd_in(carrier, u); odd.plan) return odd;
  }
  return in(in_double, u);
}

// Chains of multiply-adds, whose exponents and registers nobody looks at.
Unit as_computed(const Unit& u) {
  using fields::of;
  Unit z = fields::core(u);
  z.product.round = of(u.product.round), z.product.exponent = of(u.product.exponent);
  z.block_sum = of(u.block_sum), z.c_sum = of(u.c_sum);
  z.chain.final = of(u.chain.final);
  return z;
}

}  // namespace

std::string unlike_a_chain(const Unit& u) {
  if (u.lanes != 1) return "more than one product a block";
  if (u.scale) return "block scales";
  if (u.groups) return "groups of products";
  if (has_quire(u)) return "a quire, which knows NaR";
  const Sum& joins_c = u.c_level == CLevel::late ? u.c_sum : u.block_sum;
  if (!exact(u.group_sum) || (u.c_level != CLevel::group && !exact(joins_c)) || u.late_frac)
    return "its sums are aligned, of a given width, or rounded inside";
  if (u.product.overflow_to_inf_at) return "products that overflow to infinity";
  if (u.chain.c_at != CAt::first || u.chain.promote || u.chain.lane_permutation)
    return "promotion, C last or permuted lanes";
  if (u.chain.final && !FinalRounding::takes(u.out.fmt, *u.chain.final))
    return "a final rounding of more than 64 digits";
  if (u.chain.compensation != Compensation::none) return "compensated sums";
  return u == as_computed(u) ? "" : fields::unknown;
}

std::string unlike_a_float(const char* where, const Operand& x) {
  if (const char* why = unfit(x.fmt))
    return fmt::format("{} = {} {}", where, to_string(x.fmt), why);
  if (x.subnormals != Flush::keep || x.keep_frac)
    return fmt::format("{} is conditioned before use", where);
  return {};
}

bool held(const Carrier& carrier, const Format& f) {
  return f.precision() <= carrier.digits && f.emax() <= carrier.emax &&
         (f.least_digit() >= carrier.emin || f.emin() == carrier.emin);
}

bool has_minus_zero_nan(const Unit& u) {
  const auto has = [](const Format& f) { return f.nan == NanCodes::sign_alone; };
  return has(u.a.fmt) || has(u.b.fmt) || has(u.c.fmt) || has(u.out.fmt) ||
         (u.product.round && has(u.product.round->fmt));
}

Answer plan(const Unit& u, bool own_modes) {
  if (const std::string why = unfit(u); !why.empty()) return {std::nullopt, why};
  const std::string unlike = unlike_modes(u);
  Answer answer{std::nullopt, unlike};
  if (unlike.empty()) answer = u.out.rm.stochastic() ? stochastic(u) : by_one_mode(u, own_modes);
  if (answer.plan || u.out.rm.stochastic()) return answer;
  for (const Carrier& carrier : {in_float, in_double}) {
    Answer odd = odd_sums_in(carrier, u);
    if (odd.plan) return odd;
    if (!unlike.empty()) answer.reason = odd.reason;
  }
  return answer;
}

HalfAnswer plan_in_halves(const Unit& u) {
  const auto refuse = [](const std::string& why) { return HalfAnswer{std::nullopt, why}; };
  const auto held = [](const Format& f) {
    return f.precision() <= binary16.precision() && f.emax() <= binary16.emax() &&
           f.least_digit() >= binary16.least_digit();
  };
  if (const std::string why = unfit(u); !why.empty()) return refuse(why);
  if (!rounds_like(u, binary16)) return refuse("sums or products are not rounded to binary16");
  const std::optional<Round>& product = u.product.round;
  if (flushes(u) || u.a.fmt.daz || u.b.fmt.daz || u.c.fmt.daz)
    return refuse("the machine does not flush subnormals");
  if (has_minus_zero_nan(u)) return refuse("binary16 has no NaN in the place of -0");
  if (!is_machine_mode(u.out.rm) || (product && !is_machine_mode(product->rm)))
    return refuse("the machine has no such rounding mode");
  if (!held(u.a.fmt) || !held(u.b.fmt) || !held(u.c.fmt))
    return refuse("an operand has digits or exponents that binary16 has not");
  return {HalfPlan{product ? std::optional(product->rm.mode) : std::nullopt, u.out.rm.mode},
          "half lanes: sums are the machine's own, and operands are numbers of it"};
}

}  // namespace widthwise::lanes
