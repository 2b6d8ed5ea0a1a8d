#include "rtl_random_inputs.hpp"

#include <algorithm>

#include "rtl_vectors.hpp"
#include "widthwise/random.hpp"

namespace tests {

using namespace widthwise;

RandomInputs::RandomInputs(const SingleOperation& s, const hdl::RtlOptions& options)
    : at_once_(true), generator_(options.generator), ports_(hdl::random_ports(s, options)) {}

RandomInputs::RandomInputs(const Unit& u, const hdl::RtlOptions& options)
    : at_once_(u.lanes == 0), generator_(options.generator), ports_(hdl::random_ports(u, options)) {
  const bool block = options.lanes == 0 && u.chain == Chain{};
  has_step_ = std::ranges::any_of(
      ports_, [&](const auto& port) { return block || (options.accumulate && moves(port)); });
}

std::vector<Field> RandomInputs::fields() const {
  std::vector<Field> all;
  if (generator_) all = {{"seed", 64}, {"index", 64}};
  if (generator_ && has_step_) all.push_back({"step", 32});
  if (generator_) return all;
  for (const hdl::RandomPort& port : ports_)
    all.push_back({port.name, port.bits * static_cast<int>(port.steps.size())});
  return all;
}

std::string RandomInputs::values(std::uint64_t seed, std::uint64_t index,
                                 std::uint64_t first) const {
  if (generator_) return hex(seed, 64) + hex(index, 64) + (has_step_ ? hex(first, 32) : "");
  std::string line;
  for (const hdl::RandomPort& port : ports_) {
    std::vector<Code> words;
    for (const std::int64_t step : port.steps)
      words.emplace_back(random_bits(port.bits, {seed, index}, port.slot,
                                     static_cast<std::uint64_t>(step) + (moves(port) ? first : 0)));
    line += bus_digits(words, port.bits);
  }
  return line;
}

bool RandomInputs::moves(const hdl::RandomPort& port) const {
  return !at_once_ || port.slot == Slot::product;
}

}  // namespace tests
