#pragma once
#include <fmt/format.h>

#include "capacity.hpp"
#include "widthwise/datapath/chain.hpp"
#include "widthwise/sim/dot.hpp"
#include "wires.hpp"

namespace widthwise {

// Columns of b decoded at a time: a panel of factors stays in the cache while all rows pass.
inline constexpr std::size_t panel_columns = 32;

template <class M>
struct UserMultiplier {
  const Multiplier& multiply;
  template <class H>
  M operator()(const H& a, const H& b) const {
    return M(multiply(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  }
};

// The definition at work: lib's chain over carriers M and H, one output after the other.
template <class M, class H>
class UnitOver final : public ReferenceUnit {
 public:
  UnitOver(const Unit& unit, std::size_t k, Multiplier multiplier, std::string carriers)
      : path_(unit), k_(k), multiplier_(std::move(multiplier)), carriers_(std::move(carriers)), order_(lane_order(unit, k)) {}

  std::string carriers() const override { return carriers_; }

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    Work work(*this, p);
    for (std::size_t column = 0; column < p.n; column += panel_columns) {
      const std::size_t width = std::min(panel_columns, p.n - column);
      work.load_panel(column, width);
      for (std::size_t i = first; i < last; ++i) {
        work.load_row(i);
        for (std::size_t j = 0; j < width; ++j) work.output(i, column + j, work.lanes_with(j));
      }
    }
  }

  std::vector<TraceRow> trace(const MatrixProduct& p, std::size_t row, std::size_t column) const override {
    Work work(*this, p);
    work.load_panel(column, 1);
    work.load_row(row);
    Wires wires;
    Progress progress{{p.seed, p.first_index + row * p.n + column}};
    const std::span<const Lane<H>> lanes = work.lanes_with(0);
    for (std::size_t i = 0; i < lanes.size(); ++i) wires.operands(static_cast<std::int64_t>(i), lanes[i].a, lanes[i].b);
    compute(lanes, work.addend(row, column), work.scratch(), progress, wires);
    return std::move(wires.rows);
  }

 private:
  // Which element of k each lane holds, in the unit's order.
  static std::vector<std::size_t> lane_order(const Unit& u, std::size_t k) {
    std::vector<std::size_t> order;
    order.reserve(k);
    const auto& permutation = u.chain.lane_permutation;
    const auto run = static_cast<std::size_t>(permutation ? permutation->run : 1);
    const auto ways = static_cast<std::size_t>(permutation ? permutation->ways : 1);
    for (std::size_t w = 0; w < ways; ++w)
      for (std::size_t i = 0; i < k; ++i)
        if (i / run % ways == w) order.push_back(i);
    return order;
  }

  std::size_t padded() const {
    const std::size_t block = path_.unit.lanes ? static_cast<std::size_t>(path_.unit.lanes) : std::max<std::size_t>(k_, 1);
    return std::max<std::size_t>(1, (k_ + block - 1) / block) * block;
  }

  template <class Trace>
  H compute(std::span<const Lane<H>> lanes, const Factor<H>& c, const Scratch<M>& scratch, Progress& progress, Trace& trace) const {
    if (multiplier_) return chain<M>(path_, lanes, c, scratch, UserMultiplier<M>{multiplier_}, progress, trace);
    return chain<M>(path_, lanes, c, scratch, ExactMultiplier<M>{}, progress, trace);
  }

  // One thread's operands, decoded and conditioned, and its scratch.
  class Work {
   public:
    Work(const UnitOver& unit, const MatrixProduct& p)
        : unit_(unit), p_(p), row_(unit.padded()), panel_(unit.padded() * std::min(panel_columns, p.n)) {
      const std::size_t block = unit.path_.unit.lanes ? static_cast<std::size_t>(unit.path_.unit.lanes) : row_.size();
      products_.resize(block + 1), group_.resize(block + 1), sums_.resize(block + 1);
    }

    void load_row(std::size_t i) {
      const Datapath<M, H>& u = unit_.path_;
      for (std::size_t t = 0; t < row_.size(); ++t) {
        row_[t].a = t < unit_.k_ ? condition(u.unit.a, code(u.a, p_.a, i, unit_.order_[t])) : Factor<H>{};
        if (u.scale) row_[t].scale_a = code(*u.scale, p_.scale_a, i, block_of(t));
      }
    }
    void load_panel(std::size_t column, std::size_t width) {
      const Datapath<M, H>& u = unit_.path_;
      for (std::size_t j = 0; j < width; ++j)
        for (std::size_t t = 0; t < row_.size(); ++t) {
          auto& [b, scale] = panel_[j * row_.size() + t];
          b = t < unit_.k_ ? condition(u.unit.b, code(u.b, p_.b, unit_.order_[t], column + j)) : Factor<H>{};
          if (u.scale) scale = code(*u.scale, p_.scale_b, block_of(t), column + j);
        }
    }
    std::span<const Lane<H>> lanes_with(std::size_t j) {
      for (std::size_t t = 0; t < row_.size(); ++t)
        std::tie(row_[t].b, row_[t].scale_b) = panel_[j * row_.size() + t];
      return row_;
    }
    Factor<H> addend(std::size_t i, std::size_t j) const {
      const Datapath<M, H>& u = unit_.path_;
      const H zero{};
      return condition(u.unit.c, p_.c.data ? code(u.c, p_.c, i, j) : factor(u.c, zero));
    }
    Scratch<M> scratch() { return {products_, group_, sums_}; }

    void output(std::size_t i, std::size_t j, std::span<const Lane<H>> lanes) {
      Progress progress{{p_.seed, p_.first_index + i * p_.n + j}};
      NoTrace trace;
      const H z = unit_.compute(lanes, addend(i, j), scratch(), progress, trace);
      const int bytes = item_bytes(result_round(unit_.path_.unit).fmt.width());
      const std::size_t at = i * p_.n + j;
      store_code(static_cast<std::byte*>(p_.result) + at * static_cast<std::size_t>(bytes), bytes, z);
      if (p_.flags) p_.flags[at] = static_cast<std::uint8_t>(progress.flags);
    }

   private:
    // The scale block of lane t; padding takes the last element's.
    std::size_t block_of(std::size_t t) const {
      if (unit_.k_ == 0) return 0;
      const std::size_t element = unit_.order_[std::min(t, unit_.k_ - 1)];
      return element / static_cast<std::size_t>(unit_.path_.unit.scale->block);
    }
    Factor<H> code(const Layout<H>& f, const CodeMatrix& x, std::size_t i, std::size_t j) const {
      if (unit_.k_ == 0 && (x.data == p_.scale_a.data || x.data == p_.scale_b.data))
        return {Kind::finite, false, H(1)};  // no block, no scale: 1
      const int bytes = item_bytes(f.format.width());
      const auto at = (static_cast<std::ptrdiff_t>(i) * x.row + static_cast<std::ptrdiff_t>(j) * x.column) * bytes;
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
