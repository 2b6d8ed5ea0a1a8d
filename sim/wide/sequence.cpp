#include "sequence.hpp"

#include <algorithm>

namespace widthwise::wide {
namespace {

RoundTo at_slot(RoundTo to, Slot slot) {
  to.slot = slot;
  return to;
}

}  // namespace

void clear(const Shape& shape, std::size_t count, Limb* to) {
  const auto lanes = static_cast<std::size_t>(shape.lanes), number = shape.words() * lanes;
  std::fill_n(to, count * number, Limb{0});
  for (std::size_t i = 1; i <= count; ++i)
    std::fill_n(to + i * number - 2 * lanes, lanes, static_cast<Limb>(zero_exponent));
}

Sequence::Sequence(const Chain& chain, const Shape& shape, const Kernels& kernels)
    : chain_(chain),
      shape_(shape),
      kernels_(kernels),
      number_(shape.words() * static_cast<std::size_t>(shape.lanes)),
      addend_(at_slot(chain.sum, Slot::addend)),
      difference_(at_slot(chain.sum, Slot::difference)),
      error_(at_slot(chain.sum, Slot::error)),
      compensation_(at_slot(chain.sum, Slot::compensation)),
      compensated_(at_slot(chain.sum, Slot::compensated)),
      terms_(chain.block) {
  if (chain.of_multiply_adds()) return;
  products_.resize(chain.block * strip_rows * number_);
  if (chain.node) return;
  for (Lines<Limb>* x : {&y_, &t_, &large_, &small_}) x->resize(strip_rows * number_);
}

// --- Rows ----------------------------------------------------------------------------------------

Outputs Sequence::strip(const Outputs& all, std::size_t row) const {
  const auto lanes = static_cast<std::size_t>(shape_.lanes);
  Outputs z = all;
  z.rows.count = std::min(strip_rows, all.rows.count - row);
  z.rows.lost += row * lanes, z.rows.unusual += row;
  z.rows.where.index += row * all.rows.row_outputs;
  for (Limb** x : {&z.sum, &z.compensation, &z.outer})
    if (*x) *x += row * number_;
  return z;
}

void Sequence::add(const RoundTo& to, const Limb* x, const Limb* y, Limb* z,
                   const Rows& rows) const {
  kernels_.add(to, chain_, x, y, false, z, rows);
}
void Sequence::add_far(const RoundTo& to, const Limb* x, const Limb* y, Limb* z,
                       const Rows& rows) const {
  kernels_.add_far(to, chain_, x, y, false, z, rows);
}
void Sequence::subtract(const RoundTo& to, const Limb* x, const Limb* y, Limb* z,
                        const Rows& rows) const {
  kernels_.add_far(to, chain_, x, y, true, z, rows);
}
void Sequence::copy(const Limb* from, std::size_t rows, Limb* to) const {
  std::copy_n(from, rows * number_, to);
}

void Sequence::multiply(const Outputs& of, const Factors& factors, std::size_t at,
                        Limb* product) const {
  kernels_.multiply(*chain_.product, chain_, factors.a + at * shape_.words(), factors.a_row,
                    factors.b + at * number_, product, of.at(factors.first + at));
}

void Sequence::run(const Outputs& all, const Factors& factors) {
  for (std::size_t row = 0; row < all.rows.count; row += strip_rows) {
    const Outputs of = strip(all, row);
    Factors f = factors;
    f.a += row * f.a_row;
    for (std::size_t at = 0; at < f.count; at += chain_.block) {
      if (chain_.node) {
        add_block(of, f, at);
        continue;
      }
      multiply(of, f, at, products_.data());
      chain_.compensation == Compensation::kahan ? kahan(of, f.first + at)
                                                 : neumaier(of, f.first + at);
    }
  }
}

// --- Compensated sums (lib's datapath/compensation.hpp) ------------------------------------------

void Sequence::kahan(const Outputs& of, std::uint64_t step) {
  const Rows rows = of.at(step);
  subtract(addend_, products_.data(), of.compensation, y_.data(), rows);
  add(chain_.sum, of.sum, y_.data(), t_.data(), rows);
  subtract(difference_, t_.data(), of.sum, of.sum, rows);
  subtract(error_, of.sum, y_.data(), of.compensation, rows);
  copy(t_.data(), of.rows.count, of.sum);
}

void Sequence::neumaier(const Outputs& of, std::uint64_t step) {
  const Rows rows = of.at(step);
  kernels_.sort(of.sum, products_.data(), large_.data(), small_.data(), of.rows.count);
  add(chain_.sum, of.sum, products_.data(), of.sum, rows);
  subtract(difference_, large_.data(), of.sum, t_.data(), rows);
  add_far(error_, t_.data(), small_.data(), t_.data(), rows);
  add_far(compensation_, of.compensation, t_.data(), of.compensation, rows);
}

// What the two numbers come to: Kahan's way has the sum already.
void Sequence::settle(const Outputs& of, std::uint64_t step) const {
  if (chain_.compensation == Compensation::neumaier)
    add(compensated_, of.sum, of.compensation, of.sum, of.at(step));
}

// --- Blocks --------------------------------------------------------------------------------------

void Sequence::add_block(const Outputs& of, const Factors& factors, std::size_t at) {
  for (std::size_t i = 0; i < chain_.block; ++i) {
    terms_[i] = {&products_[i * strip_rows * number_], factors.first + at + i};
    multiply(of, factors, at + i, terms_[i].at);
  }
  chain_.in_turn ? add_in_turn(of) : add_neighbours(of);
  add(chain_.sum, of.sum, terms_[0].at, of.sum, of.at(factors.first + at));
}

// A node takes the place of its left operand; the odd last one moves up.
void Sequence::add_neighbours(const Outputs& of) {
  for (std::size_t n = chain_.block; n > 1; n = (n + 1) / 2) {
    for (std::size_t i = 0; i + 1 < n; i += 2) {
      add_node(of, terms_[i], terms_[i + 1]);
      terms_[i / 2] = terms_[i];
    }
    if (n % 2) terms_[n / 2] = terms_[n - 1];
  }
}
void Sequence::add_in_turn(const Outputs& of) {
  for (std::size_t i = 1; i < chain_.block; ++i) add_node(of, terms_[0], terms_[i]);
}
void Sequence::add_node(const Outputs& of, const Term& one, const Term& other) const {
  add(*chain_.node, one.at, other.at, one.at, of.at(other.step));
}

// --- Between blocks, and at the end --------------------------------------------------------------

void Sequence::promote(const Outputs& of, std::uint64_t step) const {
  settle(of, step);
  add(*chain_.promote, of.outer, of.sum, of.outer, of.at(step));
  clear(shape_, of.rows.count, of.sum);
  if (of.compensation) clear(shape_, of.rows.count, of.compensation);
}

void Sequence::finish(const Outputs& of, std::uint64_t last_step, const Limb* c) const {
  if (of.outer)
    copy(of.outer, of.rows.count, of.sum);
  else
    settle(of, last_step);
  if (chain_.c_at_last) add(*chain_.c_at_last, of.sum, c, of.sum, of.at(0));
}

}  // namespace widthwise::wide
