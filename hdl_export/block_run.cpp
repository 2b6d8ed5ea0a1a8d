#include "block_run.hpp"

#include <bit>
#include <functional>
#include <numeric>
#include <span>

#include "numbers.hpp"
#include "stored_codes.hpp"

namespace widthwise::hdl {
namespace {

constexpr std::uint8_t invalid = 16;
// A number and what it is over, which binary64 holds: a scale times the tensor's.
constexpr Format ratio[] = {binary32, binary64};

// Whether elements are rounded from a quotient in binary32, and not from the exact one.
bool divides_twice(const BlockQuantisation& q) { return q.to.scale == binary32; }

// An operation on a block's numbers: its results, and the flags of all together.
std::uint8_t flags_of_all(const Elementwise& run, const Format& to, std::size_t n,
                          std::span<const void* const> operands, Bytes& results) {
  results = stored(std::vector<Code>(n), to);
  std::vector<std::uint8_t> flags(n);
  run.run(operands, n, results.data(), flags.data());
  return std::reduce(flags.begin(), flags.end(), std::uint8_t{}, std::bit_or<>());
}

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
      divide_(Operation::divide, divides_twice(q) ? binary32 : q.element(),
              {.rounding = divides_twice(q) ? Rounding{} : q.rounding}, ratio, true, q.numbers()),
      run_(BlockQuantiser::of<float>(along_an_axis(q.to, q.numbers()), one_block(q.numbers()),
                                     {.rounding = q.rounding, .tensor_scale = q.tensor_scale})) {
  if (divides_twice(q))
    round_.emplace(Operation::convert, q.element(), Env{.rounding = q.rounding},
                   std::span(ratio, 1), true, q.numbers());
}

std::vector<float> BlockRun::values(const std::vector<Code>& numbers) const {
  const Bytes codes = stored(numbers, q_.from);
  std::vector<float> x(numbers.size());
  const void* operand = codes.data();
  read_.run({&operand, 1}, x.size(), x.data(), nullptr);
  return x;
}

double BlockRun::divisor(const Code& scale) const {
  const Number value = apply(Operation::convert, binary64, {{q_.to.scale, scale}});
  const auto by = std::bit_cast<double>(value.code.limb[0]) * static_cast<double>(q_.tensor_scale);
  return by == 0 ? 1 : by;
}

// Of the quotients' roundings.
std::uint8_t BlockRun::flags_of(const std::vector<float>& x, double by) const {
  const std::vector<double> divisors(x.size(), by);
  const void* operands[] = {x.data(), divisors.data()};
  Bytes quotients, elements;
  std::uint8_t flags = flags_of_all(divide_, divides_twice(q_) ? binary32 : q_.to.element, x.size(),
                                    operands, quotients);
  if (!round_) return flags;
  const void* operand = quotients.data();
  return flags | flags_of_all(*round_, q_.to.element, x.size(), {&operand, 1}, elements);
}

BlockRun::Block BlockRun::special() const {
  return {std::vector<Code>(q_.numbers()), ones<Code>(q_.to.scale.width()), invalid};
}

BlockRun::Block BlockRun::quantised(const std::vector<Code>& numbers,
                                    const Code& tensor_scale) const {
  if (q_.tensor_scale_port) {
    const auto own = q_.under(static_cast<std::uint32_t>(tensor_scale.limb[0]));
    return own ? BlockRun(*own).quantised(numbers) : special();
  }
  const std::vector<float> x = values(numbers);
  const Format& scale = q_.to.scale;
  Bytes elements = stored(std::vector<Code>(x.size()), q_.to.element),
        code = stored({Code()}, scale);
  BlockTally tally;
  for (std::size_t panel = 0; panel < run_.panels(); ++panel)
    run_.run(panel, x.data(), elements.data(), code.data(), tally);
  if (tally.refused) return special();
  Block block{loaded(elements, q_.to.element), loaded(code, scale)[0]};
  const bool flushed = q_.to.flush && largest_magnitude(x.data(), x.size()) < 0x1p-126;
  if (tally.special)
    block.flags = invalid;
  else if (!flushed)
    block.flags = flags_of(x, divisor(block.scale));
  return block;
}

}  // namespace widthwise::hdl
