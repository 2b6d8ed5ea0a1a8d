#include "lanes.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels.hpp"
#include "sim/engine/packing.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/codes.hpp"

// Matrix products in float and double lanes: codes become numbers of the carrier, panel by panel,
// tiles of sums run over them, and what the lanes cannot vouch for is done by the reference.
namespace widthwise::lanes {
namespace {

constexpr std::size_t block_rows = 256, block_columns = 1024, block_depth = 2048;
static_assert(block_rows % tile_rows == 0 && block_columns % tile_columns<float> == 0);

// A format's codes as numbers of T, times 2^scale, and back.
template <class T>
class Codec {
 public:
  Codec(const Format& f, bool native, int scale = 0)
      : native_(native),
        up_(std::ldexp(T{1}, scale)),
        down_(std::ldexp(T{1}, -scale)),
        bytes_(item_bytes(f.width())),
        layout_(f),
        code_layout_{f.frac_bits, f.magnitude_bits(), f.bias, f.emin(),
                     static_cast<std::uint64_t>(layout_.hidden)},
        decoder_(decoder<T>()) {}

  int bytes() const { return bytes_; }
  bool finite(std::uint64_t magnitude) const { return magnitude <= layout_.max_finite; }
  double largest() const { return number(layout_.max_finite); }
  // Not scaled.
  double number(std::uint64_t code) const {
    std::byte item[8];
    store_code(item, bytes_, code);
    T x;
    decode(item, 1, &x);
    return static_cast<double>(x * down_);
  }

  // Returns the largest magnitude, as a code.
  std::uint64_t decode(const void* codes, std::size_t n, T* numbers) const {
    if (!native_) {
      const std::uint64_t most = decoder_.decode(code_layout_, codes, bytes_, n, numbers);
      if (up_ != 1)
        for (std::size_t i = 0; i < n; ++i) numbers[i] *= up_;
      return most;
    }
    std::memcpy(numbers, codes, n * sizeof(T));
    return 0;  // whatever it is, the hardware takes it
  }

  // Codes first … first + n - 1 along a stride, through `held` where they do not lie side by side.
  std::uint64_t decode(const CodeMatrix& x, std::ptrdiff_t first, std::ptrdiff_t stride,
                       std::size_t n, std::vector<std::byte>& held, T* numbers) const {
    return decode(side_by_side(x, first, stride, n, bytes_, held), n, numbers);
  }

  // Takes the scale off the numbers.
  void encode(T* numbers, std::size_t n, void* codes) const {
    if (up_ != 1)
      for (std::size_t i = 0; i < n; ++i) numbers[i] *= down_;
    if (!native_) return decoder_.encode(code_layout_, numbers, n, bytes_, codes);
    auto* at = static_cast<std::byte*>(codes);
    std::memcpy(at, numbers, n * sizeof(T));
    for (std::size_t i = 0; i < n; ++i)
      if (std::isnan(numbers[i]))
        store_code(at + i * sizeof(T), bytes_, static_cast<std::uint64_t>(layout_.nan_code));
  }

 private:
  bool native_;
  T up_, down_;
  int bytes_;
  Layout<std::uint64_t> layout_;
  CodeLayout code_layout_;
  Decoder<T> decoder_;
};

template <class T>
T two_to(std::int64_t e) {
  return std::ldexp(T{1}, static_cast<int>(e));
}

// The largest magnitude that may meet an S = 2^(D - p) without passing the carrier's end.
double room(const Carrier& carrier, const Format& f) {
  return std::ldexp(1.0, static_cast<int>(carrier.emax - (carrier.digits - f.precision()) - 2));
}

template <class T>
Constants<T> constants(const Plan& plan, const Unit& u) {
  Constants<T> z{};
  const auto fill = [&](const Format& f, T& up, T& least) {
    const int spread = plan.carrier.digits - f.precision();
    up = two_to<T>(spread);
    least = T{1.5} * two_to<T>(f.emin() + spread);
  };
  if (plan.multiply == Multiply::rounded) fill(u.product.round->fmt, z.product_up, z.product_least);
  if (plan.add != Add::native) fill(u.out.fmt, z.sum_up, z.sum_least);
  if (u.product.round) z.product_cut = plan.carrier.digits - u.product.round->fmt.precision();
  z.sum_cut = plan.carrier.digits - u.out.fmt.precision();
  return z;
}

// How often a tile has to look at its sums, and what they may be then, so that none overflows in
// between (docs/exactness.md, 4).
template <class T>
struct Watch {
  std::size_t interval = 0;  // 0: the tile is not for the lanes
  T limit = 0;
};

template <class T>
class LaneProduct final : public ProductEngine {
 public:
  LaneProduct(const ProductTask& task, const Plan& plan)
      : unit_(task.unit),
        k_(task.k),
        plan_(plan),
        native_(plan.add == Add::native),
        a_(unit_.a.fmt, native_, plan.scale),
        b_(unit_.b.fmt, native_),
        c_(unit_.c.fmt, native_, plan.scale),
        out_(unit_.out.fmt, native_, plan.scale),
        constants_(constants<T>(plan, unit_)),
        kernel_(kernel<T>(plan.multiply, plan.add, plan.mode)),
        reference_(make_reference(unit_, k_)) {}

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    const MachineRounding mode(plan_.mode);
    Work work(*this, p);
    for (std::size_t row = first; row < last; row += block_rows)
      for (std::size_t column = 0; column < p.n; column += block_columns)
        work.block(row, std::min(row + block_rows, last), column,
                   std::min(column + block_columns, p.n));
  }

