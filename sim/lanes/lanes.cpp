#include <cmath>
#include <limits>

#include "bounds.hpp"
#include "fixed.hpp"
#include "posits.hpp"
#include "sim/engine/engines.hpp"
#include "sim/engine/tiled.hpp"

// Matrix products in float and double lanes.
namespace widthwise::lanes {
namespace {

// How the careful kernel multiplies. A product that product.round takes no digit of may still pass
// that format's end.
Multiply carefully(const Plan& plan, const Unit& u) {
  if (plan.multiply != Multiply::exact || !u.product.round) return plan.multiply;
  const Format &a = u.a.fmt, &b = u.b.fmt, &f = u.product.round->fmt;
  const bool overflows = a.emax() + b.emax() + 1 >= f.emax();
  const bool loses_infinity = (a.has_inf() || b.has_inf()) && !f.has_inf();
  return overflows || loses_infinity ? Multiply::native : Multiply::exact;
}

// Where the careful kernel computes: in the lanes that the plan has, or in double ones where c
// would pass the end of float before its numbers do. None where double is too narrow, too.
std::optional<Carrier> careful_carrier(const Plan& plan, const Unit& u) {
  if (plan.add == Add::odd || plan.flushes || has_minus_zero_nan(u)) return std::nullopt;
  // Where the user says what overflow gives, an infinity may give another thing, or the mode none.
  const auto told = [&](const Round& r) {
    const bool by_user = r.overflow != Overflow::ieee || r.fmt.overflow != Overflow::ieee;
    return by_user && (r.fmt.has_inf() || plan.add == Add::cut);
  };
  // Nor does NaN stay NaN in a format without it.
  const auto special = [](const Format& f) { return f.has_inf() || f.has_nan(); };
  const Format& product = u.product.round ? u.product.round->fmt : u.out.fmt;
  const bool meets_nan =
      special(u.a.fmt) || special(u.b.fmt) || special(u.c.fmt) || special(product);
  const bool keeps_nan = u.out.fmt.has_nan() && product.has_nan();
  if (meets_nan && !keeps_nan) return std::nullopt;
  if (told(u.out) || (u.product.round && told(*u.product.round))) return std::nullopt;
  if (plan.add == Add::native) return std::nullopt;  // its fast kernel does everything
  if (plan.add == Add::cut) return plan.carrier;
  const Multiply multiply = carefully(plan, u);
  const auto roomy = [&](const Carrier& carrier) {
    const auto has_room = [&](const Format& f) {
      return 4 * largest(f, carrier) <= room(carrier, f);
    };
    if (!has_room(u.out.fmt)) return false;
    if (multiply == Multiply::native) return product.emax() <= carrier.emax;
    return multiply != Multiply::rounded || has_room(product);
  };
  if (roomy(plan.carrier)) return plan.carrier;
  return roomy(in_double) ? std::optional(in_double) : std::nullopt;
}

// What infinity is in a format by that rounding.
double infinity_of(const Round& r, const Carrier& carrier) {
  const Overflow how = r.overflow == Overflow::ieee ? r.fmt.overflow : r.overflow;
  if (r.fmt.has_inf()) return std::numeric_limits<double>::infinity();
  if (r.fmt.has_nan() && how != Overflow::max && how != Overflow::satfinite)
    return std::numeric_limits<double>::quiet_NaN();
  return largest(r.fmt, carrier);
}

Ends ends(const Plan& plan, const Carrier& carrier, const Unit& u) {
  const auto scaled = [&](double x) { return std::ldexp(x, plan.scale); };
  Ends e{0, 0, scaled(largest(u.out.fmt, carrier)), scaled(infinity_of(u.out, carrier))};
  if (!u.product.round) return e;
  e.product_most = scaled(largest(u.product.round->fmt, carrier));
  e.product_infinity = scaled(infinity_of(*u.product.round, carrier));
  return e;
}

Plan without_small_products(Plan plan) {
  plan.small_products = false;
  return plan;
}

// Where products are rounded: A times product_up, and the least magnitude of a panel, zeros
// apart.
template <class T>
struct ScaledUp {
  std::vector<T> a;
  T least = 0;
};
template <class T>
class LaneProduct : public TiledProduct<T, ScaledUp<T>> {
  using Base = TiledProduct<T, ScaledUp<T>>;
  using typename Base::Panel, typename Base::TileState, typename Base::Zeros;

