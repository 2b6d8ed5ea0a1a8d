#include <fmt/core.h>

#include <algorithm>

#include "codes.hpp"
#include "random_words.hpp"
#include "rtl_multiplier.hpp"
#include "unit_block.hpp"
#include "widthwise/sim/single_operation.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::hdl {
namespace {

int c_width(const Unit& u, const UnitShape& shape) {
  return two_kinds_of_c(u, shape) ? std::max(u.c.fmt.width(), u.out.fmt.width()) : u.c.fmt.width();
}

// Writes a unit's body.
class UnitBody {
 public:
  UnitBody(const Unit& unit, const UnitShape& shape, const RtlOptions& options, Netlist& out)
      : u_(unit),
        shape_(shape),
        options_(options),
        out_(out),
        stages_(out),
        roundings_(unit, options, out, stages_),
        block_(unit, shape, out, stages_, roundings_) {}

  void write() {
    if (!options_.rounding_port)
      out_.wire({"rm", 4}, fmt::format("4'd{}", rounding_code(u_.out.rm).number));
    if (keeps_codes()) out_.keep("pack");
    if (keeps_register(shape_.running)) out_.keep("group_sum");
    out_.stage("unpack");
    const Term a = stages_.unpack("a", dealt("a", u_.a), u_.a, shape_.products());
    const Term b = stages_.unpack("b", dealt("b", u_.b), u_.b, shape_.products());
    const Term c = addend();
    const Term p = scaled_by_term(products(a, b));
    if (scales(u_, ScaleApply::group)) unpack_scales();
    const std::string code = chain(p, c);
    if (keeps_codes()) roundings_.keep_flags();
    out_.stage("result");
    out_.assign("y", code);
    out_.assign("flags", roundings_.flags());
    if (keeps_codes()) out_.assign("sum_code", code);
  }

 private:
  // --- Operands and products ---------------------------------------------------------------------

  // The lane that comes i-th, as an index of its port.
  std::string order(const std::string& i) const {
    const auto& p = u_.chain.lane_permutation;
    if (!p) return i;
    const std::int64_t stream = shape_.products() / p->ways;
    return fmt::format("({0}%{1}/{2}*{3} + {0}/{1}*{2} + {0}%{2})", i, stream, p->run,
                       p->run * p->ways);
  }

  // The codes of a port in the order that the unit takes them in.
  std::string dealt(const std::string& port, const Operand& x) {
    if (!u_.chain.lane_permutation) return port;
    const Bus from{port, x.fmt.width(), shape_.products()}, to = from.part("dealt", from.width);
    out_.wire(to);
    out_.lanes(to.lanes, to.name + "_lane",
               [&](const std::string& i) { out_.assign(to.lane(i), from.lane(order(i))); });
    return to.name;
  }

  bool keeps_codes() const { return shape_.running == RunningSum::of_codes; }

  // C's port, or what the register behind the last stage holds.
  std::string kept_code() {
    const int width = c_width(u_, shape_), held = u_.out.fmt.width();
    const std::string above = width == held ? "" : fmt::format("{}'d0, ", width - held);
    out_.wire({"sum_code", held});
    out_.wire({"c_code", width}, fmt::format("in_first ? c : {{{}sum_code}}", above));
    if (two_kinds_of_c(u_, shape_)) out_.wire({"running", 1}, "!in_first");
    return "c_code";
  }

  // C, or the result of the block before, where the two are not read alike.
  Term addend() {
    const std::string code = keeps_codes() ? kept_code() : "c";
    if (!two_kinds_of_c(u_, shape_)) return stages_.unpack("c", code, u_.c);
    const Operand running{.fmt = u_.out.fmt};
    const auto low_bits = [&](const Format& f) {  // of one bit alone no part is taken
      return f.width() == c_width(u_, shape_) ? code : fmt::format("{}[{}:0]", code, f.width() - 1);
    };
    const Term first = stages_.unpack("c_first", low_bits(u_.c.fmt), u_.c);
    const Term later = stages_.unpack("c_running", low_bits(u_.out.fmt), running);
    return stages_.chosen("c_taken", "running", later, first);
  }

  // An operand as multipliers take it: one of a user's own is given the digits that the simulator
  // gives it, of which some systems leave some out.
  Term multiplied(const std::string& name, const Term& t, const Format& f) {
    const bool has_all = f.is_float() || options_.multiplier == exact_multiplier;
    return has_all ? t : stages_.widened(name + "_whole", t, 1, f.frac_bits);
  }
  Term products(const Term& a, const Term& b) {
    out_.stage("product");
    Term p = stages_.product("product", multiplied("a", a, u_.a.fmt), multiplied("b", b, u_.b.fmt),
                             options_.multiplier);
    if (u_.product.overflow_to_inf_at)
      p = stages_.limited("product_limited", p, *u_.product.overflow_to_inf_at);
    if (!u_.product.round)
      return u_.product.exponent == ProductExponent::field_sum
                 ? p
                 : stages_.normalised("product_normalised", p);
    const Round r = *of_product(u_.product.round);
    roundings_.raise(roundings_.round({"product_round", Slot::product, r, 0}, p, ""));
    return stages_.unpack("rounded_product", "product_round_code", {.fmt = r.fmt},
                          shape_.products());
  }

