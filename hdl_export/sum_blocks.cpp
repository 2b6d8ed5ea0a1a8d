#include "sum_blocks.hpp"

namespace widthwise::hdl {
namespace {

std::vector<Code> share(const std::vector<Code>& all, std::size_t first, int count) {
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {at, at + count};
}

}  // namespace

Dataflow repeated(Dataflow block, int count) {
  block.lanes *= count;
  return block;
}

std::vector<Block> blocks_of(const Stimulus& sum, const Dataflow& block, RunningSum running) {
  if (running == RunningSum::none) return {{sum}};
  const auto lanes = static_cast<std::size_t>(block.lanes);
  const Code c = sum.c[0], another = c ^ ones<Code>(block.c->width());
  std::vector<Block> all;
  for (std::size_t step = 0; step < sum.a.size(); step += lanes) {
    const std::size_t scale = step / static_cast<std::size_t>(block.scale_block);
    const bool first = step == 0, last = step + lanes == sum.a.size();
    const bool reads_c = begins_with_c(running) ? first : last;
    all.push_back({{.a = share(sum.a, step, block.lanes),
                    .b = share(sum.b, step, block.lanes),
                    .c = {reads_c ? c : another},
                    .scale_a = share(sum.scale_a, scale, block.scales()),
                    .scale_b = share(sum.scale_b, scale, block.scales())},
                   step,
                   first,
                   last});
  }
  return all;
}

}  // namespace widthwise::hdl
