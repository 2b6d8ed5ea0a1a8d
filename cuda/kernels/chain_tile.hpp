#pragma once
#include "chain_number.hpp"
#include "places.hpp"
#include "side.hpp"
#include "widthwise/datapath/step.hpp"
#include "widthwise/sim/codes.hpp"
#include "word.hpp"

// Chains of single products in integers, a step at a time.
namespace widthwise::cuda {

// An operand, conditioned and normalised.
template <class T>
struct alignas(16) ChainOperand {
  T sig;
  std::int32_t exp;
  std::uint32_t marks;

  constexpr Number<Word<T>> number() const {
    return steps::number<Word<T>>(Word<T>(sig), Short(exp), marks);
  }
};

template <class T>
struct UnpackChainOperands {
  Operand operand;
  Layout<T> layout;
  const std::byte* codes;
  std::size_t count;
  int bytes;
  ChainOperand<T>* unpacked;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    for (std::size_t i = thread; i < count; i += threads) {
      const T code = load_code<T>(codes + i * bytes, bytes);
      const Factor<T> x = condition(operand, factor(layout, code));
      const steps::Digits<T> digits = steps::normalised(x, exponent_of_zero<Word<T>>);
      unpacked[i] = {digits.sig, static_cast<std::int32_t>(digits.exp), steps::marks_of(x)};
    }
  }
};

// result = c + a b, row-major and dense but for b.
template <class T>
struct ChainArgs {
  single::Path<Word<T>> path;
  const ChainOperand<T>*a, *b, *c;  // m x k, k x n, m x n or null
  Places b_places{};                // of b
  std::byte* result;
  std::uint8_t* flags;  // or null
  int bytes;            // of a result
  int m, n, k;
  // Where random bits are drawn: their keys, and the first output's index.
  std::uint64_t seed;
  PhiloxKeys keys;
  std::size_t first, row_outputs;
};

// An output under way: its sum, as a code as well, and all flags raised so far. A thread keeps it
// in as few registers as hold it.
template <class T>
struct ChainSum {
  ChainOperand<T> sum;
  T code;
  std::int32_t flags;

  constexpr ChainSum() = default;
  constexpr ChainSum(const single::Output<Word<T>>& z)
      : sum(packed(z.sum)), code(z.code.x), flags(z.flags.x) {}
  constexpr operator single::Output<Word<T>>() const {
    return {sum.number(), Word<T>(code), Short(flags)};
  }

  static constexpr ChainOperand<T> packed(const Number<Word<T>>& x) {
    const auto mark = [](bool c, steps::Mark m) { return c ? std::uint32_t{m} : 0; };
    return {x.sig.x, x.exp.x,
            mark(x.negative, steps::negative) | mark(x.zero, steps::zero) |
                mark(x.infinite, steps::infinite) | mark(x.nan, steps::nan)};
  }
};

// What a thread seldom calls. Numbers go there and back by value, so that those of the usual steps
// stay in registers.
template <class T>
WIDTHWISE_APART constexpr ChainSum<T> settled(const RoundingSlot<Word<T>>& to,
                                              const Number<Word<T>>& x, Word<T> random,
                                              ChainSum<T> before) {
  single::Output<Word<T>> z = before;
  single::settle(to, x, random, z);
  return z;
}
template <class T>
WIDTHWISE_APART constexpr ChainSum<T> any_step(const single::Path<Word<T>>& u, ChainOperand<T> a,
                                               ChainOperand<T> b, single::Draw<Word<T>> random,
                                               ChainSum<T> before) {
  single::Output<Word<T>> z = before;
  single::any_step(u, a.number(), b.number(), random, z,
                   [](const auto& to, const auto& x, Word<T> bits, auto& output) {
                     output = settled<T>(to, x, bits, output);
                   });
  return z;
}

// The random bits of one slot of an output, a call of the generator at a time.
template <class U>
class ThreadDice {
 public:
  WIDTHWISE_BOTH_INLINE U bits(const RoundingSlot<U>& slot, const PhiloxKeys& keys,
                               std::uint64_t index, std::uint64_t step) {
    const RandomField field(slot.description.rm.random_bits);
    if (!slot.description.rm.stochastic()) return U{};
    if (step % field.steps_a_call() == 0)
      words_ = random_words(field, keys, static_cast<std::uint32_t>(index),
                            static_cast<std::uint32_t>(index >> 32), slot.slot, step);
    return field.template of<U>(words_, step);
  }

