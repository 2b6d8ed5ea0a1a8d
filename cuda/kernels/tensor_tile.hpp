#pragma once
#include <cstddef>

#include "sim/dot/gather.hpp"
#include "tensor_lane.hpp"

// Matrix products of tensor units in integers: what sim/tensor/kernels.cpp is on a CPU.
namespace widthwise::cuda {

// Codes to packed operands, lines side by side: element (k, line) of the latter stands at
// k * lines + line. The length is filled up with zeros, block by block.
struct PackOperands {
  Operand operand;
  Layout<std::uint64_t> layout;
  const std::byte* codes;
  int bytes;                                  // of a code
  std::size_t lines, length;                  // rows of A or columns of B
  std::ptrdiff_t line_stride, length_stride;  // in codes
  std::size_t lanes, packed_lanes;            // of a block
  std::size_t packed_length;
  std::uint32_t* packed;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < packed_length * lines; i += threads) {
      const std::size_t row = i / lines, line = i % lines;
      const std::size_t lane = row % packed_lanes, k = row / packed_lanes * lanes + lane;
      packed[i] = lane < lanes && k < length ? word(factor_at(line, k)) : PackedOperand::zero;
    }
  }

 private:
  WIDTHWISE_BOTH_INLINE Factor<std::uint64_t> factor_at(std::size_t line, std::size_t k) const {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(line) * line_stride +
                              static_cast<std::ptrdiff_t>(k) * length_stride;
    return condition(operand, factor(layout, load_code<std::uint64_t>(codes + at * bytes, bytes)));
  }
  WIDTHWISE_BOTH_INLINE static std::uint32_t word(const Factor<std::uint64_t>& x) {
    if (x.kind == Kind::zero) return PackedOperand::packed(PackedOperand::of_zero, x.negative, 0);
    if (x.kind != Kind::finite) return PackedOperand::packed(PackedOperand::of_special, false, 0);
    return PackedOperand::packed(static_cast<int>(x.e), x.negative,
                                 static_cast<std::uint32_t>(x.m));
  }
};

// result = c + a b, row-major and dense. Outputs whose `redo` is 1 mean nothing: the definition has
// to compute them.
struct TensorArgs {
  const std::uint32_t *a, *b;  // packed, their length that of whole steps
  const float* c;              // m x n, or null
  float* result;
  unsigned char* redo;
  int m, n;
  int blocks, lanes;   // a block's products, as packed: 1, 2, 4, 8, 16 or 32
  int chunk;           // of them whose sum fits 32 bits, whatever they are
  int frac_bits;       // F, at most 28
  int floor, c_emin;   // least exponents: of a sum and of C
  int left;            // digits that a product of the largest exponent goes up to its units
  std::uint32_t kept;  // bits of a sum that is truncated
};

// A block of threads computes 64 x 64 outputs, a thread 8 x 4 of them; 32 steps of A and B, whole
// blocks of products, lie in shared memory at a time. Sum holds a block's sum: 32 bits where no
// products of a block pass them (then only C can), else 64. Phases hold no barriers: whoever runs
// them puts one after every load and every compute.
template <tensor::Finish finish, class Sum>
class TensorTile {
  static constexpr int thread_rows = 8, thread_columns = 4;
  static constexpr int wide = 4;  // what one instruction loads
  struct alignas(16) Pack {
    std::int32_t x[wide];
  };

 public:
  static constexpr int rows = 64, columns = 64, depth = 32;
  static constexpr int across = columns / thread_columns, down = rows / thread_rows;
  static constexpr int threads = down * across;
  static constexpr bool in_chunks = sizeof(Sum) > 4;

  // Of one operand: step by step, its lines side by side.
  struct Side {
    Pack exponent[depth][rows / wide], sign[depth][rows / wide], significand[depth][rows / wide];
  };
  struct Shared {
    Side a, b;
  };
  struct Registers {
    float c[thread_rows][thread_columns];
  };
  static_assert(rows == columns && sizeof(Shared) <= 48 * 1024);

