#pragma once
#include <algorithm>

#include "checked_product.hpp"
#include "lane_order.hpp"
#include "widthwise/datapath/chain.hpp"
#include "widthwise/sim/dot.hpp"
#include "wires.hpp"

namespace widthwise {

// Columns of b decoded at a time: a panel of factors stays in the cache while all rows pass. Of
// long columns there are fewer.
inline constexpr std::size_t panel_columns = 32, panel_lanes = 1 << 16;

template <class M>
struct UserMultiplier {
  const Multiplier& multiply;
  int digits_a, digits_b;

  template <class H>
  M operator()(const H& a, const H& b) const {
    return M(checked_product(multiply, static_cast<std::uint64_t>(a), digits_a,
                             static_cast<std::uint64_t>(b), digits_b));
  }
};

// The definition at work: lib's chain over carriers M and H, one output after the other.
template <class M, class H>
class UnitOver final : public ReferenceUnit {
 public:
  UnitOver(const Unit& unit, std::size_t k, Multiplier multiplier, std::string carriers)
      : path_(unit),
        k_(k),
        multiplier_(std::move(multiplier)),
        carriers_(std::move(carriers)),
        order_(lane_order(unit, k)) {}

  std::string carriers() const override { return carriers_; }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    for_each_output(p, first, last, &Work::output);
  }
  void run_running(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    for_each_output(p, first, last, &Work::running_output);
  }

  std::vector<TraceRow> trace(const MatrixProduct& p, std::size_t row,
                              std::size_t column) const override {
    Work work(*this, p, 1);
    work.load_panel(column, 1);
    work.load_row(row);
    Wires wires;
    Progress progress{{p.seed, p.first_index + row * p.n + column}};
    const std::span<const Lane<H>> lanes = work.lanes_with(0);
    for (std::size_t i = 0; i < lanes.size(); ++i)
      wires.operands(static_cast<std::int64_t>(i), lanes[i].a, lanes[i].b);
    compute(lanes, work.addend(row, column), work.scratch(), progress, wires);
    return std::move(wires.rows);
  }

 private:
  std::size_t padded() const {
    const std::size_t block = path_.unit.lanes ? static_cast<std::size_t>(path_.unit.lanes)
                                               : std::max<std::size_t>(k_, 1);
    return std::max<std::size_t>(1, (k_ + block - 1) / block) * block;
  }

