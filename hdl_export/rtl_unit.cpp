#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "rtl_files.hpp"
#include "stages.hpp"
#include "widthwise/datapath/block.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::hdl {
namespace {

// Digits of an exact sum that anybody would build: a Kulisch register of binary64 has 4,196.
constexpr int widest_sum = 8192;

[[noreturn]] void refuse(const std::string& what, const std::string& instead) {
  throw std::invalid_argument(fmt::format("rtl: {} is not built; {}", what, instead));
}

void check_operands(const Unit& u) {
  for (const Operand* x : {&u.a, &u.b, &u.c})
    if (x->keep_frac)
      refuse(fmt::format("keep_frac = {}", *x->keep_frac),
             "give operands in a format of that many fraction bits");
}

void check_round(const std::string& key, const std::optional<Round>& r, bool may_be_stochastic) {
  if (!r) return;
  if (r->post_norm_frac)
    refuse(fmt::format("{}.post_norm_frac = {}", key, *r->post_norm_frac),
           "leave it out to round once");
  if (r->rm.stochastic() && !may_be_stochastic)
    refuse(fmt::format("{}.rm = {}", key, to_string(r->rm)),
           "stochastic rounding is built for out alone");
}

void check_sum(const std::string& key, const Sum& s) {
  check_round(key + ".node_round", s.node_round, false);
  if (s.order != Order::fused && !s.node_round)
    refuse(key + ".order without node_round", "round its nodes, or take order = fused");
  if (s.overflow == RegisterOverflow::flag && s.width)
    refuse(key + ".overflow = flag", "wrap and saturate are");
  if (s.align.drop_c_below) refuse(key + ".align.drop_c_below", "leave it out");
  if (s.width && s.align.reference == Reference::exact)
    refuse(key + ".width of an exact sum", "align it with fixed_lsb");
  if (s.width && s.overflow == RegisterOverflow::saturate &&
      s.align.reference == Reference::max_exponent)
    refuse(key + ": a saturating sum below the largest exponent", "wrap is");
}

void check_chain(const Chain& c) {
  const char* key = c.lane_permutation                     ? "lane_permutation"
                    : c.c_at == CAt::last                  ? "c_at = last"
                    : c.compensation != Compensation::none ? "compensation"
                    : c.promote                            ? "promote"
                    : c.final                              ? "final"
                                                           : nullptr;
  if (key) refuse(fmt::format("chain.{}", key), "a block is, whose result goes back to c along k");
}

// A unit that takes all of K at once has one register for it, if its digits are known beforehand.
void check_register(const Unit& u) {
  if (u.group_sum.align.reference == Reference::max_exponent)
    refuse("a running sum below the largest exponent of all terms",
           "a unit of so many lanes a block (lanes = 4) has one");
  if (u.groups || u.c_level != CLevel::group || u.group_sum.order != Order::fused)
    refuse("a running sum of several groups, of nodes or with C joined late",
           "take one fused group_sum with C in it");
  if (u.scale && u.scale->apply == ScaleApply::group)
    refuse("a running sum with scale.apply = group", "term is");
}

void check(const Unit& u, const RtlOptions& options) {
  widthwise::check(u);
  check_operands(u);
  check_round("product.round", u.product.round, false);
  check_round("out", u.out, !options.rounding_port);
  check_sum("group_sum", u.group_sum);
  check_sum("block_sum", u.block_sum);
  check_sum("c_sum", u.c_sum);
  check_chain(u.chain);
  if (u.product.exponent == ProductExponent::normalised)
    refuse("product.exponent = normalised", "field_sum is");
  if (u.product.overflow_to_inf_at)
    refuse(fmt::format("product.overflow_to_inf_at = {}", *u.product.overflow_to_inf_at),
           "leave it out");
  if (u.late_frac) refuse("late_frac", "one align.frac_bits for both terms of c_sum is");
  if ((u.lanes == 0) != (options.lanes > 0))
    throw std::invalid_argument(
        fmt::format("rtl: the unit takes {} lanes a block and options.lanes is {}; give lanes for "
                    "a unit that takes all of K at once, and only for such",
                    u.lanes == 0 ? "all" : std::to_string(u.lanes), options.lanes));
  if (options.accumulate && u.lanes == 0) check_register(u);
}

TopModule::Sum kept_sum(const Unit& u, const RtlOptions& options) {
  if (!options.accumulate) return TopModule::Sum::none;
  return u.lanes == 0 ? TopModule::Sum::of_register : TopModule::Sum::of_codes;
}

// A unit that takes all of K at once has no block before.
bool two_kinds_of_c(const Unit& u) { return u.lanes != 0 && u.c != Operand{.fmt = u.out.fmt}; }

int c_width(const Unit& u) {
  return two_kinds_of_c(u) ? std::max(u.c.fmt.width(), u.out.fmt.width()) : u.c.fmt.width();
}

// Writes a block's body.
class Body {
  using Sum = TopModule::Sum;
  using Aligned = widthwise::Sum;