 private:
  std::array<std::uint32_t, 4> words_;
};

// A block of threads computes 32 x 32 outputs, a thread 2 x 2 of them; 16 steps of A and B lie in
// shared memory at a time. Phases hold no barriers: whoever runs them puts one after every load and
// every compute. The product is rounded or not, and random bits are drawn in some step or not, as
// the unit says.
template <class T, bool rounded, bool random>
class ChainTile {
  using U = Word<T>;
  static constexpr int side = 2, across = 16;

 public:
  static constexpr int rows = side * across, columns = rows, depth = 16, threads = across * across;

  struct Shared {
    // Of a row one more than needed, or neighbouring rows would lie in the same banks.
    ChainOperand<T> a[rows][depth + 1], b[depth][columns];
  };
  struct Output {
    ChainSum<T> z;
    ChainOperand<T> outer;  // what promotion gathers
    ThreadDice<U> product, out;
    std::uint64_t index;
  };
  struct Registers {
    bool idle;  // without an output
    Output outputs[side][side];
  };

  WIDTHWISE_BOTH_INLINE explicit ChainTile(const ChainArgs<T>& args) : g_(args) {}

  WIDTHWISE_BOTH_INLINE int steps() const { return (g_.k - 1) / depth + 1; }

  WIDTHWISE_BOTH_INLINE void begin(int block_x, int block_y, int thread, Registers& r) const {
    const single::Path<U>& u = g_.path;
    r.idle =
        block_y * rows + thread / across >= g_.m || block_x * columns + thread % across >= g_.n;
    each(block_x, block_y, thread, [&](int i, int j, int row, int column, std::size_t at) {
      Output& x = r.outputs[i][j];
      const bool from_c = u.unit.chain.c_at != CAt::last;
      x.outer = from_c ? c(row, column, at) : nothing();
      x.z = {};
      x.z.sum = u.promote ? nothing() : x.outer;
      x.index = g_.first + row * g_.row_outputs + column;
    });
  }

  WIDTHWISE_BOTH_INLINE void load(int step, int block_x, int block_y, int thread, Shared& s) const {
    static_assert(depth == across);
    const int line = thread / across, at = thread % across, k = step * depth;
    WIDTHWISE_UNROLLED
    for (int i = line; i < rows; i += across) {
      const int row = block_y * rows + i;
      const bool there = row < g_.m && k + at < g_.k;
      s.a[i][at] = there ? g_.a[std::size_t(row) * g_.k + k + at] : nothing();
    }
    WIDTHWISE_UNROLLED
    for (int j = at; j < columns; j += across) {
      const int column = block_x * columns + j;
      const bool there = k + line < g_.k && column < g_.n;
      s.b[line][j] = there ? g_.b[g_.b_places.at(k + line, column, g_.n)] : nothing();
    }
  }

  WIDTHWISE_BOTH_INLINE void compute(int step, int thread, const Shared& s, Registers& r) const {
    if (r.idle) return;
    const int first = step * depth, left = g_.k - first, steps = left < depth ? left : depth;
    for (int k = 0; k < steps;) {
      const int end = std::min<std::int64_t>(steps, k + until_promotion(first + k));
      WIDTHWISE_NOT_UNROLLED
      for (; k < end; ++k) multiply_add(k, first + k, thread, s, r);
      if (g_.path.promote && until_promotion(first + k) == interval())
        each([&](int i, int j) { promote(first + k - 1, r.outputs[i][j]); });
    }
  }

  WIDTHWISE_BOTH_INLINE void end(int block_x, int block_y, int thread, Registers& r) const {
    each(block_x, block_y, thread, [&](int i, int j, int row, int column, std::size_t at) {
      if (row >= g_.m || column >= g_.n) return;
      Output& x = r.outputs[i][j];
      const single::Path<U>& u = g_.path;
      x.z.code = single::code_of<U>(u, x.z).x;
      if (u.promote && until_promotion(g_.k) != interval()) promote(g_.k - 1, x);
      if (u.promote) x.z.sum = x.outer;
      if (u.c_round) add_once(*u.c_round, x.z.sum, c(row, column, at), 0, x);
      if (u.final) settle_once(*u.final, single::to_round_once(*u.final, x.z.sum.number()), 0, x);
      store_code(g_.result + at * g_.bytes, g_.bytes, x.z.code);
      if (g_.flags) g_.flags[at] = static_cast<std::uint8_t>(x.z.flags);
    });
  }

