#pragma once
#include <string>
#include <vector>

#include "big.hpp"
#include "widthwise/datapath/term.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/slot_name.hpp"

namespace widthwise {

// Hexadecimal digits of an unsigned integer of any carrier, without leading zeros.
template <class U>
std::string hexadecimal(U x) {
  std::string digits;
  do {
    digits.insert(digits.begin(),
                  "0123456789abcdef"[static_cast<int>(static_cast<std::uint64_t>(U(x & U(15))))]);
    x = U(x >> 4);
  } while (x != U{});
  return digits;
}

// Writes down every wire of one output.
struct Wires {
  std::vector<TraceRow> rows;

  template <class H>
  void operands(std::int64_t lane, const Factor<H>& a, const Factor<H>& b) {
    rows.push_back({Stage::unpack, "a", lane, a.kind(), a.negative, hexadecimal(a.m), a.q});
    rows.push_back({Stage::unpack, "b", lane, b.kind(), b.negative, hexadecimal(b.m), b.q});
  }
  template <class M>
  void operator()(Stage stage, const Term<M>& source, const Term<M>& t) {
    rows.push_back({stage, source.is_c ? "c" : "", source.is_c ? -1 : source.lane.value, t.kind(),
                    t.negative, hexadecimal(t.m), t.q});
  }
  template <class U>
  void operator()(Stage stage, bool negative, std::int64_t exponent, const U& sig) {
    rows.push_back(
        {stage, slot_name(slot), step, Kind::finite, negative, hexadecimal(sig), exponent});
  }
  void operator()(Slot s, std::int64_t at) {
    slot = s;
    step = at;
  }

 private:
  Slot slot = Slot::out;
  std::int64_t step = 0;
};

}  // namespace widthwise