  class Work;

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
    if (multiplier_) return chain<M>(path_, lanes, c, scratch, user_multiplier(), progress, trace);
    return chain<M>(path_, lanes, c, scratch, ExactMultiplier<M>{}, progress, trace);
  }

  template <class Deliver>
  void compute_running(std::span<const Lane<H>> lanes, const Factor<H>& c,
                       const Scratch<M>& scratch, const Progress& start,
                       const Deliver& deliver) const {
    std::vector<Lane<H>> padded(block_lanes(path_, lanes.size()));
    if (multiplier_)
      running_chain<M, H>(path_, lanes, c, scratch, padded, user_multiplier(), start, deliver);
    else
      running_chain<M, H>(path_, lanes, c, scratch, padded, ExactMultiplier<M>{}, start, deliver);
  }

  UserMultiplier<M> user_multiplier() const {
    return {multiplier_, path_.unit.a.fmt.precision(), path_.unit.b.fmt.precision()};
  }

  // One thread's operands, decoded and conditioned, and its scratch.
  class Work {
   public:
    Work(const UnitOver& unit, const MatrixProduct& p, std::size_t columns)
        : unit_(unit), p_(p), row_(unit.padded()), panel_(unit.padded() * columns) {
      const std::size_t block =
          unit.path_.unit.lanes ? static_cast<std::size_t>(unit.path_.unit.lanes) : row_.size();
      products_.resize(block + 1), group_.resize(block + 1), sums_.resize(block + 1);
    }

    void load_row(std::size_t i) {
      const Datapath<M, H>& u = unit_.path_;
      for (std::size_t t = 0; t < row_.size(); ++t) {
        row_[t].a =
            t < unit_.k_ ? condition(u.unit.a, code(u.a, p_.a, i, unit_.order_[t])) : Factor<H>{};
        if (u.scale) row_[t].scale_a = scale(p_.scale_a, i, block_of(t));
      }
    }
    void load_panel(std::size_t column, std::size_t width) {
      const Datapath<M, H>& u = unit_.path_;
      for (std::size_t j = 0; j < width; ++j)
        for (std::size_t t = 0; t < row_.size(); ++t) {
          auto& [b, scale_b] = panel_[j * row_.size() + t];
          b = t < unit_.k_ ? condition(u.unit.b, code(u.b, p_.b, unit_.order_[t], column + j))
                           : Factor<H>{};
          if (u.scale) scale_b = scale(p_.scale_b, block_of(t), column + j);
        }
    }
    std::span<const Lane<H>> lanes_with(std::size_t j) {
      for (std::size_t t = 0; t < row_.size(); ++t)
        std::tie(row_[t].b, row_[t].scale_b) = panel_[j * row_.size() + t];
      return row_;
    }
    Factor<H> addend(std::size_t i, std::size_t j) const {
      const Datapath<M, H>& u = unit_.path_;
      return condition(u.unit.c, p_.c.data ? code(u.c, p_.c, i, j) : cleared<H>(u.unit.c.fmt));
    }
    Scratch<M> scratch() { return {products_, group_, sums_}; }

    void output(std::size_t i, std::size_t j, std::span<const Lane<H>> lanes) {
      Progress progress{{p_.seed, p_.first_index + i * p_.n + j}};
      NoTrace trace;
      const H z = unit_.compute(lanes, addend(i, j), scratch(), progress, trace);
      store(i * p_.n + j, z, progress.flags);
    }
    void running_output(std::size_t i, std::size_t j, std::span<const Lane<H>> lanes) {
      const Progress start{{p_.seed, p_.first_index + i * p_.n + j}};
      unit_.compute_running(lanes.first(unit_.k_), addend(i, j), scratch(), start,
                            [&](std::size_t t, const H& code, Flags flags) {
                              store((i * p_.n + j) * unit_.k_ + t, code, flags);
                            });
    }

   private:
    void store(std::size_t at, const H& code, Flags flags) const {
      const int bytes = item_bytes(result_round(unit_.path_.unit).fmt.width());
      store_code(static_cast<std::byte*>(p_.result) + at * static_cast<std::size_t>(bytes), bytes,
                 code);
      if (p_.flags) p_.flags[at] = static_cast<std::uint8_t>(flags);
    }
    // The scale block of lane t; padding takes the last element's.
    std::size_t block_of(std::size_t t) const {
      if (unit_.k_ == 0) return 0;
      const std::size_t element = unit_.order_[std::min(t, unit_.k_ - 1)];
      return element / static_cast<std::size_t>(unit_.path_.unit.scale->block);
    }
    Factor<H> scale(const CodeMatrix& x, std::size_t i, std::size_t j) const {
      if (unit_.k_ == 0) return {Kind::finite, false, H(1)};  // no block, no scale: 1
      return code(*unit_.path_.scale, x, i, j);
    }
    Factor<H> code(const Layout<H>& f, const CodeMatrix& x, std::size_t i, std::size_t j) const {
      const int bytes = item_bytes(f.format.width());
      const auto at =
          (static_cast<std::ptrdiff_t>(i) * x.row + static_cast<std::ptrdiff_t>(j) * x.column) *
          bytes;
      return factor(f, load_code<H>(static_cast<const std::byte*>(x.data) + at, bytes));
    }

    const UnitOver& unit_;
    const MatrixProduct& p_;
    std::vector<Lane<H>> row_;
    std::vector<std::pair<Factor<H>, Factor<H>>> panel_;
    std::vector<Term<M>> products_, group_, sums_;
  };

  Datapath<M, H> path_;
  std::size_t k_;
  Multiplier multiplier_;
  std::string carriers_;
  std::vector<std::size_t> order_;
};

}  // namespace widthwise