 public:
  Body(const Unit& unit, int lanes, const RtlOptions& options, Netlist& out)
      : u_(unit),
        lanes_(lanes),
        options_(options),
        sum_(kept_sum(unit, options)),
        widths_(options.accumulate ? derive_widths(unit) : derive_widths(unit, lanes)),
        shape_(group_shape(unit.groups, static_cast<std::size_t>(lanes))),
        out_(out),
        stages_(out, Tininess::after_rounding) {
    if (shape_.count * shape_.size != static_cast<std::size_t>(lanes))
      refuse(fmt::format("{} lanes in groups of {}", lanes, shape_.size), "groups of one size are");
    if (groups() > 1 && (has_nodes(u_.group_sum) || u_.c_level == CLevel::group))
      refuse("several groups with nodes that round, or with C in each", "one group is");
  }

  void write() {
    if (!options_.rounding_port)
      out_.wire({"rm", 4}, fmt::format("4'd{}", rounding_code(u_.out.rm).number));
    if (sum_ != Sum::none) out_.keep(sum_ == Sum::of_codes ? "pack" : "group_sum");
    out_.stage("unpack");
    const Term a = stages_.unpack("a", "a", u_.a, lanes_);
    const Term b = stages_.unpack("b", "b", u_.b, lanes_);
    const Term c = addend();
    const Term products = scaled_by_term(rounded_products(a, b));
    if (masks()) block_specials(products, c);
    deliver(join(block_sum(group_sums(products, c), c), c));
  }

 private:
  int groups() const { return static_cast<int>(shape_.count); }
  bool scales(ScaleApply how) const { return u_.scale && u_.scale->apply == how; }
  static bool has_nodes(const Aligned& s) { return s.order != Order::fused && s.node_round; }
  bool has_nodes() const {
    return has_nodes(u_.group_sum) || has_nodes(u_.block_sum) || has_nodes(u_.c_sum);
  }
  // Whether NaNs and infinities may come up on the way that the operands do not decide.
  bool masks() const { return has_nodes() || scales(ScaleApply::group); }

  // C, or the result of the block before, where the two are not read alike.
  Term addend() {
    const std::string code = sum_ == Sum::of_codes ? kept_code() : "c";
    if (!two_kinds_of_c(u_)) return stages_.unpack("c", code, u_.c);
    const Operand running{.fmt = u_.out.fmt};
    const auto low_bits = [&](const Format& f) {
      return fmt::format("{}[{}:0]", code, f.width() - 1);
    };
    const Term first = stages_.unpack("c_first", low_bits(u_.c.fmt), u_.c);
    const Term later = stages_.unpack("c_running", low_bits(u_.out.fmt), running);
    return stages_.chosen("c_taken", "running", later, first);
  }

  // C's port, or what the register behind the last stage holds.
  std::string kept_code() {
    const int width = c_width(u_), held = u_.out.fmt.width();
    const std::string above = width == held ? "" : fmt::format("{}'d0, ", width - held);
    out_.wire({"sum_code", held});
    out_.wire({"c_code", width}, fmt::format("in_first ? c : {{{}sum_code}}", above));
    if (two_kinds_of_c(u_)) out_.wire({"running", 1}, "!in_first");
    return "c_code";
  }

  Term rounded_products(const Term& a, const Term& b) {
    out_.stage("product");
    const Term p = stages_.product("product", a, b, options_.multiplier);
    if (!u_.product.round) return p;
    Round r = *u_.product.round;
    r.zero_sign = ZeroSign::ieee;  // that is about sums
    constant_rm("product_round", r.rm);
    stages_.deliver("product_round", p, r, {.rm = "product_round_rm"});
    for (int i = 0; i < lanes_; ++i)
      flags_.push_back(lanes_ == 1 ? "product_round_flags"
                                   : fmt::format("product_round_flags[{} +: 5]", 5 * i));
    return stages_.unpack("rounded_product", "product_round_code", {.fmt = r.fmt}, lanes_);
  }

