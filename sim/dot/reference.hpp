#pragma once
#include <algorithm>
#include <numeric>

#include "checked_product.hpp"
#include "gather.hpp"
#include "lane_order.hpp"
#include "supplied_bits.hpp"
#include "widthwise/multipliers.hpp"
#include "wires.hpp"

namespace widthwise {

// Columns of b decoded at a time: a panel of factors stays in the cache while all rows pass. Of
// long columns there are fewer.
inline constexpr std::size_t panel_columns = 32, panel_lanes = 1 << 16;

// The definition at work: lib's chain over carriers M and H, one output after the other.
template <class M, class H>
class UnitOver final : public ReferenceUnit {
 public:
  UnitOver(const Unit& unit, std::size_t k, Multiplier multiplier, std::string carriers)
      : path_(unit), k_(k), multiplier_(std::move(multiplier)), carriers_(std::move(carriers)) {}

  std::string carriers() const override { return carriers_; }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    for_each_output(p, first, last, &Work::output);
  }
  void run_running(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    for_each_output(p, first, last, &Work::running_output);
  }

  std::unique_ptr<RunningDot> start(const MatrixProduct& p) const override {
    return std::make_unique<Running>(*this, p);
  }

  void run_supplied(const MatrixProduct& p, std::size_t row, std::size_t column,
                    std::span<const SuppliedWords> random) const override {
    Work work(*this, p, 1);
    const std::span<const Lane<H>> lanes = work.lanes_of(row, column);
    const std::size_t output = p.output(row, column);
    SuppliedBits bits(random, p.first_index + output);
    Progress progress{p.where(row, column)};
    const H z = compute(lanes, work.addend(row, column), work.scratch(), progress, bits);
    work.store(output, z, progress.flags);
  }

  std::vector<TraceRow> trace(const MatrixProduct& p, std::size_t row,
                              std::size_t column) const override {
    return recorded(p, row, column, Wires{});
  }
  std::vector<TraceRow> trace_supplied(const MatrixProduct& p, std::size_t row, std::size_t column,
                                       std::span<const SuppliedWords> random) const override {
    const SuppliedBits bits(random, p.first_index + p.output(row, column));
    return recorded(p, row, column, SuppliedWires{{}, bits});
  }

 private:
  struct SuppliedWires : Wires {
    SuppliedBits bits;
    std::uint64_t random(Slot slot, std::int64_t step) const { return bits.random(slot, step); }
  };

  template <class Trace>
  std::vector<TraceRow> recorded(const MatrixProduct& p, std::size_t row, std::size_t column,
                                 Trace wires) const {
    Work work(*this, p, 1);
    Progress progress{p.where(row, column)};
    const std::span<const Lane<H>> lanes = work.lanes_of(row, column);
    for (std::size_t i = 0; i < lanes.size(); ++i)
      wires.operands(static_cast<std::int64_t>(i), lanes[i].a, lanes[i].b);
    compute(lanes, work.addend(row, column), work.scratch(), progress, wires);
    return std::move(wires.rows);
  }

  std::size_t padded() const { return padded_lanes(path_, k_); }

  class Work;
  class Running;

  void for_each_output(const MatrixProduct& p, std::size_t first, std::size_t last,
                       void (Work::*output)(std::size_t, std::size_t,
                                            std::span<const Lane<H>>)) const {
    const std::size_t most = std::clamp<std::size_t>(panel_lanes / padded(), 1, panel_columns);
    Work work(*this, p, std::min(most, p.n));
    for (std::size_t column = 0; column < p.n; column += most) {
      const std::size_t width = std::min(most, p.n - column);
      work.load_panel(column, width);
      for (std::size_t i = first; i < last; ++i) {
        work.load_row(i);
        for (std::size_t j = 0; j < width; ++j) (work.*output)(i, column + j, work.lanes_with(j));
      }
    }
  }

  template <class Trace>
  H compute(std::span<const Lane<H>> lanes, const Factor<H>& c, const Scratch<M>& scratch,
            Progress& progress, Trace& trace) const {
    return with_multiplier([&](const auto& multiplier) {
      return chain<M>(path_, lanes, c, scratch, multiplier, progress, trace);
    });
  }

  template <class Deliver>
  void compute_running(std::span<const Lane<H>> lanes, const Factor<H>& c,
                       const Scratch<M>& scratch, const Progress& start,
                       const Deliver& deliver) const {
    std::vector<Lane<H>> padded(block_lanes(path_, lanes.size()));
    with_multiplier([&](const auto& multiplier) {
      running_chain<M, H>(path_, lanes, c, scratch, padded, multiplier, start, deliver);
    });
  }

  template <class F>
  auto with_multiplier(const F& f) const {
    if (!multiplier_) return f(ExactMultiplier<M>{});
    const Format &a = path_.unit.a.fmt, &b = path_.unit.b.fmt;
    return f(SuppliedMultiplier<M, CheckedProduct>{{multiplier_, a.precision(), b.precision()}});
  }

  // The scratch of one block.
  class Room {
   public:
    explicit Room(std::size_t lanes) : products_(lanes + 1), group_(lanes + 1), sums_(lanes + 1) {}
    Scratch<M> scratch() { return {products_, group_, sums_}; }

