#include "course.hpp"

namespace widthwise::exact {
namespace {

std::optional<Course> whole(const Extent& products, std::size_t steps) {
  const std::optional<Levels> l = levels(products, steps);
  if (!l) return std::nullopt;
  Course z{Sequence::chain, *l, {}};
  if (l->count > 1) z.sequence = l->count == 2 ? Sequence::two : Sequence::three;
  for (int i = 0; i + 1 < l->count; ++i) z.start[i] = 1.5 * two_to(l->digit[i] + 52);
  return z;
}

Sequence sequence(Terms terms) {
  if (terms == Terms::nearest) return Sequence::nearest;
  return terms == Terms::magnitude ? Sequence::magnitude : Sequence::chain;
}

std::optional<Course> in_register(const Plan& plan, const Sum& sum, const Extent& products,
                                  std::size_t steps) {
  const bool saturates = plan.reg == Register::saturates;
  std::size_t n = rounded_steps(products, plan.last, steps);
  if (n > 0 && saturates) n = steps;  // its sums do not grow
  if (n < std::min<std::size_t>(steps, 16)) return std::nullopt;
  Course z{sequence(plan.terms), {1, n, {plan.last}}, {}};
  z.rounder = 1.5 * two_to(plan.last + 52);
  if (z.sequence == Sequence::chain) z.start[0] = z.rounder;
  if (!saturates) return z;
  const double digit = two_to(plan.last), limit = two_to(*sum.width - 1) * digit;
  z.low = z.start[0] - limit, z.high = z.start[0] + (limit - digit);
  return z;
}

}  // namespace

std::optional<Course> course(const Plan& plan, const Sum& sum, const Extent& products,
                             std::size_t steps) {
  return of_one_digit(plan) ? in_register(plan, sum, products, steps) : whole(products, steps);
}

}  // namespace widthwise::exact
