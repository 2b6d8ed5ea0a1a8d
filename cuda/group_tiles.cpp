#include "group_tiles.hpp"

#include <fmt/format.h>

#include <bit>
#include <climits>

#include "kernels/group_tile.hpp"
#include "lines_there.hpp"
#include "output_tiles.hpp"
#include "tensor_plan.hpp"
#include "widthwise/sim/text.hpp"

namespace widthwise::cuda {
namespace {

constexpr int most_exponent = 255;  // of scales, either way
constexpr int most_bits = 53;       // of a sum

constexpr Rounding toward_zero(RoundingMode::rtz);

// How many digits the numbers of a format have in units of the last one.
std::int64_t number_bits(const Format& f) { return f.emax() - f.least_digit() + 1; }

std::string unlike_small_numbers(const char* where, const Operand& x) {
  const Format& f = x.fmt;
  if (f.has_inf() || f.has_nan())
    return fmt::format("{} = {} has infinities or NaN", where, to_string(f));
  if (number_bits(f) > 7)
    return fmt::format("{} = {} is no whole numbers of 8 bits", where, to_string(f));
  return {};
}

int groups_of(const Unit& u) {
  return static_cast<int>(group_shape(u.groups, static_cast<std::size_t>(u.lanes)).count);
}
// Of a group's sum, once scaled, after the point.
std::int64_t places(const Unit& u) {
  return 2 * u.scale->fmt.frac_bits - u.a.fmt.least_digit() - u.b.fmt.least_digit();
}

// Why the unit has another shape than scaled groups and C aligned once; empty if it has that one.
std::string unlike_scaled_groups(const Unit& u) {
  if (u.lanes == 0) return "one block takes all of K";
  if (u.c_level != CLevel::block || u.late_frac) return "C does not join scaled groups";
  if (u.product.round || u.product.overflow_to_inf_at) return "products are rounded or overflow";
  if (u.group_sum != Sum{}) return "scaled groups are not summed exactly";
  const GroupShape shape = group_shape(u.groups, static_cast<std::size_t>(u.lanes));
  if (shape.size > PackedGroup::lanes)
    return fmt::format("groups of more than {} products", PackedGroup::lanes);
  if (shape.count > GroupTile::depth || !std::has_single_bit(shape.count))
    return fmt::format("{} groups a block, not 1, 2 or {}", shape.count, GroupTile::depth);
  const Sum& s = u.block_sum;
  if (s.order != Order::fused || s.node_round || s.width || s.align.drop_c_below ||
      s.align.reference != Reference::max_exponent || s.align.rm != toward_zero)
    return "scaled groups are not aligned to the largest exponent and truncated";
  return {};
}

std::string unlike_a_truncated_single(const Unit& u) {
  Round to = u.out;
  to.keep_frac.reset();
  to.rm = RoundingMode::rne;
  if (u.out.rm != toward_zero || !rounds_plainly(to, binary32))
    return "scaled groups whose sum is not truncated to binary32";
  if (u.c.fmt != binary32 || u.c.subnormals != Flush::keep || u.c.keep_frac)
    return "C is not in out's format as it stands";
  const Chain& chain = u.chain;
  if (chain.compensation != Compensation::none || chain.final)
    return "compensated sums, or a final rounding";
  return unlike_a_tiled_chain(u);
}

// Why sums of the scaled groups are too wide; empty if they are not.
std::string too_wide(const Unit& u) {
  const Format& scale = u.scale->fmt;
  const std::int64_t F = u.block_sum.align.frac_bits;
  if (scale.emin() < -most_exponent || scale.emax() > most_exponent)
    return fmt::format("scale = {} has exponents past {}", to_string(scale), most_exponent);
  const std::int64_t bits =
      number_bits(u.a.fmt) + number_bits(u.b.fmt) + 4 + 2 * scale.precision();  // 2^4 products
  if (bits > 31) return fmt::format("scaled sums of groups of {} bits", bits);
  const std::int64_t up = F - places(u);
  if (F < binary32.frac_bits || up < 0 || bits + up + 3 > most_bits || F + 2 > most_bits - 3)
    return fmt::format("{} bits below the largest exponent", F);
  if (u.block_sum.align.e_floor.value_or(INT64_MIN) > u.c.fmt.emin())
    return "the least exponent of a sum lies above C's";
  return {};
}

class GroupTiles final : public Way {
 public:
  GroupTiles(const ProductTask& task, Device& device)
      : device_(device),
        unit_(task.unit),
        lines_(task, device),
        blocks_(packed_blocks(task)),
        constants_(constants(task.k)),
        definition_(definition(task, device)) {}