 private:
  template <class Visit>
  static WIDTHWISE_BOTH_INLINE void each(const Visit& visit) {
    WIDTHWISE_UNROLLED
    for (int i = 0; i < side; ++i) {
      WIDTHWISE_UNROLLED
      for (int j = 0; j < side; ++j) visit(i, j);
    }
  }
  // A thread's outputs lie apart, so that neighbours read neighbours.
  template <class Visit>
  WIDTHWISE_BOTH_INLINE void each(int block_x, int block_y, int thread, const Visit& visit) const {
    each([&](int i, int j) {
      const int row = block_y * rows + i * across + thread / across;
      const int column = block_x * columns + j * across + thread % across;
      visit(i, j, row, column, std::size_t(row) * g_.n + column);
    });
  }

  static WIDTHWISE_BOTH_INLINE ChainOperand<T> nothing() {
    return ChainSum<T>::packed(single::no_number<U>());
  }
  WIDTHWISE_BOTH_INLINE ChainOperand<T> c(int row, int column, std::size_t at) const {
    return g_.c && row < g_.m && column < g_.n ? g_.c[at] : nothing();
  }

  WIDTHWISE_BOTH_INLINE void multiply_add(int k, int step, int thread, const Shared& s,
                                          Registers& r) const {
    const single::Path<U>& u = g_.path;
    const auto of_a = [&](int i) { return s.a[i * across + thread / across][k]; };
    const auto of_b = [&](int j) { return s.b[k][j * across + thread % across]; };
    single::Draw<U> draws[side][side]{};
    single::Step<U> quick[side][side];
    bool all_sure = true;
    each([&](int i, int j) {
      Output& x = r.outputs[i][j];
      single::Draw<U>& draw = draws[i][j];
      if constexpr (random) draw.out = x.out.bits(u.out, g_.keys, x.index, step);
      if constexpr (random && rounded)
        draw.product = x.product.bits(*u.product_round, g_.keys, x.index, step);
      quick[i][j] = single::quick_step(u, rounded, of_a(i).number(), of_b(j).number(), draw,
                                       x.z.sum.number());
      all_sure = all_sure & quick[i][j].sure;
    });
    const auto take = [&](int i, int j) {
      single::Output<U> z = r.outputs[i][j].z;
      single::take(quick[i][j], z);
      r.outputs[i][j].z = z;
    };
    if (all_sure) return each(take);
    each([&](int i, int j) {
      ChainSum<T>& z = r.outputs[i][j].z;
      if (quick[i][j].sure)
        take(i, j);
      else
        z = any_step<T>(u, of_a(i), of_b(j), draws[i][j], z);
    });
  }

  // Steps from this one to the next promotion.
  WIDTHWISE_BOTH_INLINE std::int64_t interval() const {
    return g_.path.unit.chain.promote->interval;
  }
  WIDTHWISE_BOTH_INLINE std::int64_t until_promotion(int step) const {
    return g_.path.promote ? interval() - step % interval() : depth;
  }
  // Into the outer sum; the inner one starts anew.
  WIDTHWISE_BOTH_INLINE void promote(int step, Output& x) const {
    add_once(*g_.path.promote, x.outer, x.z.sum, step, x);
    x.outer = x.z.sum;
    x.z.sum = nothing();
  }

  // By one of the roundings that happen once in many steps.
  WIDTHWISE_BOTH_INLINE void settle_once(const RoundingSlot<U>& to, const Number<U>& sum,
                                         std::uint64_t step, Output& x) const {
    const Rounding& rm = to.description.rm;
    U bits{};
    if (rm.stochastic()) bits = U(random_bits(rm.random_bits, {g_.seed, x.index}, to.slot, step));
    x.z = settled<T>(to, sum, bits, x.z);
  }
  WIDTHWISE_BOTH_INLINE void add_once(const RoundingSlot<U>& to, const ChainOperand<T>& a,
                                      const ChainOperand<T>& b, std::uint64_t step,
                                      Output& x) const {
    settle_once(to, single::sum(to, a.number(), b.number()), step, x);
  }

  const ChainArgs<T>& g_;
};

}  // namespace widthwise::cuda
