#include "tensor.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels.hpp"
#include "sim/engine/packing.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/codes.hpp"

// Matrix products of tensor units: codes become floats with their exponents beside them, panel by
// panel, tiles of sums run over them block by block, and what the lanes cannot vouch for is done by
// the reference.
namespace widthwise::tensor {
namespace {

constexpr std::size_t block_rows = 256, block_columns = 1024, panel_depth = 256;
static_assert(block_rows % tile_rows == 0 && block_columns % tile_columns == 0);

constexpr std::size_t round_up(std::size_t x, std::size_t to) { return (x + to - 1) / to * to; }

// The codes of a matrix as floats.
class Reader {
 public:
  explicit Reader(const Operand& x)
      : bytes_(item_bytes(x.fmt.width())),
        emin_(x.fmt.emin()),
        max_finite_(Layout<std::uint64_t>(x.fmt).max_finite),
        layout_{x.fmt.frac_bits, x.fmt.magnitude_bits(),
                x.fmt.bias,      x.fmt.emin(),
                used_bits(x),    x.fmt.emin() == -126 ? 0 : std::uint32_t{1} << x.fmt.frac_bits},
        decode_(codec().decode) {}

  std::int32_t emin() const { return static_cast<std::int32_t>(emin_); }
  bool finite(std::uint32_t magnitude) const { return magnitude <= max_finite_; }

  // Codes first … first + n - 1 along a stride, through `held` where they do not lie side by side.
  // Returns the largest magnitude, as a code.
  std::uint32_t read(const CodeMatrix& x, std::ptrdiff_t first, std::ptrdiff_t stride,
                     std::size_t n, std::vector<std::byte>& held, float* numbers) const {
    return decode_(layout_, side_by_side(x, first, stride, n, bytes_, held), bytes_, n, numbers);
  }

 private:
  static std::uint32_t used_bits(const Operand& x) {
    return ~std::uint32_t{0} << (x.fmt.frac_bits - x.keep_frac.value_or(x.fmt.frac_bits));
  }

  int bytes_;
  std::int64_t emin_;
  std::uint64_t max_finite_;
  CodeLayout layout_;
  std::uint32_t (*decode_)(const CodeLayout&, const void*, int, std::size_t, float*);
};

// All bits of a float but those below its first `frac` fraction bits.
constexpr std::uint32_t mask_of(std::int64_t frac) {
  return ~std::uint32_t{0} << (23 - std::min<std::int64_t>(frac, 23));
}

Constants constants(const Plan& p, const Unit& u) {
  const float largest = p.finish == Finish::nearest ? 65504.0f : 0x1.fffffep127f;
  return {.lanes = static_cast<std::size_t>(p.lanes),
          .chunk = static_cast<std::size_t>(p.chunk),
          .frac_bits = static_cast<std::int32_t>(p.frac_bits),
          .least = static_cast<std::int32_t>(p.least),
          .floor = static_cast<std::int32_t>(p.floor),
          .c_emin = static_cast<std::int32_t>(u.c.fmt.emin()),
          .kept = mask_of(p.kept),
          .c_kept = p.finish == Finish::nearest ? ~std::uint32_t{0}
                                                : mask_of(std::min(p.kept, p.frac_bits)),
          .largest = std::bit_cast<std::int32_t>(largest)};
}

template <class Exponent>
class TensorProduct final : public ProductEngine {
 public:
  TensorProduct(const ProductTask& task, const Plan& plan)
      : unit_(task.unit),
        k_(task.k),
        plan_(plan),
        a_(unit_.a),
        b_(unit_.b),
        c_(unit_.c),
        constants_(constants(plan, unit_)),
        kernel_(kernel<Exponent>(plan.finish)),
        exponents_(field_exponents<Exponent>()),
        reference_(make_reference(unit_, k_)) {}

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    const MachineRounding mode(RoundingMode::rne);
    Work work(*this, p);
    for (std::size_t row = first; row < last; row += block_rows)
      for (std::size_t column = 0; column < p.n; column += block_columns)
        work.block(row, std::min(row + block_rows, last), column,
                   std::min(column + block_columns, p.n));
  }

