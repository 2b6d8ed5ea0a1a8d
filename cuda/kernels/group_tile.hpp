#pragma once
#include <cstddef>

#include "join.hpp"
#include "output_tile.hpp"
#include "packed_lines.hpp"

// Matrix products of tensor units whose groups of small numbers are added exactly and then scaled
// (FP4): numbers are whole ones of 8 bits, of which an instruction multiplies and adds four.
namespace widthwise::cuda {

// A group of a line as it waits in memory: its numbers, what they are scaled by
//   | exponent: 16, signed | significand: 16 |
// and which of them are not zero, beside marks of scales that are no numbers:
//   | 0 | special scale of B: 1 | of A: 1 | not zero: 16 |
// Each side has the other's mark set, so that what both have set shows either.
struct PackedGroup {
  static constexpr int lanes = 16, number_words = lanes / 4, scale = 4, votes = 5, words = 6;
  static constexpr std::uint32_t special_a = 1u << 16, special_b = 1u << 17;
};

// Word w of group (g, line) stands at (g * words + w) * lines + line.
struct PackGroups {
  Lines lines;
  PackedBlocks blocks;
  bool of_b;
  std::int64_t q;  // 2^q: the unit of numbers
  std::uint32_t* packed;

  WIDTHWISE_BOTH void run(std::size_t thread, std::size_t threads) const {
    const std::size_t groups = blocks.length / PackedGroup::lanes;
    for (std::size_t i = thread; i < groups * lines.count; i += threads)
      pack(i / lines.count, i % lines.count);
  }

 private:
  WIDTHWISE_BOTH_INLINE void pack(std::size_t group, std::size_t line) const {
    std::uint32_t word[PackedGroup::words] = {};
    const std::size_t first = group * PackedGroup::lanes, head = blocks.lane_at(first);
    word[PackedGroup::votes] = of_b ? PackedGroup::special_a : PackedGroup::special_b;
    if (head < lines.length) {
      const Factor<std::uint64_t> scale = lines.scale(line, head);
      for (std::size_t i = 0; i < PackedGroup::lanes; ++i) {
        const std::size_t lane = blocks.lane_at(first + i);
        if (lane < lines.length) put(i, lines.element(line, lane), scale, word);
      }
      put_scale(scale, word);
    }
    for (std::size_t w = 0; w < PackedGroup::words; ++w)
      packed[(group * PackedGroup::words + w) * lines.count + line] = word[w];
  }

  WIDTHWISE_BOTH_INLINE void put(std::size_t i, const Factor<std::uint64_t>& x,
                                 const Factor<std::uint64_t>& scale, std::uint32_t* word) const {
    if (is_zero(x) || is_zero(scale)) return;
    const auto magnitude = static_cast<int>(x.m << (x.q - q));
    const int number = x.negative != scale.negative ? -magnitude : magnitude;
    word[i / 4] |= (static_cast<std::uint32_t>(number) & 255) << (i % 4 * 8);
    word[PackedGroup::votes] |= 1u << i;
  }
  WIDTHWISE_BOTH_INLINE void put_scale(const Factor<std::uint64_t>& scale,
                                       std::uint32_t* word) const {
    const bool special = scale.endless;
    if (special) word[PackedGroup::votes] |= of_b ? PackedGroup::special_b : PackedGroup::special_a;
    const int e = special ? PackedOperand::of_special : static_cast<int>(scale.e);
    word[PackedGroup::scale] =
        static_cast<std::uint32_t>(e) << 16 | static_cast<std::uint32_t>(special ? 0 : scale.m);
  }
};

struct GroupArgs : OutputArgs {
  const std::uint32_t *a, *b;  // packed, their length that of whole steps
  int blocks, groups;          // of a block: 1, 2 or 4
  int up;                      // digits that a group's sum goes up to the join's
  JoinArgs join;
};

// Four numbers of 8 bits each, times four others, and a sum.
#ifdef __CUDA_ARCH__
WIDTHWISE_BOTH_INLINE int dot_of_four(int a, int b, int sum) { return __dp4a(a, b, sum); }
#else
inline int dot_of_four(int a, int b, int sum) {
  for (int i = 0; i < 32; i += 8)
    sum += static_cast<std::int8_t>(a >> i) * static_cast<std::int8_t>(b >> i);
  return sum;
}
#endif

// Four groups of A and B, whole blocks, lie in shared memory at a time.
class GroupTile : public OutputTile<GroupArgs> {
 public:
  static constexpr int depth = 4;

  struct Side {
    Pack word[depth * PackedGroup::words][rows / wide];
  };
  struct Shared {
    Side a, b;
  };
  static_assert(rows == columns && sizeof(Shared) <= 48 * 1024);

