#pragma once
#include <cstddef>

#include "join.hpp"
#include "output_tile.hpp"
#include "places.hpp"

// Matrix products of tensor units in integers: what sim/tensor/kernels.cpp is on a CPU.
namespace widthwise::cuda {

// result = c + a b, row-major and dense. Outputs whose `redo` is 1 mean nothing: the definition has
// to compute them.
struct TensorArgs : OutputArgs {
  const std::uint32_t *a, *b;  // packed, their length that of whole steps
  Places b_places;             // of B
  int blocks, lanes;           // a block's products, as packed: 1, 2, 4, 8, 16 or 32
  int group;                   // of them in a group: all, or half where C joins late
  int chunk;                   // of them whose sum fits 32 bits, whatever they are
  int left;                    // digits that a product of the largest exponent goes up to its units
  JoinArgs join;
};

// 32 steps of A and B, whole blocks of products, lie in shared memory at a time. Sum holds a
// block's sum: 32 bits where no products of a block pass them (then only C can), else 64.
template <class Join, class Sum>
class TensorTile : public OutputTile<TensorArgs> {
 public:
  static constexpr int depth = 32;
  static constexpr bool in_chunks = sizeof(Sum) > 4;

  // Of one operand: step by step, its lines side by side.
  struct Side {
    Pack exponent[depth][rows / wide], sign[depth][rows / wide], significand[depth][rows / wide];
  };
  struct Shared {
    Side a, b;
  };
  static_assert(rows == columns && sizeof(Shared) <= 48 * 1024);

  WIDTHWISE_BOTH_INLINE explicit TensorTile(const TensorArgs& args) : OutputTile(args) {}

  WIDTHWISE_BOTH_INLINE int steps() const { return (length() - 1) / depth + 1; }

  WIDTHWISE_BOTH_INLINE void load(int step, int block_x, int block_y, int thread, Shared& s) const {
    fetch(g_.a, {}, g_.m, block_y * rows, step * depth, thread, g_.left, s.a);
    fetch(g_.b, g_.b_places, g_.n, block_x * columns, step * depth, thread, 0, s.b);
  }

  // A block of zeros would not leave every C as it is, so what fills the last step up is left out.
  WIDTHWISE_BOTH_INLINE void compute(int step, int thread, const Shared& s, Registers& r) const {
    const int first = step * depth, left = length() - first, end = left < depth ? left : depth;
    add_blocks(first, end, g_.lanes, length(), thread, r,
               [&](int k) { add_block(k, thread, s, r); });
  }

  WIDTHWISE_BOTH_INLINE void end(int block_x, int block_y, int thread, const Registers& r) const {
    deliver<typename Join::Out>(block_x, block_y, thread, r);
  }

 private:
  WIDTHWISE_BOTH_INLINE int length() const { return g_.blocks * g_.lanes; }

  // Neighbouring threads read neighbouring lines; zeros where there are no more.
  static WIDTHWISE_BOTH_INLINE void fetch(const std::uint32_t* from, const Places& places,
                                          int lines, int first, int step, int thread, int left,
                                          Side& to) {
    constexpr int apart = threads / rows;
    const int line = thread % rows, pack = line / wide, at = line % wide;
    const bool there = first + line < lines;
    WIDTHWISE_UNROLLED
    for (int i = 0; i < depth; i += apart) {
      const int k = thread / rows + i;
      const bool real = there && !(places.mapped() && places.rows[step + k] == Places::none);
      const std::uint32_t x =
          real ? from[places.at(step + k, first + line, lines)] : PackedOperand::zero;
      to.exponent[k][pack].x[at] = PackedOperand::exponent(x);
      to.sign[k][pack].x[at] = PackedOperand::sign(x);
      to.significand[k][pack].x[at] =
          static_cast<std::int32_t>(PackedOperand::significand(x) << left);
    }
  }

  template <class T>
  using Sums = Outputs<Aligned<T>>;

  WIDTHWISE_BOTH_INLINE void add_block(int k, int thread, const Shared& s, Registers& r) const {
    Sums<Sum> sum;
    add_group(k, thread, s, r, sum);
    if constexpr (Join::late)
      if (g_.group < g_.lanes) {
        Sums<Sum> other;
        add_group(k + g_.group, thread, s, r, other);
        each([&](int i, int j) { sum[i][j] = Join::of_groups(sum[i][j], other[i][j]); });
      }
    each([&](int i, int j) { r.c[i][j] = Join::next(g_.join, Addend(r.c[i][j]), sum[i][j]); });
  }

  // All terms of a group are aligned to the largest of their exponents.
  WIDTHWISE_BOTH_INLINE void add_group(int k, int thread, const Shared& s, const Registers& r,
                                       Sums<Sum>& total) const {
    const int end = k + g_.group;
    each([&](int i, int j) { total[i][j] = {Join::first_vote(g_.join, Addend(r.c[i][j])), 0}; });
    WIDTHWISE_NOT_UNROLLED
    for (int t = k; t < end; ++t) {
      const Rows a = rows_of(s.a.exponent[t], thread);
      const Pack b = columns_of(s.b.exponent[t], thread);
      each([&](int i, int j) { total[i][j].e = max_of_sum(a[i], b.x[j], total[i][j].e); });
    }
    if constexpr (in_chunks) {
      WIDTHWISE_NOT_UNROLLED
      for (int t = k; t < end; t += g_.chunk) {
        Sums<std::int32_t> chunk;
        each([&](int i, int j) { chunk[i][j] = {total[i][j].e, 0}; });
        add_products(t, t + g_.chunk, thread, s, chunk);
        each([&](int i, int j) { total[i][j].units += chunk[i][j].units; });
      }
    } else {
      add_products(k, end, thread, s, total);
    }
  }

  // Each truncated to units of 2^(E - F).
  static WIDTHWISE_BOTH_INLINE void add_products(int k, int end, int thread, const Shared& s,
                                                 Sums<std::int32_t>& sum) {
    WIDTHWISE_NOT_UNROLLED
    for (int t = k; t < end; ++t) {
      const Rows a = rows_of(s.a.significand[t], thread), e_a = rows_of(s.a.exponent[t], thread),
                 sign_a = rows_of(s.a.sign[t], thread);
      const Pack b = columns_of(s.b.significand[t], thread),
                 e_b = columns_of(s.b.exponent[t], thread),
                 sign_b = columns_of(s.b.sign[t], thread);
      each([&](int i, int j) {
        const auto product = static_cast<std::uint32_t>(a[i]) * static_cast<std::uint32_t>(b.x[j]);
        const std::uint32_t units = shifted_right(product, sum[i][j].e - e_a[i] - e_b.x[j]);
        sum[i][j].units += static_cast<std::int32_t>(units) * (sign_a[i] * sign_b.x[j]);
      });
    }
  }
};

}  // namespace widthwise::cuda
