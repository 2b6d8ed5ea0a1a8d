#pragma once
#include "unit_roundings.hpp"
#include "widthwise/datapath/block.hpp"
#include "widthwise/sim/widths.hpp"

namespace widthwise::hdl {

// The part of a unit between its products and its register: group sums, their sum, C, `out`.
class UnitBlock {
 public:
  // Scales of the whole groups' products, where they apply to groups.
  struct Scales {
    Term a, b;
  };

  UnitBlock(const Unit& unit, const UnitShape& shape, Netlist& out, Stages& stages,
            Roundings& roundings);

  // The block that begins at `step`, of products and C; its code on a wire `out`_code.
  void write(const std::string& prefix, std::int64_t step, const Term& products, const Term& c,
             const std::optional<Scales>& scales);

 private:
  // A term and where it comes from along k.
  struct Leaf {
    Term term;
    std::int64_t step;
    bool is_c = false;
  };
  using Leaves = std::vector<Leaf>;
  // One of the three sums and what is known of it.
  struct Level {
    const char* name;
    Slot slot;
    const Sum& sum;
    const SumWidths& widths;
    std::optional<LateFrac> late{};
  };

  bool masks() const;
  void write_specials(const Term& products, const Term& c, const std::optional<Scales>& scales);
  Term group_sums(const Term& products, const Term& c, const std::optional<Scales>& scales);
  Term block_sum(const Term& sums, const Term& c);
  Term join(const Term& t, const Term& c);
  void deliver(const Term& t);

  Term sum(const Level& level, const Term& x, const Term* c, const std::vector<std::int64_t>& steps,
           int groups, bool last);
  Term nodes(const Level& level, const std::string& name, Leaves leaves);
  Leaf node(const Level& level, const std::string& name, const Leaf& x, const Leaf& y);
  Leaves leaves(const std::string& name, const Term& terms, const std::vector<std::int64_t>& steps,
                bool last_is_c);
  Term add(const Level& level, const std::string& name, const Term& terms, int groups, Grid grid,
           bool last_is_c, const SumStages& stages = {});

  Term with_c(const Level& level, const std::string& name, const Term& x, const Term& c);
  Term running_c(const Term& products, const Term& c);
  Grid grid(const Level& level, const std::string& name, const Term& terms, int each) const;
  Grid window(const Level& level, const std::string& name) const;
  std::vector<std::int64_t> group_steps() const;
  std::vector<std::int64_t> block_steps() const;
  int groups() const { return static_cast<int>(shape_.count); }
  std::string at(const char* name) const { return prefix_ + name; }

  const Unit& u_;
  const int lanes_;
  const bool keeps_;  // its sum, in a register
  const Widths widths_;
  const GroupShape shape_;
  Netlist& out_;
  Stages& stages_;
  Roundings& roundings_;

  std::string prefix_;
  std::int64_t step_ = 0;
  std::string mixed_;              // of the last sum
  std::optional<Exponent> fixed_;  // where it was aligned, if to a fixed digit
  std::string masked_flags_;       // that the block's NaNs and infinities keep from being raised
};

}  // namespace widthwise::hdl