  // Scale i / block of those on a port.
  Term scale(const std::string& name, int of, int elements) {
    const auto block = static_cast<int>(std::min<std::int64_t>(u_.scale->block, lanes_));
    if (lanes_ % block != 0 || u_.scale->block % block != 0)
      refuse(fmt::format("{} lanes with a scale every {}", lanes_, u_.scale->block),
             "one number divides the other where it is");
    const Term t = stages_.unpack(name, name, {.fmt = u_.scale->fmt}, lanes_ / block);
    return stages_.picked(name + "_of", t, of, [&](const std::string& i) {
      return fmt::format("({}*{}/{})", i, elements, block);
    });
  }

  Term scaled_by_term(const Term& p) {
    if (!scales(ScaleApply::term)) return p;
    out_.stage("scale");
    const Term by_a = scale("scale_a", lanes_, 1), by_b = scale("scale_b", lanes_, 1);
    return stages_.product("scale", stages_.product("scale_by_a", p, by_a), by_b);
  }

  // NaN or infinity if the products and C make one before any arithmetic.
  void block_specials(const Term& p, const Term& c) {
    out_.section("specials of the block");
    const auto infinite = [&](const char* sign) {
      return fmt::format("|({} & {}{}) | ({} & {}{})", p.inf().name, sign, p.sign().name,
                         c.inf().name, sign, c.sign().name);
    };
    out_.wire({"block_plus", 1}, infinite("~"));
    out_.wire({"block_minus", 1}, infinite(""));
    out_.wire({"block_nan", 1}, fmt::format("|{} | {} | (block_plus & block_minus){}", p.nan().name,
                                            c.nan().name, nan_scales()));
    out_.wire({"block_inf", 1}, "(block_plus | block_minus) & !block_nan");
  }
  std::string nan_scales() {
    if (!scales(ScaleApply::group)) return "";
    const int size = static_cast<int>(shape_.size);
    scale_a_ = scale("scale_a", groups(), size);
    scale_b_ = scale("scale_b", groups(), size);
    return fmt::format(" | (|{}) | (|{})", scale_a_->nan().name, scale_b_->nan().name);
  }

  Term group_sums(const Term& products, const Term& c) {
    Term terms = products;
    if (shape_.strided && groups() > 1)
      terms = stages_.picked("dealt", products, lanes_, [&](const std::string& i) {
        return fmt::format("({0}%{2}*{1} + {0}/{2})", i, groups(), shape_.size);
      });
    const bool with_c = u_.c_level == CLevel::group;
    const Term sums = sum("group_sum", u_.group_sum, terms, with_c ? &c : nullptr, groups(),
                          widths_.group_sum, groups() == 1 && with_c);
    if (!scales(ScaleApply::group)) return sums;
    out_.stage("scale");
    if (!fixed_) refuse("apply = group with a group_sum that is not exact", "an exact one is");
    return stages_.scaled("scale", sums, *fixed_, *scale_a_, *scale_b_);
  }

  Term block_sum(const Term& sums, const Term& c) {
    if (groups() == 1 && u_.c_level != CLevel::block) return sums;
    return sum("block_sum", u_.block_sum, sums, u_.c_level == CLevel::block ? &c : nullptr, 1,
               *widths_.block_sum, u_.c_level != CLevel::late);
  }

  Term join(const Term& t, const Term& c) {
    if (u_.c_level != CLevel::late) return t;
    return sum("join", u_.c_sum, t, &c, 1, *widths_.c_sum, true);
  }

  // One of the three sums, of x and perhaps C; `last` if only the rounding to `out` follows.
  Term sum(const std::string& name, const Aligned& s, const Term& x, const Term* c, int groups,
           const SumWidths& widths, bool last) {
    const int each = (x.bus.lanes + (c ? 1 : 0)) / groups;
    const bool exact = s.align.reference == Reference::exact;
    if (each == 1 && exact) return x;
    const bool fused = s.order == Order::fused || each == 1;
    if (fused) out_.stage(name + "_align");
    const bool keeps = sum_ == Sum::of_register;
    const Term own = keeps ? last_c(x, *c) : c ? *c : x;
    const Term terms = c ? stages_.joined(name + "_terms", x, own) : x;
    if (!fused) return nodes(name, s, terms);
    const Grid g = exact && last && each == 2 && !keeps ? pair_grid(x, own)
                   : exact ? exact_grid(terms, keeps ? longest_dot : each)
                   : s.align.reference == Reference::fixed_lsb ? fixed_grid(s, terms, widths)
                                                               : window(name, s, widths);
    fixed_ = g.fixed ? g.floor : std::nullopt;
    if (terms.bus.width - terms.fraction + g.fraction < 1)
      refuse(fmt::format("{}: {} fraction bits", name, s.align.frac_bits),
             "a last digit below the largest term is");
    const Exponent digits = std::max<Exponent>(g.width, terms.bus.width + g.fraction);
    if (digits > widest_sum)
      refuse(fmt::format("{}: a sum over {} digits", name, widest_sum),
             "align it (align=F:rtz), or take formats of fewer exponent bits");
    mixed_ = name + "_mixed";
    return stages_.sum(name, terms, groups, g, {.staged = true, .accumulates = keeps});
  }

