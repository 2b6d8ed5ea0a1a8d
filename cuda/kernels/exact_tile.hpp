#pragma once
#include "block_tile.hpp"
#include "sim/exact/levels.hpp"
#include "widthwise/significand.hpp"

// One exact sum an output, in doubles: what sim/exact/kernels.cpp is on a CPU.
namespace widthwise::cuda {

// A sum of doubles on its way to a word: where it starts, one over its last digit (or that negated,
// where down is computed for up), and how far this digit lies above the word's.
struct ExactLevel {
  double start, per_digit;
  int up;
};

// Sums are emptied into words every `interval` steps, whole ones of the tile. Outputs whose `redo`
// is 1 met an infinity or NaN, which operands have NaN for.
struct ExactArgs : TileArgs<double> {
  uint128* words;  // m x n, modulo 2^128
  ExactLevel level[exact::most_levels];
  double rounder;    // of one digit: 3/2 2^52 times that, negative where magnitudes go away from 0
  double low, high;  // ends of a register that saturates
};

#define WIDTHWISE_SEQUENCE WIDTHWISE_BOTH_INLINE
#include "sim/exact/sequences.inl"
#undef WIDTHWISE_SEQUENCE

// One sum, which loses nothing or has each term rounded down.
struct IntoOne {
  static constexpr int levels = 1;
  WIDTHWISE_BOTH_INLINE explicit IntoOne(const ExactArgs&) {}
  WIDTHWISE_BOTH_INLINE void operator()(double a, double b, double* sum) const {
    sum[0] = mul_add<RoundingMode::rdn>(a, b, sum[0]);
  }
};

// Terms rounded to even, each by itself.
struct NearestTerms {
  static constexpr int levels = 1;
  double rounder;
  WIDTHWISE_BOTH_INLINE explicit NearestTerms(const ExactArgs& g) : rounder(g.rounder) {}
  WIDTHWISE_BOTH_INLINE void operator()(double a, double b, double* sum) const {
    sum[0] = with_nearest(a, b, sum[0], rounder);
  }
};

// Terms rounded toward zero or, by their negative magnitudes, away from it.
struct CutTerms {
  static constexpr int levels = 1;
  double rounder;
  WIDTHWISE_BOTH_INLINE explicit CutTerms(const ExactArgs& g) : rounder(g.rounder) {}
  WIDTHWISE_BOTH_INLINE void operator()(double a, double b, double* sum) const {
    const double magnitude = std::copysign(a, rounder);
    const double kept =
        hn::Sub(mul_add<RoundingMode::rdn>(magnitude, hn::Abs(b), rounder), rounder);
    const BitsOf<double> negative = (bits_of(a) ^ bits_of(b) ^ bits_of(rounder)) & BitsOf<double>{1}
                                                                                       << 63;
    sum[0] = hn::Add(sum[0], std::bit_cast<double>(bits_of(kept) ^ negative));
  }
};

template <int count>
struct SplitTerms {
  static constexpr int levels = count;
  WIDTHWISE_BOTH_INLINE explicit SplitTerms(const ExactArgs&) {}
  WIDTHWISE_BOTH_INLINE void operator()(double a, double b, double* sum) const {
    split<count>(a, b, sum);
  }
};

// 4 x 4 outputs a thread. What fills up the last steps are zeros, which add nothing.
template <class Step, bool saturates = false>
class ExactTile : public ProductTile<double, NoStep<double>, 64, 64, 16, 4, 4> {
  using Base = ProductTile<double, NoStep<double>, 64, 64, 16, 4, 4>;
  using typename Base::Pack;
  static constexpr int side = 4, depth = 16;

 public:
  using typename Base::Shared;
  struct Registers {
    double sum[side][side][Step::levels];
    int block_x, block_y;
  };

  WIDTHWISE_BOTH_INLINE explicit ExactTile(const ExactArgs& args)
      : Base(args), g_(args), add_product_(args) {}

  WIDTHWISE_BOTH_INLINE void begin(int block_x, int block_y, int thread, Registers& r) const {
    r.block_x = block_x, r.block_y = block_y;
    Base::each(g_.m, block_x, block_y, thread, [&](int i, int j, bool there, std::size_t at) {
      if (there) g_.words[at] = 0, g_.redo[at] = 0;
      restart(r.sum[i][j]);
    });
  }

  WIDTHWISE_BOTH_INLINE void compute(int step, int thread, const Shared& s, Registers& r) const {
    const Pack *a = s.a[0] + thread / Base::across, *b = s.b[0] + thread % Base::across;
    WIDTHWISE_NOT_UNROLLED
    for (int k = 0; k < depth; ++k, a += Base::a_packs, b += Base::b_packs) add_products(a, b, r);
    if ((step + 1) * depth % g_.interval == 0) empty(thread, r);
  }

  WIDTHWISE_BOTH_INLINE void end(int, int, int thread, Registers& r) const { empty(thread, r); }

 private:
  template <int packs_apart>
  static WIDTHWISE_BOTH_INLINE void gather(const Pack* packs, double* lines) {
    WIDTHWISE_UNROLLED
    for (int i = 0; i < side; ++i) lines[i] = packs[i / Base::wide * packs_apart].x[i % Base::wide];
  }
  WIDTHWISE_BOTH_INLINE void add_products(const Pack* a_row, const Pack* b_row,
                                          Registers& r) const {
    double a[side], b[side];
    gather<Base::down>(a_row, a);
    gather<Base::across>(b_row, b);
    WIDTHWISE_UNROLLED
    for (int i = 0; i < side; ++i) {
      WIDTHWISE_UNROLLED
      for (int j = 0; j < side; ++j) {
        add_product_(a[i], b[j], r.sum[i][j]);
        if constexpr (saturates) keep_inside(r.sum[i][j][0]);
      }
    }
  }
  // NaN stays.
  WIDTHWISE_BOTH_INLINE void keep_inside(double& sum) const {
    if (sum < g_.low) sum = g_.low;
    if (sum > g_.high) sum = g_.high;
  }

  // Into the words.
  WIDTHWISE_BOTH_INLINE void empty(int thread, Registers& r) const {
    Base::each(g_.m, r.block_x, r.block_y, thread, [&](int i, int j, bool there, std::size_t at) {
      double(&sum)[Step::levels] = r.sum[i][j];
      const bool number = hn::Abs(sum[0]) < std::numeric_limits<double>::infinity();
      if (there && number) g_.words[at] += word_of(sum);
      if (there && !number) g_.redo[at] = 1;
      restart(sum);
    });
  }
  WIDTHWISE_BOTH_INLINE uint128 word_of(const double* sum) const {
    uint128 z = 0;
    WIDTHWISE_UNROLLED
    for (int l = 0; l < Step::levels; ++l) {
      const ExactLevel& level = g_.level[l];
      const double digits = hn::Mul(hn::Sub(sum[l], level.start), level.per_digit);
      const auto value = static_cast<uint128>(static_cast<std::int64_t>(digits));
      if (level.up < 128) z += shift_left(value, level.up);
    }
    return z;
  }
  WIDTHWISE_BOTH_INLINE void restart(double* sum) const {
    WIDTHWISE_UNROLLED
    for (int l = 0; l < Step::levels; ++l) sum[l] = g_.level[l].start;
  }

  const ExactArgs& g_;
  Step add_product_;
};

}  // namespace widthwise::cuda
