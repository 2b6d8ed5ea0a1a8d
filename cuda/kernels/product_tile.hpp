#pragma once
#include <cstddef>
#include <limits>

#include "lane.hpp"
#include "places.hpp"
#include "sim/lanes/kernels.hpp"

// Matrix products in float and double lanes: what sim/lanes/kernels.cpp is on a CPU.
namespace widthwise::cuda {

// Where the random bits of a word, the first of each of its two fields of 16, meet those of a sum
// that are cut off. They go down to where these begin or, where that is higher up, are multiplied.
struct RandomPlaces {
  int down = 0;
  std::uint32_t drawn = 0;
  std::uint32_t times[2] = {};  // of the first field and of the second, as add_halves has them
  std::uint32_t kept = 0;       // of the sum

  RandomPlaces() = default;
  template <class T>
  explicit RandomPlaces(const lanes::Constants<T>& k)
      : down(k.sum_cut < 16 ? 16 - k.sum_cut : 0),
        drawn((((1u << k.random_bits) - 1) << (16 - down - k.random_bits)) * 0x10001),
        times{1u << (k.sum_cut - 16 + down), times[0] << 8},
        kept(~0u << k.sum_cut) {}

  WIDTHWISE_BOTH_INLINE std::uint32_t placed(std::uint32_t word) const {
    return word >> down & drawn;
  }
};

// result = c + a b, row-major and dense but for B, all of them numbers. Outputs whose `redo` is 1
// mean nothing: the definition has to compute them.
template <class T>
struct TileArgs {
  const T *a, *b;     // m x k and k x n
  const T* c;         // m x n, or null: sums start at `start`
  Places b_places{};  // of B
  T* result;
  unsigned char* redo;
  int m, n, k;
  T start;  // +0; -0 where up is computed as down, negated
  lanes::Constants<T> constants;
  int interval;         // steps from one look at the sums to the next: 1, 4 or 16
  T limit;              // of their magnitudes then
  bool zeros_doubtful;  // a zero may have lost its sign
  // Where random bits are drawn: their places and keys, and the first output's index, whose upper
  // half is that of all.
  RandomPlaces places{};
  PhiloxKeys keys{0};
  std::size_t first = 0, row_outputs = 0;
};

// Products that one launch computes, a layer of its grid each: of one shape, by the same sequence,
// and in formats of their own, which are data.
template <class T>
struct TileLayers {
  static constexpr std::size_t most = 64;
  TileArgs<T> layer[most];
};
static_assert(sizeof(TileLayers<double>) <= 32764, "what a kernel's arguments may take");

// One more product into a sum, to nearest even.
template <class T, lanes::Multiply multiply, lanes::Add add>
struct NearestStep {
  static constexpr bool scaled_up = multiply == lanes::Multiply::rounded,
                        watched = add != lanes::Add::native;
  static constexpr T past_limit = std::numeric_limits<T>::quiet_NaN();
  T product_up, product_least, up, one_less, least;

  WIDTHWISE_BOTH_INLINE explicit NearestStep(const lanes::Constants<T>& k)
      : product_up(k.product_up),
        product_least(k.product_least),
        up(add == lanes::Add::rounded ? T{1.5} * k.sum_up : k.sum_up),
        one_less(1 - k.sum_up),
        least(k.sum_least) {}

  WIDTHWISE_BOTH_INLINE T scale_up(T a) const { return scaled_up ? hn::Mul(a, product_up) : a; }
  WIDTHWISE_BOTH_INLINE T operator()(T a, T a_up, T b, T sum) const {
    constexpr T exponent = std::numeric_limits<T>::infinity();  // all ones there, no others
    return rounded_sum<add>(added(a, a_up, b, sum), up, one_less, exponent, least);
  }

 private:
  WIDTHWISE_BOTH_INLINE T added(T a, T a_up, T b, T sum) const {
    using enum lanes::Multiply;
    if constexpr (multiply == exact) return hn::MulAdd(a, b, sum);
    if constexpr (multiply == odd) return fused_to_odd(a, b, sum);
    if constexpr (multiply == native) return hn::Add(sum, hn::Mul(a, b));
    if constexpr (multiply == rounded)
      return hn::Add(sum, rounded_product(a, a_up, b, product_least));
  }
};

// By the other modes: toward zero, down, or to nearest with ties away. Up is down with A, C and the
// result negated, which the scale that numbers stand at can do.
template <class T, lanes::Multiply multiply, RoundingMode mode>
struct CutStep {
  static constexpr bool watched = true;
  static constexpr T past_limit = std::numeric_limits<T>::quiet_NaN();
  BitsOf<T> product_kept, sum_kept;

