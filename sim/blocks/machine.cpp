#include "chain_rules.hpp"
#include "sim/engine/machine_rounding.hpp"
#include "widthwise/sim/text.hpp"

// Units that round as the machine does (docs/exactness.md, 48).
namespace widthwise::blocks {
namespace {

// A unit whose every sum is rounded to binary64 by one of the machine's modes.
class MachineUnit {
 public:
  explicit MachineUnit(const ProductTask& task) : task_(task), own_{.fmt = binary64} {
    own_.rm = task.unit.out.rm;
  }

  bool is_one() const {
    const Unit& u = task_.unit;
    const Chain& chain = u.chain;
    if (!is_machine_mode(own_.rm)) return false;
    const bool rounds = is_own(u.out) && is_own(chain.c_round) && is_own(chain.final) &&
                        (!chain.promote || is_own(chain.promote->round));
    const bool plain =
        !task_.multiplier && !u.scale && !u.late_frac && !u.product.overflow_to_inf_at;
    return rounds && plain && are_doubles(u.a) && are_doubles(u.b) && are_doubles(u.c) &&
           (has_own_products() || has_exact_products());
  }

  // Nothing where a sum has more terms than two before it is rounded.
  std::optional<Rules> rules() const {
    const Unit& u = task_.unit;
    Rules r{};
    r.mode = own_.rm.mode;
    const GroupShape shape = set_shape(r, u, task_.k);
    const auto c_joins = [&](CLevel level) { return std::size_t{u.c_level == level}; };
    const std::size_t terms = shape.size + c_joins(CLevel::group),
                      sums = shape.count + c_joins(CLevel::block);
    const bool block = sums > 1, late = u.c_level == CLevel::late;
    if (!adds(u.group_sum, terms, !block && !late) || (block && !adds(u.block_sum, sums, !late)) ||
        (late && !adds(u.c_sum, 2, true)))
      return std::nullopt;
    using enum widthwise::Slot;
    if (u.product.round)
      r.product = has_own_products() ? own_slot(product, own_.rm) : product_slot(*u.product.round);
    r.group = sum(u.group_sum), r.block = sum(u.block_sum), r.late = sum(u.c_sum);
    set_chain(r, u, [](widthwise::Slot place, const char*, const Round& to) {
      return own_slot(place, to.rm);
    });
    return r;
  }

 private:
  bool is_own(const std::optional<Round>& r) const { return !r || *r == own_; }
  bool has_own_products() const { return task_.unit.product.round == own_; }

  bool has_exact_products() const {
    const Format &a = task_.unit.a.fmt, &b = task_.unit.b.fmt;
    const std::int64_t last = a.emin() - a.frac_bits + b.emin() - b.frac_bits;
    return a.precision() + b.precision() <= double_digits &&
           last >= binary64.emin() - binary64.frac_bits && a.emax() + b.emax() < binary64.emax();
  }

  // `last`: only a rounding looks at the sum.
  bool adds(const Sum& s, std::size_t terms, bool last) const {
    if (s.align.reference != Reference::exact || s.width) return false;
    if (terms == 1) return true;
    return s.order == Order::fused ? terms == 2 && last : s.node_round == own_;
  }

  // Exact products to another format, as block lanes round at all: by the machine's nearest mode.
  Slot product_slot(const Round& r) const {
    if (own_.rm.mode != RoundingMode::rne)
      refuse("product.round = {}, and sums by another mode", to_string(r.fmt));
    const Range products = range("a", task_.unit.a) * range("b", task_.unit.b);
    if (products.low < -most_exponent || products.high > most_exponent)
      refuse("products from 2^{} to 2^{}", products.low, products.high);
    return slot(widthwise::Slot::product, "product.round", r);
  }
  static SumRule sum(const Sum& s) { return {.aligned = Aligned::machine, .order = s.order}; }

  const ProductTask& task_;
  Round own_;
};

}  // namespace

std::optional<Rules> machine_rules(const ProductTask& task) {
  const MachineUnit unit(task);
  return unit.is_one() ? unit.rules() : std::nullopt;
}

}  // namespace widthwise::blocks
