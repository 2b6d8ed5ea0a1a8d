#include "steps.hpp"

#include <algorithm>

#include "sim/engine/lines.hpp"
#include "sim/engine/row.hpp"
#include "step_kernels.hpp"
#include "step_plan.hpp"
#include "widthwise/datapath/block.hpp"

namespace widthwise::steps {
namespace {

template <class T>
struct NumberList {
  Lines<T> sig, marks;
  Lines<std::make_signed_t<T>> exp;

  void resize(std::size_t n) { sig.resize(n), exp.resize(n), marks.resize(n); }
  Numbers<T> at(std::size_t i) { return Numbers<T>{sig.data(), exp.data(), marks.data()}.at(i); }
};

template <class T>
void put(const Factor<T>& x, const Numbers<T>& to) {
  const Digits<T> digits = normalised(x, exponent_of_zero<Row<T, 2>>);
  *to.sig = digits.sig;
  *to.exp = static_cast<std::make_signed_t<T>>(digits.exp);
  *to.marks = marks_of(x);
}

// Codes of an operand as conditioned numbers.
template <class T>
class Reader {
 public:
  explicit Reader(const Operand& x)
      : operand_(x), layout_(x.fmt), bytes_(item_bytes(x.fmt.width())) {}

  void read(const CodeMatrix& m, std::size_t row, std::size_t column, const Numbers<T>& to) const {
    const std::ptrdiff_t at =
        static_cast<std::ptrdiff_t>(row) * m.row + static_cast<std::ptrdiff_t>(column) * m.column;
    const T code = load_code<T>(static_cast<const std::byte*>(m.data) + at * bytes_, bytes_);
    put(condition(operand_, factor(layout_, code)), to);
  }

 private:
  Operand operand_;
  Layout<T> layout_;
  int bytes_;
};

template <class T>
class ChainProduct final : public ProductEngine {
 public:
  explicit ChainProduct(const ProductTask& task)
      : unit_(task.unit),
        k_(task.k),
        a_(unit_.a),
        b_(unit_.b),
        c_(unit_.c),
        bytes_(item_bytes(result_round(unit_).fmt.width())),
        kernel_(kernel<T>()) {}

  void run(const MatrixProduct& p, std::size_t first, std::size_t last) const override {
    Work work(*this, p);
    for (std::size_t row = first; row < last; row += block_rows)
      for (std::size_t column = 0; column < p.n; column += block_columns)
        work.block(row, std::min(block_rows, last - row), column,
                   std::min(block_columns, p.n - column));
  }

 private:
  static constexpr std::size_t block_rows = 64, block_columns = 8 * panel_columns;

  // One thread's buffers.
  class Work {
   public:
    Work(const ChainProduct& engine, const MatrixProduct& p) : e_(engine), p_(p) {}

    void block(std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) {
      row_ = row, rows_ = rows, column_ = column, columns_ = columns;
      panels_ = (columns + panel_columns - 1) / panel_columns;
      begin();
      for (std::size_t k = 0; k < e_.k_; k += panel_depth) {
        depth_ = std::min(panel_depth, e_.k_ - k);
        load_rows(k);
        for (std::size_t panel = 0; panel < panels_; ++panel) {
          load_columns(k, panel);
          multiply(k, panel);
        }
      }
      for (std::size_t r = 0; r < rows_; ++r)
        for (std::size_t j = 0; j < columns_; ++j) deliver(r, j);
    }

   private:
    // Where output (r, j) of the block lies.
    std::size_t place(std::size_t r, std::size_t j) const {
      return (j / panel_columns * rows_ + r) * panel_columns + j % panel_columns;
    }
    std::size_t columns_of(std::size_t panel) const {
      return std::min(panel_columns, columns_ - panel * panel_columns);
    }