  WIDTHWISE_BOTH_INLINE explicit CutStep(const lanes::Constants<T>& k)
      : product_kept(-(BitsOf<T>{1} << k.product_cut)), sum_kept(-(BitsOf<T>{1} << k.sum_cut)) {}

  WIDTHWISE_BOTH_INLINE T scale_up(T a) const { return a; }
  WIDTHWISE_BOTH_INLINE T operator()(T a, T, T b, T sum) const {
    if constexpr (multiply == lanes::Multiply::exact)
      return cut<mode>(mul_add<mode>(a, b, sum), sum_kept);
    const T product = cut<mode>(mul<mode>(a, b), product_kept);
    return cut<mode>(add<mode>(sum, product), sum_kept);
  }
};

// A block of threads computes BlockM x BlockN outputs, a thread ThreadM x ThreadN of them; BlockK
// steps of A and B lie in shared memory at a time. Phases hold no barriers: whoever runs them puts
// one after every load and every compute.
template <class T, class Step, int BlockM, int BlockN, int BlockK, int ThreadM, int ThreadN>
class ProductTile {
 protected:
  // What one instruction loads.
  static constexpr int wide = 16 / sizeof(T);
  struct alignas(16) Pack {
    T x[wide];
  };
  // Of a row in shared memory: one more than needed, or all of a column of A would lie in one bank.
  static constexpr int a_packs = BlockM / wide + 1, b_packs = BlockN / wide + 1;
  static constexpr int down = BlockM / ThreadM, across = BlockN / ThreadN;

 public:
  static constexpr int rows = BlockM, columns = BlockN, threads = down * across;
  static_assert(ThreadM % wide == 0 && ThreadN % wide == 0);
  static_assert(threads % BlockK == 0 && threads % BlockN == 0);
  static_assert(BlockK % 16 == 0, "looks come every 1, 4 or 16 steps of the whole");

  struct Shared {
    Pack a[BlockK][a_packs], b[BlockK][b_packs];
  };
  struct Registers {
    T sum[ThreadM][ThreadN];
  };

  WIDTHWISE_BOTH_INLINE explicit ProductTile(const TileArgs<T>& args)
      : g_(args), multiply_add_(args.constants) {}

  WIDTHWISE_BOTH_INLINE int steps() const { return (g_.k - 1) / BlockK + 1; }

  WIDTHWISE_BOTH_INLINE void begin(int block_x, int block_y, int thread, Registers& r) const {
    const T* const c = g_.c;
    each(c ? g_.m : 0, block_x, block_y, thread, [&](int i, int j, bool there, std::size_t at) {
      r.sum[i][j] = g_.start;
      if (there) r.sum[i][j] = c[at];
    });
  }

  // Neighbouring threads read neighbours: along k in A, along n in B.
  WIDTHWISE_BOTH_INLINE void load(int step, int block_x, int block_y, int thread, Shared& s) const {
    const int first = step * BlockK, left = g_.k - first;
    const int k = thread % BlockK, row = block_y * BlockM;
    const T* const a = g_.a + std::size_t(row) * g_.k + first + k;
    fetch<BlockM, threads / BlockK>(
        thread / BlockK, k < left ? g_.m - row : 0,
        [&](int i) { return a + std::size_t(i) * g_.k; },
        [&](int i, T x) { s.a[k][i / wide].x[i % wide] = x; });
    const int j = thread % BlockN, column = block_x * BlockN + j;
    fetch<BlockK, threads / BlockN>(
        thread / BlockN, column < g_.n ? left : 0,
        [&](int i) { return g_.b + g_.b_places.at(first + i, column, g_.n); },
        [&](int i, T x) { s.b[i][j / wide].x[j % wide] = x; });
  }

  // Ends with the last real step: a product of zeros would not leave every sum as it is.
  WIDTHWISE_BOTH_INLINE void compute(int step, int thread, const Shared& s, Registers& r) const {
    const int left = g_.k - step * BlockK, steps = left < BlockK ? left : BlockK;
    for (int k = 0; k < steps;) {
      int end = steps;
      if constexpr (Step::watched) {
        look(r);
        if (k + g_.interval < steps) end = k + g_.interval;
      }
      const Pack *a = s.a[k] + thread / across, *b = s.b[k] + thread % across;
      WIDTHWISE_NOT_UNROLLED
      for (; k < end; ++k, a += a_packs, b += b_packs) multiply_add(a, b, r);
    }
  }