  void compute(const RegionThere& region, const std::uint8_t*) const override {
    const Buffer a = packed(lines_.of_a(region.p), false), b = packed(lines_.of_b(region.p), true);
    GroupArgs args = constants_;
    args.a = a.at<const std::uint32_t>();
    args.b = b.at<const std::uint32_t>();
    compute_outputs(device_, unit_, {"group_tile", "group_tile"}, args, region, *definition_);
  }

 private:
  static PackedBlocks packed_blocks(const ProductTask& task) {
    const auto lanes = static_cast<std::size_t>(task.unit.lanes);
    PackedBlocks z{.groups = group_shape(task.unit.groups, lanes),
                   .lanes = lanes,
                   .packed_group = PackedGroup::lanes,
                   .length = 0};
    z.length = rounded_up(z.count(task.k) * z.packed_lanes(),
                          std::size_t{GroupTile::depth} * PackedGroup::lanes);
    return z;
  }

  // But what depends on the operands.
  GroupArgs constants(std::size_t k) const {
    const Align& align = unit_.block_sum.align;
    const auto number = [](std::int64_t x) { return static_cast<int>(x); };
    const std::int64_t kept = unit_.out.keep_frac.value_or(binary32.frac_bits);
    GroupArgs z{};
    z.blocks = static_cast<int>(blocks_.count(k));
    z.groups = groups_of(unit_);
    z.interval = static_cast<int>(packed_interval(unit_, blocks_) / PackedGroup::lanes);
    z.up = number(align.frac_bits - places(unit_));
    z.join = {.frac_bits = number(align.frac_bits),
              .floor = least_exponent(align),
              .c_emin = number(unit_.c.fmt.emin()),
              .most_exponent = PackedOperand::most_exponent,
              .kept = ~std::uint32_t{0} << (binary32.frac_bits - kept),
              .c_up = number(align.frac_bits - binary32.frac_bits)};
    return z;
  }

  Buffer packed(const Lines& lines, bool of_b) const {
    const std::size_t count = blocks_.length / PackedGroup::lanes * lines.count;
    Buffer z(device_, count * PackedGroup::words * sizeof(std::uint32_t));
    const PackGroups pack{lines, blocks_, of_b, lines.operand.fmt.least_digit(),
                          z.at<std::uint32_t>()};
    launch_each(device_, {"group_tile", "pack_groups"}, count, &pack);
    return z;
  }

  Device& device_;
  Unit unit_;
  LinesThere lines_;
  PackedBlocks blocks_;
  GroupArgs constants_;
  std::unique_ptr<const Way> definition_;
};

}  // namespace

std::string why_no_group_tiles(const ProductTask& task) {
  const Unit& u = task.unit;
  if (task.flags) return "flags are wanted";
  if (task.k == 0 || task.k > INT_MAX / 4) return "of a length that tiles have not";
  for (const std::string& why : {unlike_scaled_groups(u), unlike_small_numbers("a", u.a),
                                 unlike_small_numbers("b", u.b), unlike_a_truncated_single(u)})
    if (!why.empty()) return why;
  return too_wide(u);
}

std::unique_ptr<const Way> group_tiles(const ProductTask& task, Device& device) {
  if (!why_no_group_tiles(task).empty()) return nullptr;
  return std::make_unique<GroupTiles>(task, device);
}

}  // namespace widthwise::cuda
