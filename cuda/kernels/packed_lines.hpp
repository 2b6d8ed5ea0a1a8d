#pragma once
#include "packed_operand.hpp"
#include "side.hpp"
#include "sim/dot/gather.hpp"

// Codes to what tensor tiles load: every element conditioned and scaled, in the unit's order.
namespace widthwise::cuda {

// The rows of A or the columns of B.
struct Lines {
  Operand operand;
  Layout<std::uint64_t> layout, scale_layout;
  CodeMatrix codes, scales;  // (line, k); no data: no scales
  std::size_t count, length, scale_block;
  const std::size_t* order;  // which element of k a lane takes; null: its own

  WIDTHWISE_BOTH_INLINE Factor<std::uint64_t> element(std::size_t line, std::size_t lane) const {
    return condition(operand, widthwise::element(layout, codes, line, place(lane)));
  }
  WIDTHWISE_BOTH_INLINE Factor<std::uint64_t> scale(std::size_t line, std::size_t lane) const {
    if (!scales.data) return {false, false, false, 1, 0, 0};
    return widthwise::element(scale_layout, scales, line, place(lane) / scale_block);
  }

 private:
  WIDTHWISE_BOTH_INLINE std::size_t place(std::size_t lane) const {
    return order ? order[lane] : lane;
  }
};

// How blocks lie there: group by group, each filled up.
struct PackedBlocks {
  GroupShape groups;
  std::size_t lanes, packed_group;
  std::size_t length;  // of all

  // Which lane of the unit stands at i; `none` where it is filled up.
  static constexpr std::size_t none = ~std::size_t{0};
  constexpr std::size_t packed_lanes() const { return packed_group * groups.count; }
  constexpr std::size_t count(std::size_t k) const { return (k - 1) / lanes + 1; }
  // What whole blocks of so many lanes take.
  constexpr std::size_t packed(std::size_t of_lanes) const {
    return of_lanes / lanes * packed_lanes();
  }
  constexpr std::size_t lane_at(std::size_t i) const {
    const std::size_t at = i % packed_lanes(), of_group = at % packed_group;
    const std::size_t lane = groups.lane(at / packed_group, of_group);
    return of_group < groups.size && lane < lanes ? i / packed_lanes() * lanes + lane : none;
  }
};

// Element (i, line) stands at i * lines + line. What fills up are zeros.
struct PackOperands {
  Lines lines;
  PackedBlocks blocks;
  std::uint32_t* packed;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < blocks.length * lines.count; i += threads) {
      const std::size_t line = i % lines.count, lane = blocks.lane_at(i / lines.count);
      packed[i] = lane < lines.length ? scaled(lines.element(line, lane), lines.scale(line, lane))
                                      : PackedOperand::zero;
    }
  }

 private:
  // Times a scale of one digit, which moves exponents alone.
  WIDTHWISE_BOTH_INLINE static std::uint32_t scaled(const Factor<std::uint64_t>& x,
                                                    const Factor<std::uint64_t>& scale) {
    if (x.endless || scale.endless)
      return PackedOperand::packed(PackedOperand::of_special, false, 0);
    const bool negative = x.negative != scale.negative;
    if (x.zero || scale.zero) return PackedOperand::packed(PackedOperand::of_zero, negative, 0);
    return PackedOperand::packed(static_cast<int>(x.e + scale.e), negative,
                                 static_cast<std::uint32_t>(x.m));
  }
};

}  // namespace widthwise::cuda
