#include "unit_shape.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "format_constants.hpp"
#include "widthwise/datapath/block.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::hdl {
namespace {

void check_sum(const std::string& key, const Sum& s) {
  if (s.width && s.align.reference == Reference::exact)
    refuse(key + ".width of an exact sum", "align it with fixed_lsb");
}

void check_multiplier(const Unit& u, const RtlOptions& options) {
  if (options.multiplier == "ww_multiply") return;
  for (const Operand* x : {&u.a, &u.b})
    if (x->keep_frac && x->keep_rm.mode != RoundingMode::rtz)
      refuse(fmt::format("keep_rm = {} before a multiplier of one's own", to_string(x->keep_rm)),
             "cut operands with rtz");
}

void check_scales(const Unit& u, const UnitShape& shape) {
  if (!u.scale) return;
  if (u.chain.lane_permutation && u.scale->apply == ScaleApply::group)
    refuse("scale.apply = group with a lane_permutation", "apply = term is");
  if (!shape.whole && shape.lanes % u.scale->block != 0 && u.scale->block % shape.lanes != 0)
    refuse(fmt::format("{} lanes with a scale every {}", shape.lanes, u.scale->block),
           "one number divides the other where it is");
}

void check_groups(const Unit& u, const UnitShape& shape) {
  const auto lanes = static_cast<std::size_t>(shape.lanes);
  const GroupShape groups = group_shape(u.groups, lanes);
  if (groups.count * groups.size != lanes)
    refuse(fmt::format("{} lanes in groups of {}", lanes, groups.size), "groups of one size are");
}

void check_permutation(const Unit& u, const UnitShape& shape) {
  const auto& p = u.chain.lane_permutation;
  if (p && (p->run > shape.products() || p->ways > shape.products() ||
            shape.products() % (p->run * p->ways) != 0))
    refuse(fmt::format("a lane_permutation of runs of {} dealt {} ways over {} products", p->run,
                       p->ways, shape.products()),
           "give options.lanes, a multiple of both together");
}

RunningSum running_sum(const Unit& u, const RtlOptions& options) {
  if (!options.accumulate) return RunningSum::none;
  if (u.lanes != 0) return RunningSum::of_codes;
  return has_nar(u.group_sum.overflow) ? RunningSum::of_quire : RunningSum::of_register;
}

// A unit that takes all of K at once has one register for it, if its digits are known beforehand.
void check_register(const Unit& u) {
  if (u.group_sum.align.reference == Reference::max_exponent)
    refuse("a running sum below the largest exponent of all terms",
           "a unit of so many lanes a block (lanes = 4) has one");
  if (u.groups || u.c_level != CLevel::group || u.group_sum.order != Order::fused)
    refuse("a running sum of several groups, of nodes or with C joined late",
           "one fused group_sum with C in it is");
  if (scales(u, ScaleApply::group)) refuse("a running sum with scale.apply = group", "term is");
  if (may_flag(u.group_sum)) refuse("a running sum with overflow = flag", "wrap and saturate are");
}

void check_running_sum(const Unit& u, const RtlOptions& options) {
  if (!options.accumulate) return;
  if (u.lanes == 0) check_register(u);
  if (u.chain != Chain{})
    refuse("a running sum of a unit with a chain of its own",
           "without chain.promote, compensation, c_at, final and lane_permutation one is");
  if (u.lanes != 0 && options.lanes != 0)
    throw std::invalid_argument(fmt::format(
        "rtl: a running sum takes one block of {} lanes at a time and options.lanes = {}; leave "
        "options.lanes out",
        u.lanes, options.lanes));
}

UnitShape shape_without_checks(const Unit& u, const RtlOptions& options) {
  if (u.lanes == 0 && options.lanes <= 0)
    throw std::invalid_argument(
        "rtl: the unit takes all of K at once; give the number of products as options.lanes");
  const int lanes = static_cast<int>(u.lanes ? u.lanes : options.lanes);
  if (options.lanes < 0 || options.lanes % lanes != 0)
    throw std::invalid_argument(fmt::format(
        "rtl: the unit takes {} products a block and options.lanes = {}; give a multiple, or none "
        "for one block",
        lanes, options.lanes));
  return {.lanes = lanes,
          .blocks = options.lanes ? options.lanes / lanes : 1,
          .whole = options.lanes != 0 || u.chain != Chain{},
          .running = running_sum(u, options)};
}

}  // namespace

void refuse(const std::string& what, const std::string& instead) {
  throw std::invalid_argument(fmt::format("rtl: {} is not built; {}", said(what), instead));
}

UnitShape shape_of(const Unit& u, const RtlOptions& options) {
  widthwise::check(u);
  for (const Format& f : {u.a.fmt, u.b.fmt, u.c.fmt}) require_known(f);
  const UnitShape shape = shape_without_checks(u, options);
  check_sum("group_sum", u.group_sum);
  check_sum("block_sum", u.block_sum);
  check_sum("c_sum", u.c_sum);
  check_multiplier(u, options);
  check_groups(u, shape);
  check_scales(u, shape);
  check_permutation(u, shape);
  check_running_sum(u, options);
  if (options.rounding_port && u.out.rm.stochastic())
    refuse(fmt::format("out.rm = {} with a port for the rounding", to_string(u.out.rm)),
           "leave options.rounding_port out");
  return shape;
}

bool two_kinds_of_c(const Unit& u, const UnitShape& shape) {
  return !shape.whole && u.c != Operand{.fmt = u.out.fmt};
}

bool scales(const Unit& u, ScaleApply how) { return u.scale && u.scale->apply == how; }

int scale_words(const Unit& u, const UnitShape& shape) {
  return static_cast<int>((shape.products() + u.scale->block - 1) / u.scale->block);
}

bool may_flag(const Sum& s) { return s.width && s.overflow == RegisterOverflow::flag; }

}  // namespace widthwise::hdl