  WIDTHWISE_BOTH_INLINE explicit GroupTile(const GroupArgs& args) : OutputTile(args) {}

  WIDTHWISE_BOTH_INLINE int steps() const { return (groups() - 1) / depth + 1; }

  WIDTHWISE_BOTH_INLINE void load(int step, int block_x, int block_y, int thread, Shared& s) const {
    fetch(g_.a, g_.m, block_y * rows, step, thread, s.a);
    fetch(g_.b, g_.n, block_x * columns, step, thread, s.b);
  }

  WIDTHWISE_BOTH_INLINE void compute(int step, int thread, const Shared& s, Registers& r) const {
    const int first = step * depth, left = groups() - first, end = left < depth ? left : depth;
    add_blocks(first, end, g_.groups, groups(), thread, r,
               [&](int g) { add_block(g, thread, s, r); });
  }

  WIDTHWISE_BOTH_INLINE void end(int block_x, int block_y, int thread, const Registers& r) const {
    deliver<JoinedWide::Out>(block_x, block_y, thread, r);
  }

 private:
  WIDTHWISE_BOTH_INLINE int groups() const { return g_.blocks * g_.groups; }

  // Neighbouring threads read neighbouring lines; zeros where there are no more.
  static WIDTHWISE_BOTH_INLINE void fetch(const std::uint32_t* from, int lines, int first, int step,
                                          int thread, Side& to) {
    constexpr int apart = threads / rows, words = depth * PackedGroup::words;
    const int line = thread % rows;
    const bool there = first + line < lines;
    from += (std::size_t(step) * words + thread / rows) * lines + first + line;
    WIDTHWISE_UNROLLED
    for (int i = 0; i < words; i += apart, from += std::size_t(apart) * lines)
      to.word[thread / rows + i][line / wide].x[line % wide] =
          there ? static_cast<std::int32_t>(*from) : 0;
  }

  // One word of a group, of all lines.
  static WIDTHWISE_BOTH_INLINE const Pack* word(const Side& side, int group, int w) {
    return side.word[group * PackedGroup::words + w];
  }

  // Groups are aligned by their scales alone. One of zeros has no say; one that cancelled has.
  WIDTHWISE_BOTH_INLINE void add_block(int first, int thread, const Shared& s, Registers& r) const {
    Outputs<Aligned<std::int64_t>> sum;
    each([&](int i, int j) {
      sum[i][j] = {JoinedWide::first_vote(g_.join, Addend(r.c[i][j])), 0};
    });
    WIDTHWISE_NOT_UNROLLED
    for (int g = first; g < first + g_.groups; ++g) {
      const Rows e_a = rows_of(word(s.a, g, PackedGroup::scale), thread),
                 votes_a = rows_of(word(s.a, g, PackedGroup::votes), thread);
      const Pack e_b = columns_of(word(s.b, g, PackedGroup::scale), thread),
                 votes_b = columns_of(word(s.b, g, PackedGroup::votes), thread);
      each([&](int i, int j) {
        const int e = max_of_sum(e_a[i] >> 16, e_b.x[j] >> 16, sum[i][j].e);
        sum[i][j].e = votes_a[i] & votes_b.x[j] ? e : sum[i][j].e;
      });
    }
    WIDTHWISE_NOT_UNROLLED
    for (int g = first; g < first + g_.groups; ++g) add_group(g, thread, s, sum);
    each(
        [&](int i, int j) { r.c[i][j] = JoinedWide::next(g_.join, Addend(r.c[i][j]), sum[i][j]); });
  }

  WIDTHWISE_BOTH_INLINE void add_group(int g, int thread, const Shared& s,
                                       Outputs<Aligned<std::int64_t>>& sum) const {
    Outputs<int> dot;
    each([&](int i, int j) { dot[i][j] = 0; });
    WIDTHWISE_UNROLLED
    for (int w = 0; w < PackedGroup::number_words; ++w) {
      const Rows a = rows_of(word(s.a, g, w), thread);
      const Pack b = columns_of(word(s.b, g, w), thread);
      each([&](int i, int j) { dot[i][j] = dot_of_four(a[i], b.x[j], dot[i][j]); });
    }
    const Rows a = rows_of(word(s.a, g, PackedGroup::scale), thread);
    const Pack b = columns_of(word(s.b, g, PackedGroup::scale), thread);
    each([&](int i, int j) {
      const int scaled = dot[i][j] * ((a[i] & 0xffff) * (b.x[j] & 0xffff));
      const int below = sum[i][j].e - (a[i] >> 16) - (b.x[j] >> 16);
      sum[i][j].units += cut_right(std::int64_t{scaled} << g_.up, below);
    });
  }
};

}  // namespace widthwise::cuda