  // The scales of so many neighbours each, in the unit's order.
  Term scale(const std::string& name, int of) {
    const Term t = stages_.unpack(name, name, {.fmt = u_.scale->fmt}, scale_words(u_, shape_));
    return stages_.picked(name + "_of", t, shape_.products() / of, [&](const std::string& i) {
      return fmt::format("({}*{}/{})", order(i), of, u_.scale->block);
    });
  }
  Term scaled_by_term(const Term& p) {
    if (!scales(u_, ScaleApply::term)) return p;
    out_.stage("scale");
    const Term by_a = scale("scale_a", 1), by_b = scale("scale_b", 1);
    return stages_.product("scale", stages_.product("scale_by_a", p, by_a), by_b);
  }
  // A group's lanes lie inside one scale's elements.
  void unpack_scales() {
    const auto lanes = static_cast<std::size_t>(shape_.lanes);
    const int size = static_cast<int>(group_shape(u_.groups, lanes).size);
    group_scales_ = {scale("scale_a", size), scale("scale_b", size)};
  }

  // --- The chain along k (lib/widthwise/datapath/chain.hpp) --------------------------------------

  // The name of the result.
  std::string chain(const Term& p, const Term& c) {
    const auto& promote = u_.chain.promote;
    const bool c_first = u_.chain.c_at == CAt::first;
    outer_ = c_first ? c : zero("outer_start");
    sum_ = c_first && !promote ? c : zero("start");
    for (int i = 0; i < shape_.blocks; ++i) {
      advance(i, p);
      const std::int64_t end = std::int64_t{i + 1} * shape_.lanes;
      if (promote && (end % promote->interval == 0 || i + 1 == shape_.blocks))
        promote_to(fmt::format("promote{}", (end - 1) / promote->interval), end - shape_.lanes);
    }
    if (!promote) settle("", shape_.products() - shape_.lanes);
    end_with(c);
    return last_->name + "_code";
  }

  Term zero(const std::string& name) { return stages_.cleared(name, u_.out.fmt); }

  // The running sum, which is read only where something follows.
  const Term& running() {
    if (!sum_) sum_ = roundings_.read(*last_);
    return *sum_;
  }
  void load(const Place& place) {
    last_ = place;
    sum_.reset();
  }

  void advance(int i, const Term& p) {
    const std::string prefix = shape_.blocks == 1 ? "" : fmt::format("block{}_", i);
    const std::int64_t first = std::int64_t{i} * shape_.lanes;
    const Term mine = share(prefix + "products", p, i);
    if (promoted_) {
      outer_ = running();
      sum_ = zero(prefix + "start");
      compensation_.reset();
      promoted_ = false;
    }
    if (u_.chain.compensation != Compensation::none) return compensate(prefix, first, mine);
    std::optional<UnitBlock::Scales> scales;
    if (group_scales_)
      scales = {share(prefix + "by_a", group_scales_->a, i),
                share(prefix + "by_b", group_scales_->b, i)};
    block_.write(prefix, first, mine, running(), scales);
    load({prefix + "out", Slot::out, u_.out, first});
  }

  // A block's share of what lies side by side.
  Term share(const std::string& name, const Term& t, int block) {
    if (shape_.blocks == 1) return t;
    const int lanes = t.bus.lanes / shape_.blocks;
    return stages_.picked(name, t, lanes, [&](const std::string& i) {
      return fmt::format("({} + {})", block * lanes, i);
    });
  }

  // One product more (lib/widthwise/datapath/compensation.hpp).
  void compensate(const std::string& prefix, std::int64_t step, const Term& p) {
    out_.stage(prefix + "compensated_sum");
    const auto add = [&](const char* name, Slot slot, const Term& x, const Term& y) {
      return added({prefix + name, slot, u_.out, step}, x, y);
    };
    const auto negated = [&](const char* name, const Term& t) {
      return stages_.negated(prefix + "minus_" + name, t);
    };
    const Term sum = running(), carried = compensation_.value_or(zero(prefix + "nothing_lost"));
    const Place out{prefix + "out", Slot::out, u_.out, step};
    if (u_.chain.compensation == Compensation::kahan) {
      const Term y = add("addend", Slot::addend, p, negated("compensation", carried));
      sum_ = added(out, sum, y);
      const Term moved = add("difference", Slot::difference, *sum_, negated("sum", sum));
      compensation_ = add("error", Slot::error, moved, negated("addend", y));
    } else {
      stages_.at_least(prefix + "sum_leads", sum, p);
      const Term large = stages_.chosen(prefix + "large", prefix + "sum_leads", sum, p),
                 small = stages_.chosen(prefix + "small", prefix + "sum_leads", p, sum);
      sum_ = added(out, sum, p);
      const Term rest = add("difference", Slot::difference, large, negated("sum", *sum_));
      const Term error = add("error", Slot::error, rest, small);
      compensation_ = add("compensation", Slot::compensation, carried, error);
    }
    last_ = out;
  }

