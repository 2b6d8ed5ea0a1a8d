#pragma once
#include <algorithm>

#include "final_rounding.hpp"
#include "lines.hpp"
#include "machine_rounding.hpp"
#include "numbers.hpp"
#include "tile_rows.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/engine.hpp"

// Matrix products tile by tile: codes become machine numbers, panel by panel, and kernels run over
// tiles of sums. What the fast one cannot vouch for is done by a careful one, or by another engine.
namespace widthwise {

struct Tiling {
  std::size_t columns;      // of a tile
  std::size_t depth;        // steps along k that a panel holds; more where a block is longer
  std::size_t block = 1;    // panels are whole blocks, of zeros at the end
  bool any_number = false;  // infinities and NaN are computed like all else
  RoundingMode mode = RoundingMode::rne;
  int scale = 0;                        // of A and C, and so of the sums
  bool c_last = false;                  // sums begin at +0, and C joins in the end
  std::vector<std::size_t> order = {};  // in which elements of k are taken; none: as they lie
};

struct NothingBeside {};
// Beside is what a kernel wants to know of a panel besides its numbers.
template <class T, class Beside>
class TiledProduct : public ProductEngine {
 public:
  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const final {
    // Kept from call to call, for fresh pages cost a small product a fifth of its time.
    static thread_local Buffers buffers;
    Work work(*this, p, buffers);
    for (std::size_t row = first; row < last; row += block_rows)
      work.rows(row, std::min(row + block_rows, last));
  }

 protected:
  TiledProduct(const ProductTask& task, const Tiling& tiling)
      : a_(task.unit.a, tiling.scale),
        b_(task.unit.b),
        c_(task.unit.c, tiling.scale),
        out_(task.unit.out.fmt, tiling.scale),
        tiling_(tiling),
        unit_(task.unit),
        k_(task.k),
        fallback_(prepare_fallback(task)) {
    if (unit_.chain.final) final_.emplace(unit_.out.fmt, *unit_.chain.final);
  }

  struct Panel {
    Lines<T> numbers;
    Beside beside;
  };
  // The rows of A and the columns of B that meet in a tile, and its sums.
  struct Meeting {
    const Panel &a, &b;
    std::size_t a_first, depth;    // row r of A from a_first + r * depth on
    std::size_t columns;           // of the tile that are outputs; of others nobody asks
    std::uint64_t most_a, most_b;  // largest magnitudes, as codes
    T* sum;
    Where first;  // the tile's first output; the next row's are row_outputs on
    std::size_t row_outputs;
    std::size_t step;  // the panel's first along k
  };
  struct TileState {
    bool hostile = false;       // for another engine
    bool special = false;       // a sum is infinite or NaN
    bool minus = false;         // an addend has a minus sign, be it a zero
    bool minus_zero = false;    // an addend is -0
    bool product_seen = false;  // by the fast kernel: one that is not zero
    bool fast_seen = false;     // the fast kernel had a part in the sums
    bool careful_seen = false;  // the careful one had
    bool again = false;         // the careful one alone is to have
  };

  virtual void complete_rows(Panel&) const {}
  virtual void complete_columns(Panel&) const {}
  // False where the kernel met what it cannot do: the sums then mean nothing.
  virtual bool multiply(const Meeting&) const = 0;
  // Does anything, infinities, NaN and the signs of zeros among it; false if there is no such
  // kernel.
  virtual bool multiply_carefully(const Meeting&) const { return false; }
  virtual bool has_careful() const { return false; }
  // Where C joins in the end: a row of it, and of sums; both have room for a whole line.
  virtual void add_last(const T* c, std::size_t n, T* sum) const {
    if constexpr (std::is_floating_point_v<T>)
      for (std::size_t j = 0; j < n; ++j) sum[j] += c[j];
  }
  // Whether a tile begins so that the fast kernel is not to touch it.
  virtual bool wants_care(const TileState&) const { return false; }
  // Which zero sums may have the wrong sign.
  enum class Zeros : std::uint8_t { none, minus, all };
  virtual Zeros doubtful_zeros(const TileState&) const = 0;

  Codec<T> a_, b_, c_, out_;

 private:
  static constexpr std::size_t block_rows = 512, block_columns = 512;
  static constexpr std::size_t tiles_at_once = 512 / sizeof(T);  // half the second cache

  // Some of a row, side by side.
  struct Outputs {
    std::size_t row, column, n;
  };
  struct Buffers {
    std::vector<TileState> tiles;
    Lines<T> sums, before, one_column;
    Panel a;
    std::vector<Panel> b;
    std::vector<std::uint64_t> most_a, most_b;
    std::vector<T> addends;  // of one row
    std::vector<std::byte> held, gathered, turned, codes;
    std::vector<Outputs> left;
  };

