#include "trace.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "definition.hpp"
#include "kernels/unit_trace.hpp"
#include "sim/dot/capacity.hpp"
#include "sim/dot/wires.hpp"
#include "unit_threads.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::cuda {
namespace {

template <class M>
Factor<M> factor_of(const Term<M>& x) {
  return {x.kind, x.negative, x.m, x.q};
}

// What a thread was told, told again.
template <class M>
void tell(const WireRecord<M>& x, Wires& wires) {
  switch (x.call) {
    case WireCall::operands:
      return wires.operands(x.first.lane, factor_of(x.first), factor_of(x.second));
    case WireCall::term: return wires(x.stage, x.first, x.second);
    case WireCall::digits: return wires(x.stage, x.second.negative, x.second.q, x.second.m);
    case WireCall::slot: return wires(x.slot, x.first.lane);
  }
}

// How many records there are, is known when they have been counted.
template <class M, class H>
std::vector<TraceRow> traced_in(Device& device, const Unit& unit, const MatrixProduct& p,
                                std::size_t row, std::size_t column, const char* kernel) {
  const UnitThreads<M, H> threads(unit, p.k, device);
  MatrixProduct one = p;
  one.m = one.n = 1;  // a thread does it
  std::vector<WireRecord<M>> records;
  const auto trace = [&] {
    std::size_t told = 0;
    const Buffer there(device, records.size() * sizeof(WireRecord<M>)), count(device, sizeof told);
    threads.launch({"unit_trace", kernel}, {one, p.n}, 0, [&](const UnitWork<M, H>& work) {
      return UnitTrace<M, H>{
          work, row, column, there.at<WireRecord<M>>(), records.size(), count.at<std::size_t>()};
    });
    device.copy_out(&told, count.at(), sizeof told);
    if (!records.empty())
      device.copy_out(records.data(), there.at(), records.size() * sizeof(WireRecord<M>));
    return told;
  };
  records.resize(trace());
  trace();
  Wires wires;
  for (const WireRecord<M>& x : records) tell(x, wires);
  return std::move(wires.rows);
}

}  // namespace

// Of a number that is normalised a wire has all digits of its carrier, which are the reference's up
// to there.
std::string why_no_trace(const Unit& unit, std::size_t k) {
  constexpr std::int64_t most = 638;
  const std::int64_t bits = capacity(unit, static_cast<std::int64_t>(k), false).magnitude_bits;
  if (bits <= most) return {};
  return fmt::format(
      "unit {}: numbers of {} bits on their way, and a GPU traces {}; bring the operands here, "
      "where any is traced",
      to_string(unit), bits, most);
}

std::vector<TraceRow> trace(Device& device, const Unit& unit, const MatrixProduct& p,
                            std::size_t row, std::size_t column) {
  if (const std::string why = why_no_trace(unit, p.k); !why.empty())
    throw std::invalid_argument(why);
  if (carriers_for({unit, p.k}) == Carriers::small)
    return traced_in<uint128, std::uint64_t>(device, unit, p, row, column, "trace_small");
  return traced_in<Wide<12>, uint128>(device, unit, p, row, column, "trace_medium");
}

}  // namespace widthwise::cuda