 public:
  LaneProduct(const ProductTask& task, const Plan& plan)
      : Base(task, {.columns = tile_columns<T>,
                    .depth = 256,
                    .any_number = plan.add == Add::native,
                    .mode = plan.machine_mode(),
                    .scale = plan.scale}),
        constants_(constants<T>(plan, task.unit)),
        careful_in_(careful_carrier(plan, task.unit)),
        ends_(ends(plan, careful_in_.value_or(plan.carrier), task.unit)),
        plan_(plan),
        bounds_(plan, task.unit, this->out_),
        kernel_(kernel<T>(plan)) {
    if (plan.multiply == Multiply::rounded && (plan.add == Add::normal || plan.add == Add::rounded))
      without_small_products_ = kernel<T>(without_small_products(plan));
    if (!careful_in_) return;
    Plan careful = plan;
    careful.carrier = *careful_in_;
    careful_constants_ = constants<double>(careful, task.unit);
    careful_ = careful_kernel<T>(*careful_in_, carefully(plan, task.unit), plan.mode);
  }

 protected:
  using typename Base::Meeting;

  Watch watch(const Meeting& m) const {
    if (plan_.add == Add::native) return {m.depth, 0};
    return bounds_.watch(this->a_.number(m.most_a), this->b_.number(m.most_b));
  }
  Tile<T> tile(const Meeting& m, const Watch& watch) const {
    Tile<T> t = tile_of<T>(m);
    if (plan_.multiply == Multiply::rounded) t.a_up = &m.a.beside.a[m.a_first];
    t.interval = watch.interval;
    t.limit = static_cast<T>(std::ldexp(watch.limit, plan_.scale));
    t.first = m.first, t.row_outputs = m.row_outputs, t.step = m.step;
    return t;
  }

  bool multiply(const Meeting& m) const override {
    const Watch w = watch(m);
    if (w.interval == 0 || (plan_.multiply == Multiply::wide && has_lost_digits(m))) return false;
    const Kernel<T> fast = has_small_products(m) ? kernel_ : without_small_products_;
    return fast(tile(m, w), constants_);
  }
  double least_product(const Meeting& m) const {
    return double{m.a.beside.least} * double{m.b.beside.least};
  }
  // Whether a product may have digits below the carrier's least one: of factors of D digits it has
  // 2 D of them, the first no lower than the least product's.
  bool has_lost_digits(const Meeting& m) const {
    return !(least_product(m) >=
             std::ldexp(1.0, static_cast<int>(plan_.carrier.emin + plan_.carrier.digits + 1)));
  }
  // Twice the bound, for what these three operations round.
  bool has_small_products(const Meeting& m) const {
    return !without_small_products_ ||
           !(least_product(m) * constants_.product_up >= 2 * double{constants_.product_least});
  }
  bool multiply_carefully(const Meeting& m) const override {
    if (careful_in_) careful_(tile(m, {}), careful_constants_, ends_);
    return careful_in_.has_value();
  }
  bool has_careful() const override { return careful_in_.has_value(); }

  Constants<T> constants_;
  std::optional<Carrier> careful_in_;  // where the careful kernel computes, if there is one
  Ends ends_;

 private:
  void complete_rows(Panel& panel) const override {
    complete_columns(panel);
    if (plan_.multiply != Multiply::rounded) return;
    panel.beside.a.resize(panel.numbers.size());
    for (std::size_t i = 0; i < panel.numbers.size(); ++i)
      panel.beside.a[i] = panel.numbers[i] * constants_.product_up;
  }
  void complete_columns(Panel& panel) const override {
    if (without_small_products_ || plan_.multiply == Multiply::wide)
      panel.beside.least = least_magnitude(panel.numbers.data(), panel.numbers.size());
  }

