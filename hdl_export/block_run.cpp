#include "block_run.hpp"

#include <cmath>

#include "stored_codes.hpp"

namespace widthwise::hdl {
namespace {

constexpr std::uint8_t invalid = 16;
constexpr Format exactly = binary64;  // holds binary32's numbers times every scale

BlockGrid one_block(std::size_t n) {
  return {.outer = 1, .rows = 1, .columns = n, .block_rows = 1, .block_columns = n};
}

BlockFormat along_an_axis(BlockFormat f, std::size_t n) {
  f.shape = BlockShape::along_axis;
  f.rows = 1;
  f.columns = static_cast<std::int64_t>(n);
  return f;
}

}  // namespace

BlockRun::BlockRun(const BlockQuantisation& q)
    : q_(q),
      read_(Operation::convert, binary32, {}, {&q_.from, 1}, false, q.numbers()),
      round_(Operation::convert, q.element(), {.rounding = q.rounding}, {&exactly, 1}, true,
             q.numbers()),
      run_(BlockQuantiser::of<float>(along_an_axis(q.to, q.numbers()), one_block(q.numbers()),
                                     {.rounding = q.rounding})) {}

std::vector<float> BlockRun::values(const std::vector<Code>& numbers) const {
  const Bytes codes = stored(numbers, q_.from);
  std::vector<float> x(numbers.size());
  const void* operand = codes.data();
  read_.run({&operand, 1}, x.size(), x.data(), nullptr);
  return x;
}

// Of the exact quotients' roundings.
std::uint8_t BlockRun::flags_of(const std::vector<float>& x, std::int64_t exponent) const {
  std::vector<double> quotients;
  for (const float each : x)
    quotients.push_back(std::ldexp(static_cast<double>(each), static_cast<int>(-exponent)));
  Bytes elements = stored(std::vector<Code>(x.size()), q_.to.element);
  std::vector<std::uint8_t> flags(x.size());
  const void* operand = quotients.data();
  round_.run({&operand, 1}, x.size(), elements.data(), flags.data());
  std::uint8_t any = 0;
  for (const std::uint8_t each : flags) any |= each;
  return any;
}

BlockRun::Block BlockRun::quantised(const std::vector<Code>& numbers) const {
  const std::vector<float> x = values(numbers);
  const Format& scale = q_.to.scale;
  Bytes elements = stored(std::vector<Code>(x.size()), q_.to.element),
        code = stored({Code()}, scale);
  BlockTally tally;
  for (std::size_t panel = 0; panel < run_.panels(); ++panel)
    run_.run(panel, x.data(), elements.data(), code.data(), tally);
  if (tally.refused) return {std::vector<Code>(x.size()), ones<Code>(scale.width()), invalid};
  Block block{loaded(elements, q_.to.element), loaded(code, scale)[0]};
  const bool flushed = q_.to.flush && largest_magnitude(x.data(), x.size()) < 0x1p-126;
  if (tally.special)
    block.flags = invalid;
  else if (!flushed)
    block.flags = flags_of(x, static_cast<std::int64_t>(block.scale.limb[0]) - scale.bias);
  return block;
}

}  // namespace widthwise::hdl