 private:
  // Rows of floats with their exponents; zeros where nothing was read.
  struct Panel {
    std::vector<float> numbers;
    std::vector<Exponent> exponents;
    void clear(std::size_t n) {
      numbers.assign(n, 0);
      exponents.assign(n, of_zero<Exponent>);
    }
  };

  // One thread's buffers.
  class Work {
   public:
    Work(const TensorProduct& engine, const MatrixProduct& p) : e_(engine), p_(p) {}

    // Outputs of rows [row, row_end), columns [column, column_end).
    void block(std::size_t row, std::size_t row_end, std::size_t column, std::size_t column_end) {
      row_ = row, rows_ = row_end - row, column_ = column, columns_ = column_end - column;
      tiles_down_ = (rows_ + tile_rows - 1) / tile_rows;
      panels_ = (columns_ + tile_columns - 1) / tile_columns;
      tiles_.assign(tiles_down_ * panels_, {});
      sums_.assign(tiles_.size() * tile_rows * tile_columns, 0);
      load_addends();
      const std::size_t lanes = e_.constants_.lanes, most = round_up(panel_depth, lanes);
      for (std::size_t k = 0; k < e_.k_; k += most) {
        steps_ = std::min(most, e_.k_ - k);
        depth_ = round_up(steps_, lanes);  // a short block has zeros in its last lanes
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
      bool minus = false;         // an addend has a minus sign, be it a zero
      bool product_seen = false;  // one that is not zero
    };
    TileState& state(std::size_t i, std::size_t panel) { return tiles_[panel * tiles_down_ + i]; }
    float* sums(std::size_t i, std::size_t panel) {
      return &sums_[(panel * tiles_down_ + i) * tile_rows * tile_columns];
    }
    std::size_t rows_of(std::size_t i) const { return std::min(tile_rows, rows_ - i * tile_rows); }
    std::size_t columns_of(std::size_t panel) const {
      return std::min(tile_columns, columns_ - panel * tile_columns);
    }

    void load_addends() {
      if (!p_.c.data) return;
      for (std::size_t panel = 0; panel < panels_; ++panel)
        for (std::size_t i = 0; i < tiles_down_; ++i)
          for (std::size_t r = 0; r < rows_of(i); ++r) {
            float* at = sums(i, panel) + r * tile_columns;
            const auto y = static_cast<std::ptrdiff_t>(row_ + i * tile_rows + r);
            const auto x = static_cast<std::ptrdiff_t>(column_ + panel * tile_columns);
            const std::size_t n = columns_of(panel);
            const std::uint32_t most =
                e_.c_.read(p_.c, y * p_.c.row + x * p_.c.column, p_.c.column, n, held_, at);
            state(i, panel).hostile |= !e_.c_.finite(most);
            state(i, panel).minus |=
                std::any_of(at, at + n, [](float v) { return std::signbit(v); });
          }
    }

    void load_rows(std::size_t k) {
      rows_a_.clear(tiles_down_ * tile_rows * depth_);
      most_a_.assign(tiles_down_, 0);
      for (std::size_t r = 0; r < rows_; ++r) {
        const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(row_ + r) * p_.a.row +
                                     static_cast<std::ptrdiff_t>(k) * p_.a.column;
        std::uint32_t& most = most_a_[r / tile_rows];
        float* at = &rows_a_.numbers[r * depth_];
        most = std::max(most, e_.a_.read(p_.a, first, p_.a.column, steps_, held_, at));
        e_.exponents_(at, steps_, e_.a_.emin(), &rows_a_.exponents[r * depth_]);
      }
    }

    void load_panel(std::size_t k, std::size_t panel) {
      panel_b_.clear(depth_ * tile_columns);
      most_b_ = 0;
      for (std::size_t i = 0; i < steps_; ++i) {
        const std::ptrdiff_t first =
            static_cast<std::ptrdiff_t>(k + i) * p_.b.row +
            static_cast<std::ptrdiff_t>(column_ + panel * tile_columns) * p_.b.column;
        float* at = &panel_b_.numbers[i * tile_columns];
        most_b_ =
            std::max(most_b_, e_.b_.read(p_.b, first, p_.b.column, columns_of(panel), held_, at));
      }
      e_.exponents_(panel_b_.numbers.data(), steps_ * tile_columns, e_.b_.emin(),
                    panel_b_.exponents.data());
    }

    void multiply(std::size_t i, std::size_t panel) {
      TileState& tile = state(i, panel);
      tile.hostile |= !e_.a_.finite(most_a_[i]) || !e_.b_.finite(most_b_);
      if (tile.hostile) return;
      tile.product_seen |= most_a_[i] != 0 && most_b_ != 0;
      const std::size_t at = i * tile_rows * depth_;
      tile.hostile =
          !e_.kernel_({&rows_a_.numbers[at], &rows_a_.exponents[at], depth_,
                       panel_b_.numbers.data(), panel_b_.exponents.data(), sums(i, panel), depth_},
                      e_.constants_);
    }

    // Which sign a zero sum has is not always plain from the sum (docs/exactness.md, 11).
    bool doubtful(const TileState& tile, float sum) const {
      if (sum != 0) return false;
      const bool vanishes = e_.plan_.finish == Finish::nearest || !e_.plan_.survives;
      return tile.minus || (vanishes && tile.product_seen);
    }

    void deliver(std::size_t i, std::size_t panel) {
      const TileState& tile = state(i, panel);
      const std::size_t x = column_ + panel * tile_columns, n = columns_of(panel);
      for (std::size_t r = 0; r < rows_of(i); ++r) {
        const std::size_t y = row_ + i * tile_rows + r;
        if (tile.hostile) {
          again(y, x, n);
          continue;
        }
        const float* from = sums(i, panel) + r * tile_columns;
        write(from, n, y * p_.n + x);
        for (std::size_t j = 0; j < n; ++j)
          if (doubtful(tile, from[j])) again(y, x + j, 1);
      }
    }
    void write(const float* from, std::size_t n, std::size_t first) const {
      auto* to = static_cast<std::byte*>(p_.result);
      if (e_.plan_.finish == Finish::nearest)
        codec().encode_binary16(from, n, to + first * sizeof(std::uint16_t));
      else
        std::memcpy(to + first * sizeof(float), from, n * sizeof(float));
    }
    void again(std::size_t y, std::size_t x, std::size_t n) const {
      e_.reference_->run(widthwise::tile(e_.unit_, p_, y, x, 1, n), 0, 1);
    }

    const TensorProduct& e_;
    const MatrixProduct& p_;
    std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0, tiles_down_ = 0, panels_ = 0;
    std::size_t steps_ = 0, depth_ = 0;  // along k: of this part, and with its padding
    std::vector<TileState> tiles_;
    std::vector<float> sums_;
    Panel rows_a_, panel_b_;
    std::vector<std::uint32_t> most_a_;
    std::uint32_t most_b_ = 0;
    std::vector<std::byte> held_;
  };