 private:
  static constexpr std::size_t width = tile_columns<T>;

  // What a number rounded to f may have become, in any mode.
  static double rounded(double x, const Format& f) {
    return x * (1 + std::ldexp(2.0, -f.precision())) +
           std::ldexp(1.0, static_cast<int>(f.emin() - f.frac_bits));
  }

  Watch<T> watch(double a, double b) const {
    if (native_) return {1, 0};
    const Carrier& carrier = plan_.carrier;
    const Format& to = unit_.out.fmt;
    double bound = a * b;
    if (unit_.product.round) {
      const Format& f = unit_.product.round->fmt;
      const double room_here = room(carrier, f);
      bound = rounded(bound, f);
      if (a > room_here || bound > std::min(Codec<T>(f, false).largest(), room_here)) return {};
    }
    const double most = std::min(out_.largest(), room(carrier, to));
    for (const std::size_t interval : {16, 4, 1}) {
      const auto n = static_cast<double>(interval);
      const double growth = std::pow(1 + std::ldexp(2.0, -to.precision()), n);
      const double limit = (most / growth - n * rounded(bound, to)) * (1 - 1e-6);
      if (limit > (interval > 1 ? most / 2 : 0))
        return {interval, static_cast<T>(std::ldexp(limit, plan_.scale))};
    }
    return {};
  }

  // One thread's buffers.
  class Work {
   public:
    Work(const LaneProduct& engine, const MatrixProduct& p) : e_(engine), p_(p) {}

    // Outputs of rows [row, row_end), columns [column, column_end).
    void block(std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
      row_ = row, rows_ = row_end - row, column_ = column, columns_ = column_end - column;
      tiles_down_ = (rows_ + tile_rows - 1) / tile_rows;
      panels_ = (columns_ + width - 1) / width;
      tiles_.assign(tiles_down_ * panels_, {});
      sums_.assign(tiles_.size() * tile_rows * width, T{});
      load_addends();
      for (std::size_t k = 0; k < e_.k_; k += block_depth) {
        depth_ = std::min(block_depth, e_.k_ - k);
        load_rows(k);
        for (std::size_t panel = 0; panel < panels_; ++panel) {
          load_panel(k, panel);
          for (std::size_t i = 0; i < tiles_down_; ++i) multiply(i, panel);
        }
      }
      for (std::size_t panel = 0; panel < panels_; ++panel)
        for (std::size_t i = 0; i < tiles_down_; ++i) deliver(i, panel);
    }

   private:
    struct TileState {
      bool hostile = false;       // for the reference
      bool minus_zero = false;    // an addend is -0: the sign of a zero sum is not ours to tell
      bool product_seen = false;  // one that is not zero
    };
    TileState& state(std::size_t i, std::size_t panel) { return tiles_[panel * tiles_down_ + i]; }
    T* sums(std::size_t i, std::size_t panel) {
      return &sums_[(panel * tiles_down_ + i) * tile_rows * width];
    }
    std::size_t rows_of(std::size_t i) const { return std::min(tile_rows, rows_ - i * tile_rows); }
    std::size_t columns_of(std::size_t panel) const {
      return std::min(width, columns_ - panel * width);
    }

    void load_addends() {
      if (!p_.c.data) return;
      for (std::size_t panel = 0; panel < panels_; ++panel)
        for (std::size_t i = 0; i < tiles_down_; ++i)
          for (std::size_t r = 0; r < rows_of(i); ++r) {
            T* at = sums(i, panel) + r * width;
            const auto y = static_cast<std::ptrdiff_t>(row_ + i * tile_rows + r);
            const auto x = static_cast<std::ptrdiff_t>(column_ + panel * width);
            const std::size_t n = columns_of(panel);
            const std::uint64_t most =
                e_.c_.decode(p_.c, y * p_.c.row + x * p_.c.column, p_.c.column, n, held_, at);
            state(i, panel).hostile |= !e_.c_.finite(most);
            state(i, panel).minus_zero |=
                std::any_of(at, at + n, [](T v) { return v == 0 && std::signbit(v); });
          }
    }

    void load_rows(std::size_t k) {
      rows_a_.assign(tiles_down_ * tile_rows * depth_, T{});
      most_a_.assign(tiles_down_, 0);
      for (std::size_t r = 0; r < rows_; ++r) {
        const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(row_ + r) * p_.a.row +
                                     static_cast<std::ptrdiff_t>(k) * p_.a.column;
        std::uint64_t& most = most_a_[r / tile_rows];
        most = std::max(
            most, e_.a_.decode(p_.a, first, p_.a.column, depth_, held_, &rows_a_[r * depth_]));
      }
      if (e_.plan_.multiply != Multiply::rounded) return;
      up_a_.resize(rows_a_.size());
      for (std::size_t i = 0; i < rows_a_.size(); ++i)
        up_a_[i] = std::fabs(rows_a_[i]) * e_.constants_.product_up;
    }