  // One thread's.
  class Work {
   public:
    Work(const TiledProduct& engine, const MatrixProduct& p, Buffers& space)
        : e_(engine), p_(p), width_(engine.tiling_.columns), space_(space) {}

    void rows(std::size_t row, std::size_t row_end) {
      space_.left.clear(), cost_left_ = 0, all_left_ = (row_end - row) * p_.n;
      {
        const MachineRounding mode(e_.tiling_.mode);
        for (std::size_t column = 0; column < p_.n; column += block_columns)
          block(row, row_end, column, std::min(column + block_columns, p_.n));
      }
      if (too_many_left()) return e_.fallback_.product->run(p_, row, row_end);
      for (const Outputs& x : space_.left) again(x);
    }

   private:
    // Outputs of rows [row, row_end), columns [column, column_end).
    void block(std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
      row_ = row, rows_ = row_end - row, column_ = column, columns_ = column_end - column;
      tiles_down_ = (rows_ + tile_rows - 1) / tile_rows;
      panels_ = (columns_ + width_ - 1) / width_;
      space_.tiles.resize(tiles_down_ * panels_);
      space_.sums.resize(space_.tiles.size() * tile_rows * width_);
      std::ranges::fill(space_.tiles, TileState{});
      once_more_ = false;
      pass();
      once_more_ = std::ranges::any_of(space_.tiles, &TileState::again);
      if (once_more_) pass();
    }
    // All tiles along k; or, once more, those that are to be done again.
    void pass() {
      const std::size_t most = whole_blocks(e_.tiling_.depth);
      for (step_ = 0; step_ < e_.k_; step_ += most) {
        steps_ = std::min(most, e_.k_ - step_);
        depth_ = whole_blocks(steps_);
        load_columns();
        for (first_ = 0; first_ < tiles_down_; first_ += last_ - first_) {
          last_ = std::min(tiles_down_, first_ + tiles_at_once);
          load_rows();
          for (std::size_t panel = 0; panel < panels_; ++panel)
            for (std::size_t i = first_; i < last_; ++i) advance(i, panel);
        }
      }
    }

    std::size_t whole_blocks(std::size_t steps) const {
      const std::size_t block = e_.tiling_.block;
      return (steps + block - 1) / block * block;
    }
    TileState& state(std::size_t i, std::size_t panel) {
      return space_.tiles[panel * tiles_down_ + i];
    }
    T* sums(std::size_t i, std::size_t panel) {
      return &space_.sums[(panel * tiles_down_ + i) * tile_rows * width_];
    }
    std::size_t rows_of(std::size_t i) const { return std::min(tile_rows, rows_ - i * tile_rows); }
    std::size_t columns_of(std::size_t panel) const {
      return std::min(width_, columns_ - panel * width_);
    }
    // Where element (y, x) of a matrix lies, in elements.
    static std::ptrdiff_t place(const CodeMatrix& m, std::size_t y, std::size_t x) {
      return static_cast<std::ptrdiff_t>(y) * m.row + static_cast<std::ptrdiff_t>(x) * m.column;
    }

    // A tile's sums while they are in the nearest cache: from C on, and to codes at the end.
    void advance(std::size_t i, std::size_t panel) {
      if (once_more_ && !state(i, panel).again) return;
      if (step_ == 0) begin(i, panel);
      multiply(i, panel);
      if (step_ + steps_ == e_.k_) deliver(i, panel);
    }

    void begin(std::size_t i, std::size_t panel) {
      TileState& tile = state(i, panel);
      tile = {.again = tile.again};
      T* const sum = sums(i, panel);
      std::fill(sum, sum + tile_rows * width_, T{});
      for (std::size_t r = 0; p_.c.data && r < rows_of(i); ++r)
        load_addends(i * tile_rows + r, panel, sum + r * width_, tile);
    }
    void load_addends(std::size_t row, std::size_t panel, T* sum, TileState& tile) {
      T* const at = e_.tiling_.c_last ? last_addends() : sum;
      tile.special |= !usable(e_.c_, decode_addends(row, panel, at));
      using std::signbit;
      for (std::size_t j = 0; !e_.tiling_.c_last && j < columns_of(panel); ++j) {
        tile.minus |= signbit(at[j]);
        tile.minus_zero |= signbit(at[j]) && at[j] == T{};
      }
    }
    std::uint64_t decode_addends(std::size_t row, std::size_t panel, T* to) {
      return e_.c_.decode(p_.c, place(p_.c, row_ + row, column_ + panel * width_), p_.c.column,
                          columns_of(panel), space_.held, to);
    }
    T* last_addends() {
      space_.addends.resize(width_);
      return space_.addends.data();
    }
    void add_last(std::size_t row, std::size_t panel, T* sum) {
      const T* c = last_addends();
      decode_addends(row, panel, space_.addends.data());
      e_.add_last(c, columns_of(panel), sum);
    }

