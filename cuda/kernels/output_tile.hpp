#pragma once
#include <cstddef>

#include "tensor_lane.hpp"

// What tiles of tensor units have in common: which outputs are whose, and what becomes of a
// block's.
namespace widthwise::cuda {

struct OutputArgs {
  const float* c;  // m x n, or null
  float* result;
  unsigned char* redo;
  int m, n;
  int interval;  // of promotion, in products as packed; 0: there is none
  bool c_last;   // C is added to the last sum, and not where sums begin
};

// A block of threads computes 64 x 64 outputs, a thread 8 x 4 of them. Phases hold no barriers:
// whoever runs them puts one after every load and every compute.
template <class Args>
class OutputTile {
 protected:
  static constexpr int thread_rows = 8, thread_columns = 4;
  static constexpr int wide = 4;  // what one instruction loads
  struct alignas(16) Pack {
    std::int32_t x[wide];
  };
  template <class T>
  using Outputs = T[thread_rows][thread_columns];

 public:
  static constexpr int rows = 64, columns = 64;
  static constexpr int across = columns / thread_columns, down = rows / thread_rows;
  static constexpr int threads = down * across;

  struct Registers {
    Outputs<float> c;
    int block_x, block_y;
  };

  // Under promotion the outer sums wait in memory: they are met once an interval.
  WIDTHWISE_BOTH_INLINE void begin(int block_x, int block_y, int thread, Registers& r) const {
    r.block_x = block_x, r.block_y = block_y;
    const float* const c = g_.c_last ? nullptr : g_.c;
    each_output(c ? g_.m : 0, block_x, block_y, thread,
                [&](int i, int j, bool there, std::size_t at) {
                  r.c[i][j] = 0.0f;
                  if (there) r.c[i][j] = c[at];
                });
    if (!g_.interval) return;
    float* const outer = g_.result;
    each_output(g_.m, block_x, block_y, thread, [&](int i, int j, bool there, std::size_t at) {
      if (there) outer[at] = r.c[i][j];
      r.c[i][j] = 0.0f;
    });
  }

 protected:
  const Args& g_;

  WIDTHWISE_BOTH_INLINE explicit OutputTile(const Args& args) : g_(args) {}

  template <class Visit>
  static WIDTHWISE_BOTH_INLINE void each(const Visit& visit) {
    WIDTHWISE_UNROLLED
    for (int i = 0; i < thread_rows; ++i) {
      WIDTHWISE_UNROLLED
      for (int j = 0; j < thread_columns; ++j) visit(i, j);
    }
  }
  // Of so many rows. A thread's are packs that lie apart, so that neighbours read neighbours. No
  // jumps: a tile's two ends are half the size so.
  template <class Visit>
  WIDTHWISE_BOTH_INLINE void each_output(int rows_there, int block_x, int block_y, int thread,
                                         const Visit& visit) const {
    const int column = block_x * columns + thread % across * wide;
    each([&](int i, int j) {
      const int row = block_y * rows + row_of(i, thread);
      const std::size_t at = std::size_t(row) * g_.n + column;
      visit(i, j, (row < rows_there) & (column + j < g_.n), at + j);
    });
  }
  static WIDTHWISE_BOTH_INLINE int row_of(int i, int thread) {
    return (i / wide * down + thread / across) * wide + i % wide;
  }

  // A thread's operands of one step.
  struct Rows {
    Pack x[thread_rows / wide];
    WIDTHWISE_BOTH_INLINE std::int32_t operator[](int i) const { return x[i / wide].x[i % wide]; }
  };
  static WIDTHWISE_BOTH_INLINE Rows rows_of(const Pack* packs, int thread) {
    Rows z;
    WIDTHWISE_UNROLLED
    for (int i = 0; i < thread_rows / wide; ++i) z.x[i] = packs[i * down + thread / across];
    return z;
  }
  static WIDTHWISE_BOTH_INLINE Pack columns_of(const Pack* packs, int thread) {
    return packs[thread % across];
  }

  // add_block(k) for every block of those that a step holds, its first at `first` of `all`. Their
  // loop ends where sums are promoted, which it would be much longer with.
  template <class AddBlock>
  WIDTHWISE_BOTH_INLINE void add_blocks(int first, int end, int block, int all, int thread,
                                        Registers& r, const AddBlock& add_block) const {
    for (int k = 0; k < end;) {
      const int stop = g_.interval ? std::min(end, k + until_promotion(first + k)) : end;
      WIDTHWISE_NOT_UNROLLED
      for (; k < stop; k += block) add_block(k);
      if (promotes(first + k, all)) promote(thread, r);
    }
  }

  template <class Out>
  WIDTHWISE_BOTH_INLINE void deliver(int block_x, int block_y, int thread,
                                     const Registers& r) const {
    each_output(g_.m, block_x, block_y, thread, [&](int i, int j, bool there, std::size_t at) {
      if (!there) return;
      float z = g_.interval ? g_.result[at] : r.c[i][j];
      if (g_.c_last) z = with_last<Out>(z, g_.c ? g_.c[at] : 0.0f);
      g_.result[at] = z;
      g_.redo[at] = !Addend(z).is_number() || bits_of(z) == 0x80000000;
    });
  }

 private:
  WIDTHWISE_BOTH_INLINE int until_promotion(int done) const {
    return g_.interval - done % g_.interval;
  }
  // After so many of all.
  WIDTHWISE_BOTH_INLINE bool promotes(int done, int all) const {
    return g_.interval && (done % g_.interval == 0 || done == all);
  }
  // Marks go on: NaN stays it, and -0 is one only if both sums are.
  WIDTHWISE_BOTH_INLINE void promote(int thread, Registers& r) const {
    float* const outer = g_.result;
    each_output(g_.m, r.block_x, r.block_y, thread, [&](int i, int j, bool there, std::size_t at) {
      if (there) outer[at] = hn::Add(outer[at], r.c[i][j]);
      r.c[i][j] = 0.0f;
    });
  }

  // A sum in float has enough digits to be rounded again.
  template <class Out>
  static WIDTHWISE_BOTH_INLINE float with_last(float sum, float c) {
    const float z = hn::Add(sum, c), x = Out::rounded(hn::Abs(z));
    return x <= Out::largest ? std::copysign(x, z) : std::numeric_limits<float>::quiet_NaN();
  }
};

}  // namespace widthwise::cuda