   private:
    std::vector<Term<M>> products_, group_, sums_;
  };

  // One thread's operands, decoded and conditioned, and its scratch.
  class Work {
   public:
    Work(const UnitOver& unit, const MatrixProduct& p, std::size_t columns)
        : unit_(unit),
          p_(p),
          order_(lane_order(unit.path_.unit, unit.k_)),
          from_{unit.path_, p, unit.k_, order_.data()},
          row_(unit.padded()),
          panel_(unit.padded() * columns),
          room_(block_lanes(unit.path_, row_.size())) {}

    void load_row(std::size_t i) {
      for (std::size_t t = 0; t < row_.size(); ++t)
        row_[t].a = from_.a(i, t), row_[t].scale_a = from_.scale_a(i, t);
    }
    void load_panel(std::size_t column, std::size_t width) {
      for (std::size_t j = 0; j < width; ++j)
        for (std::size_t t = 0; t < row_.size(); ++t)
          panel_[j * row_.size() + t] = {from_.b(t, column + j), from_.scale_b(t, column + j)};
    }
    std::span<const Lane<H>> lanes_with(std::size_t j) {
      for (std::size_t t = 0; t < row_.size(); ++t)
        std::tie(row_[t].b, row_[t].scale_b) = panel_[j * row_.size() + t];
      return row_;
    }
    std::span<const Lane<H>> lanes_of(std::size_t row, std::size_t column) {
      load_panel(column, 1);
      load_row(row);
      return lanes_with(0);
    }
    void store(std::size_t output, const H& z, Flags flags) const { from_.store(output, z, flags); }
    Factor<H> addend(std::size_t i, std::size_t j) const { return from_.addend(i, j); }
    Scratch<M> scratch() { return room_.scratch(); }

    void output(std::size_t i, std::size_t j, std::span<const Lane<H>> lanes) {
      Progress progress{.where = p_.where(i, j), .codes_only = !p_.flags && !unit_.multiplier_};
      NoTrace trace;
      const H z = unit_.compute(lanes, addend(i, j), scratch(), progress, trace);
      from_.store(p_.output(i, j), z, progress.flags);
    }
    void running_output(std::size_t i, std::size_t j, std::span<const Lane<H>> lanes) {
      const Progress start{p_.where(i, j)};
      unit_.compute_running(lanes.first(unit_.k_), addend(i, j), scratch(), start,
                            [&](std::size_t t, const H& code, Flags flags) {
                              from_.store(p_.output(i, j) * unit_.k_ + t, code, flags);
                            });
    }

   private:
    const UnitOver& unit_;
    const MatrixProduct& p_;
    std::vector<std::size_t> order_;
    Gather<M, H> from_;
    std::vector<Lane<H>> row_;
    std::vector<std::pair<Factor<H>, Factor<H>>> panel_;
    Room room_;
  };

  // The chain between two of its blocks, and how far along k that is.
  class Running final : public RunningDot {
   public:
    Running(const UnitOver& unit, const MatrixProduct& p)
        : unit_(unit),
          c_(Gather<M, H>{unit.path_, p, 0, nullptr}.addend(0, 0)),
          now_{start_chain(unit.path_, c_), {{p.seed, p.first_index}}} {}

    void advance(const MatrixProduct& p, std::size_t at) override {
      State next = now_;
      take(next, p, at, lanes());
      now_ = next;
    }
    void deliver(const MatrixProduct& p, std::size_t at) const override {
      State s = now_;
      // Nothing at all is a block of zeros.
      for (; at < p.k || s.k == 0; at += lanes()) take(s, p, at, std::min(p.k - at, lanes()));
      NoTrace trace;
      const H z = end_chain(unit_.path_, s.chain, c_, s.progress, trace);
      Gather<M, H>{unit_.path_, p, 0, nullptr}.store(0, z, s.progress.flags);
    }

   private:
    struct State {
      ChainState<H> chain;
      Progress progress;
      std::size_t k = 0;
    };

    std::size_t lanes() const { return static_cast<std::size_t>(unit_.path_.unit.lanes); }

    // So many elements from `at` on, filled up with zeros.
    void take(State& s, const MatrixProduct& p, std::size_t at, std::size_t count) const {
      std::vector<std::size_t> order(lanes());
      std::iota(order.begin(), order.end(), at);
      const Gather<M, H> from{unit_.path_, p, count, order.data()};
      std::vector<Lane<H>> block;
      for (std::size_t t = 0; t < lanes(); ++t) block.push_back(from.lane(0, 0, t));
      Room room(lanes());
      NoTrace trace;
      unit_.with_multiplier([&](const auto& multiplier) {
        widthwise::advance(unit_.path_, s.chain, std::span<const Lane<H>>(block),
                           static_cast<std::int64_t>(s.k), room.scratch(), multiplier, s.progress,
                           trace);
      });
      s.k += lanes();
    }

    const UnitOver& unit_;
    Factor<H> c_;
    State now_;
  };

  Datapath<M, H> path_;
  std::size_t k_;
  Multiplier multiplier_;
  std::string carriers_;
};

}  // namespace widthwise