    std::size_t element(std::size_t i) const {
      return e_.tiling_.order.empty() ? i : e_.tiling_.order[i];
    }
    std::uint64_t decode_row(std::size_t row, T* to) {
      if (e_.tiling_.order.empty())
        return e_.a_.decode(p_.a, place(p_.a, row_ + row, step_), p_.a.column, steps_, space_.held,
                            to);
      const auto bytes = static_cast<std::size_t>(e_.a_.bytes());
      const auto* codes = static_cast<const std::byte*>(p_.a.data);
      space_.gathered.resize(steps_ * bytes);
      for (std::size_t i = 0; i < steps_; ++i)
        std::memcpy(&space_.gathered[i * bytes],
                    codes + place(p_.a, row_ + row, element(step_ + i)) * e_.a_.bytes(), bytes);
      return e_.a_.decode({space_.gathered.data(), 0, 1}, 0, 1, steps_, space_.held, to);
    }

    // Decoding leaves the padding at the end of a panel as it is.
    static void resize(Lines<T>& numbers, std::size_t size, bool padded) {
      if (padded) numbers.clear();
      numbers.resize(size);
    }
    void load_rows() {
      const std::size_t row = first_ * tile_rows, end = std::min(rows_, last_ * tile_rows);
      const std::size_t size = (last_ - first_) * tile_rows * depth_;
      resize(space_.a.numbers, size, size != (end - row) * steps_);
      space_.most_a.assign(last_ - first_, 0);
      for (std::size_t r = 0; r < end - row; ++r) {
        std::uint64_t& most = space_.most_a[r / tile_rows];
        most = std::max(most, decode_row(row + r, &space_.a.numbers[r * depth_]));
      }
      e_.complete_rows(space_.a);
    }

    void load_columns() {
      space_.b.resize(panels_);
      for (std::size_t panel = 0; panel < panels_; ++panel)
        resize(space_.b[panel].numbers, depth_ * width_,
               depth_ != steps_ || columns_of(panel) != width_);
      space_.most_b.assign(panels_, 0);
      const bool few = columns_ <= 4 && e_.tiling_.order.empty();
      few ? load_down() : load_across();
      for (Panel& b : space_.b) e_.complete_columns(b);
    }
    // Row by row through all panels, as B most often lies in memory.
    void load_across() {
      const bool in_order = e_.tiling_.order.empty();
      const Part part{step_, steps_, column_, columns_};
      const CodeMatrix b = in_order ? part_by_rows(p_.b, e_.b_.bytes(), part, space_.turned) : p_.b;
      for (std::size_t i = 0; i < steps_; ++i)
        for (std::size_t panel = 0; panel < panels_; ++panel) {
          const std::size_t x = panel * width_;
          const std::ptrdiff_t first =
              in_order ? place(b, i, x) : place(b, element(step_ + i), column_ + x);
          std::uint64_t& most = space_.most_b[panel];
          most = std::max(most, e_.b_.decode(b, first, b.column, columns_of(panel), space_.held,
                                             &space_.b[panel].numbers[i * width_]));
        }
    }
    void load_down() {
      space_.one_column.resize(steps_);
      for (std::size_t j = 0; j < columns_; ++j) {
        const std::uint64_t most = e_.b_.decode(p_.b, place(p_.b, step_, column_ + j), p_.b.row,
                                                steps_, space_.held, space_.one_column.data());
        space_.most_b[0] = std::max(space_.most_b[0], most);
        for (std::size_t i = 0; i < steps_; ++i)
          space_.b[0].numbers[i * width_ + j] = space_.one_column[i];
      }
    }

    bool usable(const Codec<T>& codec, std::uint64_t most) const {
      return e_.tiling_.any_number || codec.finite(most);
    }