  Unit unit_;
  std::size_t k_;
  Plan plan_;
  Reader a_, b_, c_;
  Constants constants_;
  Kernel<Exponent> kernel_;
  FieldExponents<Exponent> exponents_;
  std::unique_ptr<ReferenceUnit> reference_;
};

// Products a second of one core on AVX-512, measured: the end of a block costs as much as some more
// products.
double rate(const Plan& plan) {
  const auto lanes = static_cast<double>(plan.lanes);
  const double ending = plan.finish == Finish::nearest ? 7 : 5;
  return 16e9 * lanes / (lanes + ending) * (plan.wide ? 0.9 : 1);
}

Opinion refusal(const std::string& why) { return {"tensor", false, why, 0}; }

}  // namespace

Opinion opinion(const ProductTask& task) {
  if (task.multiplier) return refusal("products of the user's own");
  if (task.flags) return refusal("flags are wanted");
  if (task.k == 0) return refusal("there is nothing to multiply");
  const Answer answer = plan(task.unit);
  if (!answer.plan) return refusal(answer.reason);
  return {"tensor", true, answer.reason + "; " + target_name(), rate(*answer.plan)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  const Plan p = *plan(task.unit).plan;
  if (p.wide) return std::make_unique<TensorProduct<std::int16_t>>(task, p);
  return std::make_unique<TensorProduct<std::int8_t>>(task, p);
}

}  // namespace widthwise::tensor
