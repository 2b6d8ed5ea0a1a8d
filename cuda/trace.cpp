#include "trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "definition.hpp"
#include "kernels/unit_trace.hpp"
#include "sim/dot/capacity.hpp"
#include "sim/dot/make.hpp"
#include "sim/dot/wires.hpp"
#include "supplied.hpp"
#include "unit_threads.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/unit_text.hpp"

namespace widthwise::cuda {
namespace {

template <class M>
Factor<M> factor_of(const Term<M>& x) {
  return {x.negative, x.zero, x.endless, x.m, x.q, x.e};
}

using Longest = Wide<65>;

// A number that is normalised stands at the top of its carrier, and so do its digits on a wire,
// what lies below them jammed: the reference's carrier has more of them than a thread's, or fewer.
template <class H, class M>
void tell_digits(const WireRecord<M>& x, int digits_of_reference, Wires& wires) {
  const bool at_the_top = x.stage == Stage::normalise || x.stage == Stage::denormalise;
  const int more = at_the_top ? digits_of_reference - digits<H> : 0;
  Longest m = widen<Longest>(x.second.m);
  m = more < 0 ? shift_right_jam<Longest>(m, -more) : m << more;
  wires(x.stage, x.second.negative, x.second.q - more, m);
}

// What a thread was told, told again.
template <class H, class M>
void tell(const WireRecord<M>& x, int digits_of_reference, Wires& wires) {
  switch (x.call) {
    case WireCall::operands:
      return wires.operands(x.first.lane, factor_of(x.first), factor_of(x.second));
    case WireCall::term: return wires(x.stage, x.first, x.second);
    case WireCall::digits: return tell_digits<H>(x, digits_of_reference, wires);
    case WireCall::slot: return wires(x.slot, x.first.lane);
  }
}

// How many records there are, is known when they have been counted.
template <class M, class H>
std::vector<TraceRow> traced_in(Device& device, const ProductTask& task, const MatrixProduct& p,
                                std::size_t row, std::size_t column, const ByMultiplier& kernels) {
  const UnitThreads<M, H> threads(task.unit, task.k, device);
  MatrixProduct one = p;
  one.m = one.n = 1;  // a thread does it
  std::vector<WireRecord<M>> records;
  const auto trace = [&](const Kernel& kernel, auto multiplier) {
    std::size_t told = 0;
    const Watch watch(device, multiplier);
    const Buffer there(device, records.size() * sizeof(WireRecord<M>)), count(device, sizeof told);
    threads.launch(kernel, {one, p.n}, 1, 0, [&](const UnitWork<M, H>& work) {
      return UnitTrace<M, H, decltype(multiplier)>{work,           row,
                                                   column,         there.at<WireRecord<M>>(),
                                                   records.size(), count.at<std::size_t>(),
                                                   multiplier};
    });
    watch.check();
    device.copy_out(&told, count.at(), sizeof told);
    if (!records.empty())
      device.copy_out(records.data(), there.at(), records.size() * sizeof(WireRecord<M>));
    return told;
  };
  records.resize(with_multiplier<M>(task, kernels, trace));
  with_multiplier<M>(task, kernels, trace);
  Wires wires;
  const int digits_of_reference = std::min(
      least_carriers(task.unit, task.k, bool(task.multiplier)).code_digits, digits<Longest>);
  for (const WireRecord<M>& x : records) tell<H>(x, digits_of_reference, wires);
  return std::move(wires.rows);
}

}  // namespace

std::vector<TraceRow> trace(Device& device, const ProductTask& task, const MatrixProduct& p,
                            std::size_t row, std::size_t column) {
  constexpr const char* source = "unit_trace";
  constexpr std::int64_t medium = 638;
  const auto k = static_cast<std::int64_t>(task.k);
  const std::int64_t bits = capacity(task.unit, k, bool(task.multiplier)).magnitude_bits;
  // The reference's are of medium size at least where a multiplier is supplied.
  if (carriers_for(task) == Carriers::small && !task.multiplier)
    return traced_in<uint128, std::uint64_t>(device, task, p, row, column,
                                             {{source, "trace_small"}, {}, {}});
  if (bits <= medium)
    return traced_in<Wide<12>, uint128>(device, task, p, row, column,
                                        {{source, "trace_medium"},
                                         {"unit_trace_named", "trace_medium_named"},
                                         {"unit_trace_text", "trace_medium_text"}});
  if (task.multiplier)
    throw std::invalid_argument(fmt::format(
        "unit {}: numbers of {} bits on their way, and by supplied products a GPU traces {}; bring "
        "the operands here, where any is traced",
        said(task.unit), bits, medium));
  return traced_in<Wide<12>, Wide<12>>(device, task, p, row, column,
                                       {{source, "trace_large"}, {}, {}});
}

}  // namespace widthwise::cuda