    void begin() {
      const std::size_t n = panels_ * rows_ * panel_columns;
      const Chain& chain = e_.unit_.chain;
      const bool c_last = chain.c_at == CAt::last;
      NumberList<T>& holds_c = c_last ? c_ : chain.promote ? outer_ : sum_;
      code_.assign(n, 0), flags_.assign(n, 0);
      for (NumberList<T>* x : {&sum_, &outer_, &c_}) {
        if (x != &sum_ && x != &holds_c && !(x == &outer_ && chain.promote)) continue;
        x->resize(n);
        for (std::size_t i = 0; i < n; ++i) put(no_factor<T>(), x->at(i));
      }
      if (!p_.c.data) return;
      for (std::size_t r = 0; r < rows_; ++r)
        for (std::size_t j = 0; j < columns_; ++j)
          e_.c_.read(p_.c, row_ + r, column_ + j, holds_c.at(place(r, j)));
    }

    void load_rows(std::size_t k) {
      a_.resize(rows_ * depth_);
      for (std::size_t r = 0; r < rows_; ++r)
        for (std::size_t i = 0; i < depth_; ++i)
          e_.a_.read(p_.a, row_ + r, k + i, a_.at(r * depth_ + i));
    }
    void load_columns(std::size_t k, std::size_t panel) {
      b_.resize(depth_ * panel_columns);
      const std::size_t first = column_ + panel * panel_columns, n = columns_of(panel);
      for (std::size_t i = 0; i < depth_; ++i)
        for (std::size_t j = 0; j < n; ++j)
          e_.b_.read(p_.b, k + i, first + j, b_.at(i * panel_columns + j));
    }

    void multiply(std::size_t k, std::size_t panel) {
      const std::size_t at = place(0, panel * panel_columns);
      e_.kernel_(e_.unit_, {a_.at(0),
                            b_.at(0),
                            {sum_.at(at), outer_.at(at), c_.at(at), &code_[at], &flags_[at]},
                            rows_,
                            columns_of(panel),
                            k,
                            depth_,
                            k + depth_ == e_.k_,
                            p_.seed,
                            p_.where(row_, column_ + panel * panel_columns).index,
                            p_.row_outputs()});
    }

    void deliver(std::size_t r, std::size_t j) const {
      const std::size_t to = p_.output(row_ + r, column_ + j), from = place(r, j);
      store_code(static_cast<std::byte*>(p_.result) + to * static_cast<std::size_t>(e_.bytes_),
                 e_.bytes_, code_[from]);
      if (p_.flags) p_.flags[to] = static_cast<std::uint8_t>(flags_[from]);
    }

    const ChainProduct& e_;
    const MatrixProduct& p_;
    std::size_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0, panels_ = 0, depth_ = 0;
    NumberList<T> a_, b_, sum_, outer_, c_;
    std::vector<T> code_, flags_;
  };

  Unit unit_;
  std::size_t k_;
  Reader<T> a_, b_, c_;
  int bytes_;
  Kernel<T> kernel_;
};

// Products a second of one core on AVX-512, measured. The quick way is in vain where numbers about
// 2^-8 round to subnormals or to zero.
double rate(const Unit& u, int digits) {
  constexpr std::int64_t small = -8;
  double z = digits == 32 ? 170e6 : 80e6;
  if (u.out.fmt.emin() > small || (u.product.round && u.product.round->fmt.emin() > small)) z /= 2;
  if (u.product.round && u.product.round->rm.stochastic()) z /= 1.35;
  if (u.out.rm.stochastic()) z /= 1.35;
  if (u.chain.promote) z /= 1 + 10 / static_cast<double>(u.chain.promote->interval);
  return z;
}

}  // namespace

Opinion opinion(const ProductTask& task) {
  const Answer answer = plan(task.unit);
  if (answer.digits == 0) return {"chain", false, answer.reason, 0};
  return {"chain", true, answer.reason + "; " + target_name(),
          rate(task.unit, answer.digits) * share_of(task, outputs_under_way)};
}

std::unique_ptr<ProductEngine> make(const ProductTask& task) {
  if (plan(task.unit).digits == 32) return std::make_unique<ChainProduct<std::uint32_t>>(task);
  return std::make_unique<ChainProduct<std::uint64_t>>(task);
}

}  // namespace widthwise::steps
