#pragma once
#include "unit_work.hpp"

namespace widthwise::cuda {

// What a trace was told at once, for this machine to tell it anew.
enum class WireCall : std::uint8_t { operands, term, digits, slot };
template <class M>
struct WireRecord {
  WireCall call;
  Stage stage{};
  Slot slot{};
  Term<M> first{}, second{};  // a and b, a term's source and the term, or what fits one of them
};

// Writes down what it is told, as much as there is room for, and counts all of it.
template <class M>
struct Recorder {
  using Record = WireRecord<M>;
  Record* at;
  std::size_t room, told = 0;

  template <class H>
  WIDTHWISE_BOTH void operands(std::int64_t lane, const Factor<H>& a, const Factor<H>& b) {
    put({WireCall::operands, Stage::unpack, {}, term<M>(a, lane), term<M>(b, lane)});
  }
  WIDTHWISE_BOTH void operator()(Stage stage, const Term<M>& source, const Term<M>& t) {
    put({WireCall::term, stage, {}, source, t});
  }
  template <class U>
  WIDTHWISE_BOTH void operator()(Stage stage, bool negative, std::int64_t exponent, const U& sig) {
    Record x{WireCall::digits, stage};
    x.second.negative = negative, x.second.q = exponent, x.second.m = widen<M>(sig);
    put(x);
  }
  WIDTHWISE_BOTH void operator()(Slot slot, std::int64_t step) {
    Record x{WireCall::slot, {}, slot};
    x.first.lane = step;
    put(x);
  }

 private:
  WIDTHWISE_BOTH void put(const Record& x) {
    if (told < room) at[told] = x;
    ++told;
  }
};

// Every stage of output (row, column): the work of one thread.
template <class M, class H, class Multiplier = ExactMultiplier<M>>
struct UnitTrace : UnitWork<M, H> {
  std::size_t row, column;
  WireRecord<M>* records;
  std::size_t room;
  std::size_t* told;  // how many there are in all
  Multiplier multiplier{};

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t) const {
    if (thread > 0) return;
    Recorder<M> trace{records, room};
    for (std::size_t t = 0; t < this->length(); ++t) {
      const Lane<H> lane = this->lane(row, column, t);
      trace.operands(static_cast<std::int64_t>(t), lane.a, lane.b);
    }
    Progress progress = this->start(row, column);
    this->output(row, column, thread, multiplier, progress, trace);
    *told = trace.told;
  }
};

}  // namespace widthwise::cuda