    void multiply(std::size_t i, std::size_t panel) {
      TileState& tile = state(i, panel);
      if (tile.hostile) return;
      T* const sum = sums(i, panel);
      const std::size_t y = row_ + i * tile_rows, x = column_ + panel * width_;
      const Panel& b = space_.b[panel];
      const std::uint64_t most_a = space_.most_a[i - first_];
      const Meeting meeting{space_.a,
                            b,
                            (i - first_) * tile_rows * depth_,
                            depth_,
                            columns_of(panel),
                            most_a,
                            space_.most_b[panel],
                            sum,
                            p_.where(y, x),
                            p_.row_outputs(),
                            step_};
      const bool plain = !tile.again && !tile.special && usable(e_.a_, most_a) &&
                         usable(e_.b_, space_.most_b[panel]) && !e_.wants_care(tile);
      if (plain && multiply_fast(meeting)) {
        tile.fast_seen = true;
        tile.product_seen |= most_a != 0 && space_.most_b[panel] != 0;
        return;
      }
      tile.careful_seen = true;
      tile.hostile = !e_.multiply_carefully(meeting);
      using std::isfinite;
      tile.special = std::any_of(sum, sum + tile_rows * width_, [](T x) { return !isfinite(x); });
    }
    // Where the kernel fails, the sums are again what they were.
    bool multiply_fast(const Meeting& m) {
      if (e_.tiling_.any_number) return e_.multiply(m);  // it cannot fail
      space_.before.assign(m.sum, m.sum + tile_rows * width_);
      if (e_.multiply(m)) return true;
      std::copy(space_.before.begin(), space_.before.end(), m.sum);
      return false;
    }

    void deliver(std::size_t i, std::size_t panel) {
      TileState& tile = state(i, panel);
      const Zeros doubtful = tile.again ? Zeros::none : e_.doubtful_zeros(tile);
      const std::size_t x = column_ + panel * width_, n = columns_of(panel);
      for (std::size_t r = 0; r < rows_of(i); ++r) {
        const std::size_t y = row_ + i * tile_rows + r;
        if (tile.hostile) {
          leave({y, x, n});
          continue;
        }
        T* from = sums(i, panel) + r * width_;
        if (e_.tiling_.c_last && p_.c.data) add_last(i * tile_rows + r, panel, from);
        encode(from, n, y, x);
        for (std::size_t j = 0; doubtful != Zeros::none && j < n; ++j)
          if (from[j] == T{} && is_doubtful(doubtful, from[j])) doubt(tile, {y, x + j, 1});
      }
    }
    void encode(T* sums, std::size_t n, std::size_t y, std::size_t x) {
      const Format& result = result_round(e_.unit_).fmt;
      const std::size_t at = p_.output(y, x) * static_cast<std::size_t>(item_bytes(result.width()));
      std::byte* const to = static_cast<std::byte*>(p_.result) + at;
      if (!e_.final_) return e_.out_.encode(sums, n, to);
      space_.codes.resize(n * static_cast<std::size_t>(e_.out_.bytes()));
      e_.out_.encode(sums, n, space_.codes.data());
      (*e_.final_)(space_.codes.data(), n, p_.where(y, x), to);
    }
    static bool is_doubtful(Zeros doubtful, T zero) {
      using std::signbit;
      return doubtful == Zeros::all || signbit(zero);
    }
    void doubt(TileState& tile, const Outputs& x) {
      tile.again = e_.has_careful();
      if (!tile.again) leave(x);
    }

    // For another engine. The reference computes an output at a time, others faster among whole
    // rows: there each costs a third, and a few more begin every call.
    void leave(const Outputs& x) {
      if (e_.fallback_.engine == "reference") return again(x);
      if (too_many_left()) return;
      constexpr std::size_t times = 3, to_begin = 6;
      auto& left = space_.left;
      cost_left_ += times * x.n;
      if (!left.empty() && left.back().row == x.row &&
          left.back().column + left.back().n == x.column)
        left.back().n += x.n;
      else
        left.push_back(x), cost_left_ += times * to_begin;
    }
    bool too_many_left() const { return cost_left_ > all_left_; }
    void again(const Outputs& x) const {
      e_.fallback_.product->run(tile(e_.unit_, p_, x.row, x.column, 1, x.n), 0, 1);
    }

    const TiledProduct& e_;
    const MatrixProduct& p_;
    std::size_t width_, row_ = 0, rows_ = 0, column_ = 0, columns_ = 0, tiles_down_ = 0,
                        panels_ = 0;
    std::size_t step_ = 0, steps_ = 0, depth_ = 0;  // along k: first, of this part, with padding
    std::size_t first_ = 0, last_ = 0;              // tiles down whose rows are loaded
    bool once_more_ = false;
    std::size_t cost_left_ = 0, all_left_ = 0;  // in outputs
    Buffers& space_;
  };

  Tiling tiling_;
  Unit unit_;
  std::size_t k_;
  std::optional<FinalRounding> final_;
  Prepared fallback_;
};

}  // namespace widthwise