  // The fast kernel loses the sign of a zero where it rounds by way of a larger number.
  bool loses_signs() const { return plan_.add != Add::native && plan_.add != Add::cut; }
  bool wants_care(const TileState& tile) const override {
    return loses_signs() && tile.minus_zero && careful_in_;
  }
  Zeros doubtful_zeros(const TileState& tile) const override {
    if (!loses_signs()) return Zeros::none;
    const bool down = plan_.add == Add::odd && plan_.mode == RoundingMode::rdn;
    if (down) return Zeros::all;  // of which +0 and -0 make -0
    const bool underflows = plan_.add == Add::rounded || plan_.add == Add::odd || plan_.flushes;
    const bool lost = underflows && (tile.product_seen || tile.minus);
    const bool doubtful =
        lost || (tile.minus_zero && !careful_in_) || (tile.careful_seen && tile.fast_seen);
    return doubtful ? Zeros::all : Zeros::none;
  }

  Plan plan_;
  Bounds bounds_;
  Kernel<T> kernel_, without_small_products_ = nullptr;
  Constants<double> careful_constants_{};
  CarefulKernel<T> careful_ = nullptr;
};

// Stochastic sums.
template <class T>
class RandomProduct final : public LaneProduct<T> {
  using typename LaneProduct<T>::Meeting;

 public:
  RandomProduct(const ProductTask& task, const Plan& plan)
      : LaneProduct<T>(task, plan),
        fast_(random_kernel<T>(plan.multiply, false)),
        careful_(random_kernel<T>(carefully(plan, task.unit), true)) {
    std::optional<Carrier>& careful_in = this->careful_in_;
    if (careful_in && careful_in->digits != plan.carrier.digits) careful_in.reset();
  }

 private:
  // The kernels' counters have one upper half for all outputs of a tile.
  static bool counts(const Meeting& m) {
    const std::uint64_t last = (tile_rows - 1) * m.row_outputs + tile_columns<T> - 1;
    return m.first.index >> 32 == (m.first.index + last) >> 32;
  }
  bool multiply(const Meeting& m) const override {
    const Watch w = this->watch(m);
    return w.interval >= random_steps && counts(m) &&
           fast_(this->tile(m, w), this->constants_, this->ends_);
  }
  bool multiply_carefully(const Meeting& m) const override {
    return this->careful_in_ && counts(m) &&
           careful_(this->tile(m, {}), this->constants_, this->ends_);
  }

  RandomKernel<T> fast_, careful_;
};

template <class T>
std::unique_ptr<ProductEngine> make_in(const ProductTask& task, const Plan& plan) {
  if (plan.add == Add::random) return std::make_unique<RandomProduct<T>>(task, plan);
  return std::make_unique<LaneProduct<T>>(task, plan);
}

bool own_modes() {
  return kernel<float>({.multiply = Multiply::odd, .add = Add::rounded}) != nullptr;
}

// Products a second of one core on AVX-512, measured; half of that with 256-bit vectors.
double rate(const Plan& plan) {
  const double full = plan.carrier.digits == 24 ? 1 : 0.5;
  if (plan.add == Add::native) return (plan.flushes ? 20e9 : 60e9) * full;
  if (plan.add == Add::random) return 4e9 * full;
  if (plan.add == Add::odd) return (plan.multiply == Multiply::wide ? 2e9 : 3e9) * full;
  return (plan.multiply == Multiply::exact ? 15e9 : plan.flushes ? 8e9 : 11e9) * full;
}

Opinion refusal(const std::string& why) { return {"lanes", false, why, 0}; }

}  // namespace

Opinion opinion(const ProductTask& task) {
  if (!kernel<float>({}))
    return refusal(std::string("this CPU's lanes (") + target_name() +
                   ") have no fused multiply-add");
  if (task.unit.out.fmt.is_fixed()) return opinion_in_fixed(task);
  if (task.unit.out.fmt.is_posit()) return opinion_in_posits(task);
  const Answer answer = plan(task.unit, own_modes());
  if (!answer.plan) return refusal(answer.reason);
  return {"lanes", true, answer.reason + "; " + target_name(), rate(*answer.plan)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  if (task.unit.out.fmt.is_fixed()) return make_in_fixed(task);
  if (task.unit.out.fmt.is_posit()) return make_in_posits(task);
  const Plan p = *plan(task.unit, own_modes()).plan;
  return p.carrier.digits == in_float.digits ? make_in<float>(task, p) : make_in<double>(task, p);
}

}  // namespace widthwise::lanes