    void load_panel(std::size_t k, std::size_t panel) {
      panel_b_.resize(depth_ * width);
      most_b_ = 0;
      const std::size_t n = columns_of(panel);
      for (std::size_t i = 0; i < depth_; ++i) {
        const std::ptrdiff_t first =
            static_cast<std::ptrdiff_t>(k + i) * p_.b.row +
            static_cast<std::ptrdiff_t>(column_ + panel * width) * p_.b.column;
        T* at = &panel_b_[i * width];
        most_b_ = std::max(most_b_, e_.b_.decode(p_.b, first, p_.b.column, n, held_, at));
        std::fill(at + n, at + width, T{});
      }
    }

    void multiply(std::size_t i, std::size_t panel) {
      TileState& tile = state(i, panel);
      if (tile.hostile) return;
      if (!e_.a_.finite(most_a_[i]) || !e_.b_.finite(most_b_)) {
        tile.hostile = true;
        return;
      }
      tile.product_seen |= most_a_[i] != 0 && most_b_ != 0;
      const Watch<T> watch = e_.watch(e_.a_.number(most_a_[i]), e_.b_.number(most_b_));
      const std::size_t at = i * tile_rows * depth_;
      const T* up = up_a_.empty() ? nullptr : &up_a_[at];
      tile.hostile =
          watch.interval == 0 || !e_.kernel_({&rows_a_[at], up, depth_, panel_b_.data(),
                                              sums(i, panel), depth_, watch.interval, watch.limit},
                                             e_.constants_);
    }

    // A zero sum has lost its sign where products or sums were rounded by way of a larger number.
    bool doubtful(const TileState& tile, T sum) const {
      if (e_.native_ || e_.plan_.add == Add::cut || sum != 0) return false;
      return tile.minus_zero || (e_.plan_.add == Add::rounded && tile.product_seen);
    }

    void deliver(std::size_t i, std::size_t panel) {
      const TileState& tile = state(i, panel);
      const std::size_t x = column_ + panel * width, n = columns_of(panel);
      for (std::size_t r = 0; r < rows_of(i); ++r) {
        const std::size_t y = row_ + i * tile_rows + r;
        if (tile.hostile) {
          again(y, x, n);
          continue;
        }
        T* from = sums(i, panel) + r * width;
        e_.out_.encode(from, n,
                       static_cast<std::byte*>(p_.result) +
                           (y * p_.n + x) * static_cast<std::size_t>(e_.out_.bytes()));
        for (std::size_t j = 0; j < n; ++j)
          if (doubtful(tile, from[j])) again(y, x + j, 1);
      }
    }
    void again(std::size_t y, std::size_t x, std::size_t n) const {
      e_.reference_->run(widthwise::tile(e_.unit_, p_, y, x, 1, n), 0, 1);
    }

    const LaneProduct& e_;
    const MatrixProduct& p_;
    std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0, depth_ = 0, tiles_down_ = 0,
                panels_ = 0;
    std::vector<TileState> tiles_;
    std::vector<T> sums_, rows_a_, up_a_, panel_b_;
    std::vector<std::uint64_t> most_a_;
    std::uint64_t most_b_ = 0;
    std::vector<std::byte> held_;
  };

  Unit unit_;
  std::size_t k_;
  Plan plan_;
  bool native_;
  Codec<T> a_, b_, c_, out_;
  Constants<T> constants_;
  Kernel<T> kernel_;
  std::unique_ptr<ReferenceUnit> reference_;
};

// Products a second of one core on AVX-512, measured; half of that with 256-bit vectors.
double rate(const Plan& plan) {
  const double full = plan.carrier.digits == 24 ? 1 : 0.5;
  if (plan.add == Add::native) return 60e9 * full;
  return (plan.multiply == Multiply::exact ? 30e9 : 18e9) * full;
}

Opinion refusal(const std::string& why) { return {"lanes", false, why, 0}; }

}  // namespace

Opinion opinion(const ProductTask& task) {
  if (task.multiplier) return refusal("products of the user's own");
  if (task.flags) return refusal("flags are wanted");
  if (task.k == 0) return refusal("there is nothing to multiply");
  const Answer answer = plan(task.unit);
  if (!answer.plan) return refusal(answer.reason);
  if (!kernel<float>(Multiply::native, Add::native))
    return refusal(std::string("this processor's lanes (") + target_name() +
                   ") have no fused multiply-add");
  return {"lanes", true, answer.reason + "; " + target_name(), rate(*answer.plan)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  const Plan p = *plan(task.unit).plan;
  if (p.carrier.digits == in_float.digits) return std::make_unique<LaneProduct<float>>(task, p);
  return std::make_unique<LaneProduct<double>>(task, p);
}

}  // namespace widthwise::lanes
