#pragma once
#include <vector>

#include "kernel.hpp"
#include "sim/engine/lines.hpp"

// What a chain does besides multiply-adds, on rows of numbers: compensated sums, blocks whose
// products nodes of two add up, promotion, and a C that joins last (lib's datapath/).
namespace widthwise::wide {

// Some rows of outputs, and the numbers that each keeps between steps; null what the chain has not.
struct Outputs {
  Rows rows;  // at no step yet
  Limb *sum, *compensation, *outer;

  Rows at(std::uint64_t step) const {
    Rows z = rows;
    z.step = step;
    return z;
  }
};

// Steps along k: a number of one lane for every row and step, and one of all lanes for every step.
struct Factors {
  const Limb* a;
  std::size_t a_row;  // words from one row to the next
  const Limb* b;
  std::uint64_t first;
  std::size_t count;
};

// +0 in so many numbers.
void clear(const Shape& shape, std::size_t count, Limb* to);

class Sequence {
 public:
  Sequence(const Chain& chain, const Shape& shape, const Kernels& kernels);

  // Whole blocks of a chain whose steps are more than multiply-adds.
  void run(const Outputs& all, const Factors& factors);
  // The sum goes to the outer one, and the next begins at +0. The last block began at this step.
  void promote(const Outputs& of, std::uint64_t step) const;
  // Leaves in the sum what comes of all steps, and of C if it joins last.
  void finish(const Outputs& of, std::uint64_t last_step, const Limb* c) const;

 private:
  // So few that their numbers stay in the cache, and enough for the machine to have something to do
  // while one of them waits for its sum.
  static constexpr std::size_t strip_rows = 8;
  struct Term {
    Limb* at;
    std::uint64_t step;  // of its first product
  };

  Outputs strip(const Outputs& all, std::size_t row) const;
  void multiply(const Outputs& of, const Factors& factors, std::size_t at, Limb* product) const;
  void kahan(const Outputs& of, std::uint64_t step);
  void neumaier(const Outputs& of, std::uint64_t step);
  void settle(const Outputs& of, std::uint64_t step) const;
  void add_block(const Outputs& of, const Factors& factors, std::size_t at);
  void add_neighbours(const Outputs& of);
  void add_in_turn(const Outputs& of);
  void add_node(const Outputs& of, const Term& one, const Term& other) const;

  void add(const RoundTo& to, const Limb* x, const Limb* y, Limb* z, const Rows& rows) const;
  // What a compensated sum has lost is far below it, and differences cancel.
  void add_far(const RoundTo& to, const Limb* x, const Limb* y, Limb* z, const Rows& rows) const;
  void subtract(const RoundTo& to, const Limb* x, const Limb* y, Limb* z, const Rows& rows) const;
  void copy(const Limb* from, std::size_t rows, Limb* to) const;

  const Chain& chain_;
  Shape shape_;
  Kernels kernels_;
  std::size_t number_;  // words of a number of all lanes
  RoundTo addend_, difference_, error_, compensation_, compensated_;
  Lines<Limb> products_, y_, t_, large_, small_;  // of a strip
  std::vector<Term> terms_;
};

}  // namespace widthwise::wide
