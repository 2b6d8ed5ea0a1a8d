#pragma once
#include "bind.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/values.hpp"

namespace widthwise {

// The limbs of a hexadecimal number.
inline std::vector<std::uint64_t> limbs_of(const std::string& digits) {
  std::vector<std::uint64_t> limbs;
  for (std::size_t end = digits.size(); end > 0; end -= std::min<std::size_t>(end, 16)) {
    const std::size_t begin = end < 16 ? 0 : end - 16;
    limbs.push_back(std::stoull(digits.substr(begin, end - begin), nullptr, 16));
  }
  return limbs;
}

// What stands on a wire, in decimal; nothing for a code.
inline std::string wire_value(const TraceRow& r) {
  constexpr int digits = 12;
  if (r.stage == Stage::pack) return {};
  const bool cancelled = r.kind == Kind::finite && r.significand == "0";
  return decimal(
      {cancelled ? Kind::zero : r.kind, r.negative, false, limbs_of(r.significand), r.exponent},
      digits);
}

// (stage, slot, lane, kind, negative, significand in hexadecimal, exponent, value)
inline py::list trace_rows(const std::vector<TraceRow>& rows) {
  constexpr const char* kinds[] = {"zero", "finite", "infinite", "nan"};
  py::list list;
  for (const TraceRow& r : rows)
    list.append(py::make_tuple(stage_names[static_cast<int>(r.stage)], r.slot, r.lane,
                               kinds[static_cast<int>(r.kind)], r.negative, r.significand,
                               r.exponent, wire_value(r)));
  return list;
}

}  // namespace widthwise