  // C comes with the last block. Before, a zero of a product's sign stands for it, which changes
  // neither a sum nor its sign.
  Term last_c(const Term& products, const Term& c) {
    if (!flags_.empty()) flags_ = {kept_flags(joined_flags(flags_))};
    return stages_.only("last_c", "in_last", c, products.sign().lane("0"));
  }

  // The flags of all blocks since the first one.
  std::string kept_flags(const std::string& raised) {
    out_.wire({"flags_kept", 5});
    out_.wire({"flags_met", 5}, fmt::format("{} | (in_first ? 5'd0 : flags_kept)", raised));
    out_.instance("ww_delay", "flags_state", {{"N", "1"}, {"W", "5"}},
                  {{"clk", "clk"},
                   {"rst", "1'b0"},
                   {"enable", fmt::format("advance & {}_valid", out_.here())},
                   {"d", "flags_met"},
                   {"q", "flags_kept"}});
    return "flags_met";
  }

  Grid window(const std::string& name, const Aligned& s, const SumWidths& widths) {
    if (fixed_ && !scales(ScaleApply::group))
      refuse(name + " below the largest exponent of exact sums", "align both alike");
    Grid g;
    g.fraction = s.align.frac_bits;
    g.rm = s.align.rm;
    if (s.align.e_floor) g.floor = *s.align.e_floor;
    g.width = static_cast<int>(widths.width);
    g.overflows = widths.can_overflow();
    return g;
  }

  // To the digit of weight 2^-frac_bits, from the largest exponent there is.
  Grid fixed_grid(const Aligned& s, const Term& terms, const SumWidths& widths) {
    Grid g;
    g.fixed = true;
    g.floor = terms.largest;
    g.fraction = s.align.frac_bits + terms.largest;
    g.rm = s.align.rm;
    g.width = static_cast<int>(std::min<std::int64_t>(widths.width, widest_sum + 1));
    g.overflows = widths.can_overflow();
    g.saturates = g.overflows && s.overflow == RegisterOverflow::saturate;
    return g;
  }

  // As few digits as the rounding to `out` asks for.
  Grid pair_grid(const Term& x, const Term& y) const {
    return grid_of_two(x, y, kept_digits(u_.out), u_.out.rm.random_bits);
  }

  Grid exact_grid(const Term& terms, std::int64_t each) const {
    const Exponent span = terms.largest - (terms.least - terms.fraction);
    const int above = terms.bus.width - terms.fraction;
    Grid g;
    g.fixed = true;
    g.floor = terms.largest;
    g.fraction = span;
    const Exponent width = above + span + std::bit_width(static_cast<std::uint64_t>(each)) + 1;
    g.width = static_cast<int>(std::min<Exponent>(width, widest_sum + 1));
    return g;
  }
  static int kept_digits(const Round& r) { return r.keep_frac.value_or(r.fmt.frac_bits) + 1; }

  // Two-input sums, each rounded: neighbours first, or one after the other.
  Term nodes(const std::string& name, const Aligned& s, const Term& terms) {
    std::vector<Term> x;  // picked where the stage before ends
    for (int i = 0; i < terms.bus.lanes; ++i)
      x.push_back(stages_.picked(fmt::format("{}_{}", name, i), terms, 1,
                                 [&](const std::string&) { return std::to_string(i); }));
    int count = 0;
    const auto add = [&](const Term& p, const Term& q) {
      return node(fmt::format("{}_node{}", name, count++), s, p, q);
    };
    if (s.order == Order::sequential) {
      for (std::size_t i = 1; i < x.size(); ++i) {
        out_.stage(fmt::format("{}_node{}", name, i - 1));
        x[0] = add(x[0], x[i]);
      }
      return x[0];
    }
    for (int level = 0; x.size() > 1; ++level) {
      out_.stage(fmt::format("{}_level{}", name, level));
      std::vector<Term> next;
      for (std::size_t i = 0; i + 1 < x.size(); i += 2) next.push_back(add(x[i], x[i + 1]));
      if (x.size() % 2) next.push_back(x.back());
      x = std::move(next);
    }
    return x[0];
  }