  WIDTHWISE_BOTH_INLINE explicit TensorTile(const TensorArgs& args) : g_(args) {}

  WIDTHWISE_BOTH_INLINE int steps() const { return (g_.blocks * g_.lanes - 1) / depth + 1; }

  WIDTHWISE_BOTH_INLINE void begin(int block_x, int block_y, int thread, Registers& r) const {
    each_output(block_x, block_y, thread, [&](int i, int j, bool inside, std::size_t at) {
      r.c[i][j] = inside && g_.c ? g_.c[at] : 0.0f;
    });
  }

  WIDTHWISE_BOTH_INLINE void load(int step, int block_x, int block_y, int thread, Shared& s) const {
    fetch(g_.a, g_.m, block_y * rows, step * depth, thread, g_.left, s.a);
    fetch(g_.b, g_.n, block_x * columns, step * depth, thread, 0, s.b);
  }

  // A block of zeros would not leave every C as it is, so what fills the last step up is left out.
  WIDTHWISE_BOTH_INLINE void compute(int step, int thread, const Shared& s, Registers& r) const {
    const int left = g_.blocks * g_.lanes - step * depth, end = left < depth ? left : depth;
    WIDTHWISE_NOT_UNROLLED
    for (int k = 0; k < end; k += g_.lanes) add_block(k, thread, s, r);
  }

  WIDTHWISE_BOTH_INLINE void end(int block_x, int block_y, int thread, const Registers& r) const {
    each_output(block_x, block_y, thread, [&](int i, int j, bool inside, std::size_t at) {
      if (!inside) return;
      const float c = r.c[i][j];
      g_.result[at] = c;
      g_.redo[at] = c != c || bits_of(c) == 0x80000000;
    });
  }

 private:
  template <class T>
  using Outputs = T[thread_rows][thread_columns];
  // A thread's operands of one step.
  struct Rows {
    Pack x[thread_rows / wide];
    WIDTHWISE_BOTH_INLINE std::int32_t operator[](int i) const { return x[i / wide].x[i % wide]; }
  };

  // Neighbouring threads read neighbouring lines; zeros where there are no more.
  static WIDTHWISE_BOTH_INLINE void fetch(const std::uint32_t* from, int lines, int first, int step,
                                          int thread, int left, Side& to) {
    constexpr int apart = threads / rows;
    const int line = thread % rows, pack = line / wide, at = line % wide;
    const bool there = first + line < lines;
    from += std::size_t(step + thread / rows) * lines + first + line;
    WIDTHWISE_UNROLLED
    for (int i = 0; i < depth; i += apart, from += std::size_t(apart) * lines) {
      const int k = thread / rows + i;
      const std::uint32_t x = there ? *from : PackedOperand::zero;
      to.exponent[k][pack].x[at] = PackedOperand::exponent(x);
      to.sign[k][pack].x[at] = PackedOperand::sign(x);
      to.significand[k][pack].x[at] =
          static_cast<std::int32_t>(PackedOperand::significand(x) << left);
    }
  }

  template <class Visit>
  static WIDTHWISE_BOTH_INLINE void each(const Visit& visit) {
    WIDTHWISE_UNROLLED
    for (int i = 0; i < thread_rows; ++i) {
      WIDTHWISE_UNROLLED
      for (int j = 0; j < thread_columns; ++j) visit(i, j);
    }
  }
  template <class Visit>
  WIDTHWISE_BOTH_INLINE void each_output(int block_x, int block_y, int thread,
                                         const Visit& visit) const {
    // A thread's rows are packs that lie apart, so that neighbours read neighbours.
    each([&](int i, int j) {
      const int row = block_y * rows + (i / wide * down + thread / across) * wide + i % wide;
      const int column = block_x * columns + thread % across * wide + j;
      visit(i, j, row < g_.m && column < g_.n, std::size_t(row) * g_.n + column);
    });
  }