  Term added(const Place& place, const Term& x, const Term& y) {
    roundings_.add(place, x, y);
    return roundings_.read(place);
  }

  // Neumaier's way keeps two registers until the end.
  void settle(const std::string& prefix, std::int64_t step) {
    if (u_.chain.compensation != Compensation::neumaier) return;
    const Place place{prefix + "compensated", Slot::compensated, u_.out, step};
    roundings_.add(place, running(), *compensation_);
    load(place);
  }

  void promote_to(const std::string& name, std::int64_t step) {
    out_.stage(name);
    settle(name + "_", step);
    const Place place{name, Slot::promote, u_.chain.promote->round, step};
    roundings_.add(place, *outer_, running());
    load(place);
    promoted_ = true;
  }

  void end_with(const Term& c) {
    if (const auto& r = u_.chain.c_round) {
      out_.stage("c_round");
      const Place place{"c_round", Slot::c_round, *r, 0};
      roundings_.add(place, running(), c);
      load(place);
    }
    if (const auto& r = u_.chain.final) {
      out_.stage("final");
      const Place place{"final_round", Slot::final, *r, 0};
      roundings_.raise(roundings_.round(place, running(), ""));
      load(place);
    }
  }

  const Unit& u_;
  const UnitShape shape_;
  const RtlOptions& options_;
  Netlist& out_;
  Stages stages_;
  Roundings roundings_;
  UnitBlock block_;
  std::optional<UnitBlock::Scales> group_scales_;

  std::optional<Place> last_;        // that rounded the sum
  std::optional<Term> sum_, outer_;  // the latter is what promotion gathers
  std::optional<Term> compensation_;
  bool promoted_ = false;  // the sum is the outer one
};

TopModule top_module(const Unit& unit, std::string_view name, RtlOptions options) {
  if (options.multiply) options.multiplier = fmt::format("{}_multiplier", name);
  check_identifier(options.multiplier);
  const UnitShape shape = shape_of(unit, options);
  if (options.generator && random_ports(unit, options).empty())
    refuse("a generator of random bits for a unit that takes none",
           "leave options.generator out, or round by sr");
  TopModule top{.name = name,
                .comment = {"SPEC: " + to_string(Design(unit)),
                            fmt::format("MODEL_HASH: 64'h{:016x}", model_hash(unit))},
                .ports = rtl_ports(unit, options),
                .body = [&unit, shape,
                         options](Netlist& out) { UnitBody(unit, shape, options, out).write(); },
                .pipeline = options.pipeline,
                .running = shape.running};
  draw_words(top, random_ports(unit, options), options,
             rtl_ports(unit, without_generator(options)));
  top.comment.push_back(fmt::format("{} of {} products. {} flags: NV DZ OF UF NX.",
                                    shape.whole ? "A dot product" : "One block", shape.products(),
                                    clocking(top)));
  if (options.multiply)
    top.own = {multiplier_module(options.multiplier, options.multiply, unit.a, unit.b)};
  return top;
}

}  // namespace

std::vector<Port> rtl_ports(const Unit& u, const RtlOptions& options) {
  const UnitShape shape = shape_of(u, options);
  std::vector<Port> all;
  if (options.accumulate)
    for (const char* port : {"in_first", "in_last"}) all.push_back({"input ", {port, 1}});
  all.push_back({"input ", {"a", u.a.fmt.width(), shape.products()}});
  all.push_back({"input ", {"b", u.b.fmt.width(), shape.products()}});
  all.push_back({"input ", {"c", c_width(u, shape)}});
  if (two_kinds_of_c(u, shape) && !options.accumulate) all.push_back({"input ", {"running", 1}});
  if (u.scale)
    for (const char* port : {"scale_a", "scale_b"})
      all.push_back({"input ", {port, u.scale->fmt.width(), scale_words(u, shape)}});
  if (options.rounding_port) all.push_back({"input ", {"rm", 4}});
  for (Port& port : random_inputs(random_ports(u, options), options.generator))
    all.push_back(std::move(port));
  all.push_back({"output", {"y", result_round(u).fmt.width()}});
  all.push_back({"output", {"flags", 5}});
  return all;
}

std::vector<RtlFile> rtl(const Unit& unit, std::string_view name, const RtlOptions& options) {
  check_identifier(name);
  return rtl_files(top_module(unit, name, options));
}

std::vector<std::string> rtl_stages(const Unit& unit, const RtlOptions& options) {
  return pipeline_stages(top_module(unit, "stages", options));
}

Timing rtl_timing(const Unit& unit, const RtlOptions& options) {
  return timing(top_module(unit, "timing", options));
}

std::string rtl_taps(const Unit& unit, std::string_view name, const RtlOptions& options) {
  return taps(top_module(unit, name, options));
}

}  // namespace widthwise::hdl
