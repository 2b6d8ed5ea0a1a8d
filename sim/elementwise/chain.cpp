#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "widthwise/sim/elementwise_chain.hpp"

namespace widthwise {
namespace {

// Elements that go through all steps together: codes of 16 bits stay in the second cache, and what
// is done once for each step and piece does not count.
constexpr std::size_t chain_piece = 16384;

std::size_t bytes_of(const Format& f) { return static_cast<std::size_t>(item_bytes(f.width())); }

}  // namespace

ElementwiseChain::ElementwiseChain(std::span<const Format> operands, std::vector<ChainStep> steps,
                                   bool flags, std::size_t expected)
    : formats_(operands.begin(), operands.end()), steps_(std::move(steps)) {
  if (steps_.empty()) throw std::invalid_argument("steps: there are none");
  for (const ChainStep& step : steps_) {
    std::vector<Format> from;
    for (const std::size_t i : step.from) {
      if (i >= formats_.size())
        throw std::invalid_argument(fmt::format("step {} takes value {}; there are {} before it",
                                                operations_.size(), i, formats_.size()));
      from.push_back(formats_[i]);
    }
    operations_.emplace_back(step.op, step.to, step.env, from, flags, expected);
    formats_.push_back(step.to);
  }
}

bool ElementwiseChain::quick() const {
  return std::all_of(operations_.begin(), operations_.end(),
                     [](const Elementwise& x) { return x.quick(); });
}

void ElementwiseChain::run(std::span<const void* const> operands, std::size_t count, void* result,
                           std::uint8_t* flags, std::uint64_t first_index) const {
  const std::size_t given = operands.size();
  std::vector<std::vector<std::byte>> between(steps_.size() - 1);
  for (std::size_t s = 0; s < between.size(); ++s)
    between[s].resize(chain_piece * bytes_of(steps_[s].to));
  std::vector<const void*> value(formats_.size());
  std::vector<std::uint8_t> raised(flags ? chain_piece : 0);
  for (std::size_t first = 0; first < count; first += chain_piece) {
    const std::size_t n = std::min(chain_piece, count - first);
    for (std::size_t i = 0; i < given; ++i)
      value[i] = static_cast<const std::byte*>(operands[i]) + first * bytes_of(formats_[i]);
    if (flags) std::fill_n(flags + first, n, std::uint8_t{0});
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      void* const to = s < between.size()
                           ? between[s].data()
                           : static_cast<std::byte*>(result) + first * bytes_of(steps_[s].to);
      std::vector<const void*> from;
      for (const std::size_t i : steps_[s].from) from.push_back(value[i]);
      operations_[s].run(from, n, to, flags ? raised.data() : nullptr,
                         {steps_[s].seed, first_index + first});
      value[given + s] = to;
      if (flags)
        for (std::size_t i = 0; i < n; ++i) flags[first + i] |= raised[i];
    }
  }
}

}  // namespace widthwise