  static WIDTHWISE_BOTH_INLINE Rows rows_of(const Pack* packs, int thread) {
    Rows z;
    WIDTHWISE_UNROLLED
    for (int i = 0; i < thread_rows / wide; ++i) z.x[i] = packs[i * down + thread / across];
    return z;
  }
  static WIDTHWISE_BOTH_INLINE Pack columns_of(const Pack* packs, int thread) {
    return packs[thread % across];
  }

  // All terms of a block are aligned to the largest of their exponents.
  WIDTHWISE_BOTH_INLINE void add_block(int k, int thread, const Shared& s, Registers& r) const {
    Outputs<int> e;
    each([&](int i, int j) { e[i][j] = std::max(Addend(r.c[i][j]).vote(g_.c_emin), g_.floor); });
    WIDTHWISE_NOT_UNROLLED
    for (int t = k; t < k + g_.lanes; ++t) {
      const Rows a = rows_of(s.a.exponent[t], thread);
      const Pack b = columns_of(s.b.exponent[t], thread);
      each([&](int i, int j) { e[i][j] = max_of_sum(a[i], b.x[j], e[i][j]); });
    }

    Outputs<Sum> total;
    if constexpr (in_chunks) {
      each([&](int i, int j) { total[i][j] = 0; });
      WIDTHWISE_NOT_UNROLLED
      for (int t = k; t < k + g_.lanes; t += g_.chunk) {
        Outputs<std::int32_t> sum;
        sum_products(t, g_.chunk, thread, s, e, sum);
        each([&](int i, int j) { total[i][j] += sum[i][j]; });
      }
    } else {
      sum_products(k, g_.lanes, thread, s, e, total);
    }
    each([&](int i, int j) { r.c[i][j] = closed(Addend(r.c[i][j]), e[i][j], total[i][j]); });
  }

  // Of `count` products, each truncated to units of 2^(E - F).
  static WIDTHWISE_BOTH_INLINE void sum_products(int k, int count, int thread, const Shared& s,
                                                 const Outputs<int>& e,
                                                 Outputs<std::int32_t>& sum) {
    each([&](int i, int j) { sum[i][j] = 0; });
    WIDTHWISE_NOT_UNROLLED
    for (int t = k; t < k + count; ++t) {
      const Rows a = rows_of(s.a.significand[t], thread), e_a = rows_of(s.a.exponent[t], thread),
                 sign_a = rows_of(s.a.sign[t], thread);
      const Pack b = columns_of(s.b.significand[t], thread),
                 e_b = columns_of(s.b.exponent[t], thread),
                 sign_b = columns_of(s.b.sign[t], thread);
      each([&](int i, int j) {
        const auto product = static_cast<std::uint32_t>(a[i]) * static_cast<std::uint32_t>(b.x[j]);
        const std::uint32_t units = shifted_right(product, e[i][j] - e_a[i] - e_b.x[j]);
        sum[i][j] += static_cast<std::int32_t>(units) * (sign_a[i] * sign_b.x[j]);
      });
    }
  }

  // The block's end: C joins. 32 bits that the sum then passes are seen by its sign.
  WIDTHWISE_BOTH_INLINE float closed(const Addend& c, int e, Sum sum) const {
    const int e_unit = e - g_.frac_bits;
    const std::int32_t addend = c.units(e_unit);
    if constexpr (in_chunks)
      return next_addend<finish>(Block{c, e_unit, false}, sum + addend, g_.kept);
    const auto both = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                                static_cast<std::uint32_t>(addend));
    const bool overflow = ((sum ^ both) & (addend ^ both)) < 0;
    return next_addend<finish>(Block{c, e_unit, overflow}, both, g_.kept);
  }

  const TensorArgs& g_;
};

}  // namespace widthwise::cuda