  Term node(const std::string& name, const Aligned& s, const Term& x, const Term& y) {
    const Round& r = *s.node_round;
    if (s.align.reference != Reference::exact)
      refuse("nodes that align", "exact ones, rounded, are");
    const Term pair = stages_.joined(name + "_terms", x, y);
    const Term exact = stages_.sum(name, pair, 1, grid_of_two(x, y, kept_digits(r), 0));
    constant_rm(name, r.rm);
    stages_.deliver(name + "_round", exact, r, {.rm = name + "_rm", .mixed = name + "_mixed"});
    masked_flags_.push_back(name + "_round_flags");
    return stages_.unpack(name + "_read", name + "_round_code", {.fmt = r.fmt});
  }

  void deliver(const Term& t) {
    out_.stage("normalise");
    RoundingPorts ports{.rm = "rm", .mixed = mixed_.empty() ? "1'b0" : mixed_, .staged = true};
    if (u_.out.rm.stochastic()) ports.random = "random";
    if (masks()) {
      ports.nan = fmt::format("block_nan | (!block_inf & {})", t.nan().name);
      ports.inf = fmt::format("block_inf | (!block_nan & {})", t.inf().name);
      ports.sign = fmt::format("block_inf ? block_minus : {}", t.sign().name);
    }
    stages_.deliver("out", t, u_.out, ports);
    const std::string flags = sum_ == Sum::of_codes ? kept_flags(all_flags()) : all_flags();
    out_.stage("result");
    out_.assign("y", "out_code");
    out_.assign("flags", flags);
    if (sum_ == Sum::of_codes) out_.assign("sum_code", "out_code");
  }

  // All that was raised on the way; sums that NaNs and infinities decide raise nothing.
  std::string all_flags() const {
    std::string all = "out_flags";
    if (!flags_.empty()) all += " | " + joined_flags(flags_);
    const std::string masked = joined_flags(masked_flags_);
    if (masked.empty()) return all;
    return fmt::format("{} | (block_nan | block_inf ? 5'd0 : {})", all, masked);
  }

  static std::string joined_flags(const std::vector<std::string>& flags) {
    return fmt::format("{}", fmt::join(flags, " | "));
  }

  void constant_rm(const std::string& name, const Rounding& rm) {
    out_.wire({name + "_rm", 4}, fmt::format("4'd{}", rounding_code(rm).number));
  }

  const Unit& u_;
  const int lanes_;
  const RtlOptions& options_;
  const Sum sum_;
  const Widths widths_;
  const GroupShape shape_;
  Netlist& out_;
  Stages stages_;
  std::vector<std::string> flags_, masked_flags_;
  std::optional<Term> scale_a_, scale_b_;
  std::optional<Exponent> fixed_;  // where the last sum was aligned, if to a fixed digit
  std::string mixed_;
};

int lanes_of(const Unit& u, const RtlOptions& options) {
  return u.lanes ? static_cast<int>(u.lanes) : options.lanes;
}

TopModule top_module(const Unit& unit, std::string_view name, const RtlOptions& options) {
  check_identifier(options.multiplier);
  check(unit, options);
  const int lanes = lanes_of(unit, options);
  TopModule top{
      .name = name,
      .comment = {"SPEC: " + to_string(unit),
                  fmt::format("MODEL_HASH: 64'h{:016x}", model_hash(unit))},
      .ports = rtl_ports(unit, options),
      .body = [&unit, lanes, &options](Netlist& out) { Body(unit, lanes, options, out).write(); },
      .pipeline = options.pipeline,
      .sum = kept_sum(unit, options)};
  top.comment.push_back(
      fmt::format("One block of {} products. {} flags: NV DZ OF UF NX.", lanes, clocking(top)));
  return top;
}

}  // namespace

std::vector<Port> rtl_ports(const Unit& u, const RtlOptions& options) {
  const int lanes = lanes_of(u, options);
  std::vector<Port> all{{"input ", {"a", u.a.fmt.width(), lanes}},
                        {"input ", {"b", u.b.fmt.width(), lanes}},
                        {"input ", {"c", c_width(u)}}};
  if (two_kinds_of_c(u) && !options.accumulate) all.push_back({"input ", {"running", 1}});
  if (u.scale)
    for (const char* name : {"scale_a", "scale_b"})
      all.push_back({"input ",
                     {name, u.scale->fmt.width(),
                      static_cast<int>(lanes / std::min<std::int64_t>(u.scale->block, lanes))}});
  if (options.rounding_port) all.push_back({"input ", {"rm", 4}});
  if (u.out.rm.stochastic()) all.push_back({"input ", {"random", u.out.rm.random_bits}});
  all.push_back({"output", {"y", u.out.fmt.width()}});
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

}  // namespace widthwise::hdl