  WIDTHWISE_BOTH_INLINE void end(int block_x, int block_y, int thread, const Registers& r) const {
    T* const result = g_.result;  // here, for what is stored might be the arguments
    unsigned char* const redo = g_.redo;
    const T limit = g_.limit;
    const T doubtful = g_.zeros_doubtful ? T{} : std::numeric_limits<T>::quiet_NaN();
    each(g_.m, block_x, block_y, thread, [&](int i, int j, bool there, std::size_t at) {
      const T sum = r.sum[i][j];
      bool unsure = false;
      if constexpr (Step::watched) unsure = !within(sum, limit) | (sum == doubtful);
      if (there) result[at] = sum, redo[at] = unsure;
    });
  }

 protected:
  // One element of every `apart`th line from the first on; zero from line `there` on.
  template <int lines, int apart, class At, class Put>
  static WIDTHWISE_BOTH_INLINE void fetch(int first, int there, const At& at, const Put& put) {
    WIDTHWISE_UNROLLED
    for (int i = first; i < first + lines; i += apart) put(i, i < there ? *at(i) : T{});
  }

  // A thread's rows and columns are packs that lie apart, so that neighbours read neighbours: its
  // first ones, and how far off the others are.
  static WIDTHWISE_BOTH_INLINE int first_row(int block_y, int thread) {
    return block_y * rows + thread / across * wide;
  }
  static WIDTHWISE_BOTH_INLINE int first_column(int block_x, int thread) {
    return block_x * columns + thread % across * wide;
  }
  static constexpr int distance(int i, int threads_along) {
    return i / wide * threads_along * wide + i % wide;
  }
  // Of so many rows. One address each, a constant from which every output lies, and no jumps: a
  // tile's two ends are half the size so.
  template <class Visit>
  WIDTHWISE_BOTH_INLINE void each(int rows_there, int block_x, int block_y, int thread,
                                  const Visit& visit) const {
    const int column = first_column(block_x, thread);
    WIDTHWISE_UNROLLED
    for (int i = 0; i < ThreadM; ++i) {
      const int row = first_row(block_y, thread) + distance(i, down);
      const std::size_t at = std::size_t(row) * g_.n + column;
      WIDTHWISE_UNROLLED
      for (int j = 0; j < ThreadN; ++j) {
        const int right = distance(j, across);
        visit(i, j, (row < rows_there) & (column + right < g_.n), at + right);
      }
    }
  }

  static WIDTHWISE_BOTH_INLINE bool within(T sum, T limit) { return hn::Abs(sum) <= limit; }

  // A sum past the limit becomes what it stays, to be seen at the end.
  WIDTHWISE_BOTH_INLINE void look(Registers& r) const {
    WIDTHWISE_UNROLLED
    for (int i = 0; i < ThreadM; ++i) {
      WIDTHWISE_UNROLLED
      for (int j = 0; j < ThreadN; ++j)
        if (!within(r.sum[i][j], g_.limit)) r.sum[i][j] = Step::past_limit;
    }
  }

  WIDTHWISE_BOTH_INLINE void multiply_add(const Pack* a_row, const Pack* b_row,
                                          Registers& r) const {
    Pack a[ThreadM / wide], b[ThreadN / wide];
    WIDTHWISE_UNROLLED
    for (int i = 0; i < ThreadM / wide; ++i) a[i] = a_row[i * down];
    WIDTHWISE_UNROLLED
    for (int j = 0; j < ThreadN / wide; ++j) b[j] = b_row[j * across];
    WIDTHWISE_UNROLLED
    for (int i = 0; i < ThreadM; ++i) {
      const T factor = a[i / wide].x[i % wide], factor_up = multiply_add_.scale_up(factor);
      WIDTHWISE_UNROLLED
      for (int j = 0; j < ThreadN; ++j)
        r.sum[i][j] = multiply_add_(factor, factor_up, b[j / wide].x[j % wide], r.sum[i][j]);
    }
  }

  const TileArgs<T>& g_;
  Step multiply_add_;
};

// The tiles that product_tile.cu compiles: 8 x 8 floats or 4 x 8 doubles a thread, so that two
// blocks of 256 threads fit a multiprocessor's registers.
template <class T, class Step>
using LaunchedTile =
    ProductTile<T, Step, sizeof(T) == 4 ? 128 : 64, 128, 16, static_cast<int>(32 / sizeof(T)), 8>;

}  // namespace widthwise::cuda
