#include "widthwise/sim/paired_dots.hpp"

#include <algorithm>
#include <cstring>

#include "code_copy.hpp"
#include "plain.hpp"

namespace widthwise {
namespace {

// Products at a time: a cache's worth, more where that is too few dot products to fill lanes.
constexpr std::size_t cached_bytes = 1 << 20, most_bytes = 8 << 20;
constexpr std::size_t enough_dots = 64;
constexpr Format one = ieee_format(2, 1);
constexpr std::byte code_of_one{1 << 1};

// The narrowest format of codes to 64 bits that has all exact products.
std::optional<Format> exact_products(const Format& a, const Format& b) {
  const int frac_bits = a.frac_bits + b.frac_bits + 1;
  for (int exp_bits = 2; 1 + exp_bits + frac_bits <= 64; ++exp_bits) {
    const Format f = ieee_format(exp_bits, frac_bits);
    if (f.emax() > a.emax() + b.emax() && f.least_digit() <= a.least_digit() + b.least_digit())
      return f;
  }
  return std::nullopt;
}

// Every time the same, to a format that is read as it stands.
bool is_steady(const Round& r) { return is_plain(r) && !r.rm.stochastic() && !r.fmt.daz; }

// An alignment to the largest exponent asks for that of a product's operands, and an exact sum of a
// given width for their last digits.
bool asks_for_operands(const Unit& u) {
  const auto asks = [](const Sum& s) {
    return s.align.reference == Reference::max_exponent ||
           (s.align.reference == Reference::exact && s.width);
  };
  return asks(u.group_sum) || asks(u.block_sum) || asks(u.c_sum);
}

// The format of products that are numbers by themselves.
std::optional<Format> products_alone(const Unit& u) {
  const std::optional<Round>& rounded = u.product.round;
  if (!is_plain(u.a) || !is_plain(u.b) || u.scale || u.product.overflow_to_inf_at ||
      asks_for_operands(u) || (rounded && (!is_steady(*rounded) || rounded->fmt.width() > 64)))
    return std::nullopt;
  return rounded ? rounded->fmt : exact_products(u.a.fmt, u.b.fmt);
}

// One operand of n dot products, k codes each: where they lie side by side, or else brought there.
struct Factors {
  int bytes;
  std::vector<const void*> vectors{};  // one of each dot product
  std::ptrdiff_t stride = 1;           // between its codes
  std::vector<std::byte> held{};

  const void* side_by_side(std::size_t k) {
    const auto width = static_cast<std::size_t>(bytes);
    const auto code = [&](std::size_t i) { return static_cast<const std::byte*>(vectors[i]); };
    bool already = stride == 1 || k == 1;
    for (std::size_t i = 1; i < vectors.size(); ++i)
      already = already && code(i) == code(i - 1) + k * width;
    if (already) return vectors[0];
    held.resize(vectors.size() * k * width);
    std::byte* to = held.data();
    for (std::size_t i = 0; i < vectors.size(); ++i)
      for (std::size_t t = 0; t < k; ++t, to += width)
        std::memcpy(to, code(i) + static_cast<std::ptrdiff_t>(t) * stride * bytes, width);
    return held.data();
  }
};

}  // namespace

PairedDots::PairedDots(const ProductTask& task, const Unit& sums, Elementwise multiply)
    : unit_(task.unit),
      sums_(sums),
      k_(task.k),
      multiply_(std::move(multiply)),
      engine_(prepare({sums, task.k, false, {}, task.outputs}).product),
      ones_(task.k, code_of_one) {}

std::optional<PairedDots> PairedDots::of(const ProductTask& task) {
  if (task.flags || task.multiplier || task.k == 0) return std::nullopt;
  const Unit& u = task.unit;
  const std::optional<Format> products = products_alone(u);
  if (!products) return std::nullopt;
  const Format operands[] = {u.a.fmt, u.b.fmt};
  Env env;
  if (const auto& round = u.product.round) env = {round->rm, round->tininess};
  Elementwise multiply(Operation::multiply, *products, env, operands, false, task.outputs * task.k);
  Unit sums = u;
  sums.a = {.fmt = one}, sums.b = {.fmt = *products};
  return PairedDots(task, sums, std::move(multiply));
}

std::size_t PairedDots::product_bytes() const {
  return static_cast<std::size_t>(item_bytes(sums_.b.fmt.width()));
}

std::size_t PairedDots::at_once() const {
  const std::size_t one_dot = k_ * product_bytes();
  const std::size_t n =
      std::max(cached_bytes / one_dot, std::min(enough_dots, most_bytes / one_dot));
  return n < fewest ? 0 : n;
}

void PairedDots::run(const ProductBatch& batch, std::size_t first, std::size_t last) const {
  const std::size_t n = last - first;
  const auto of_c = static_cast<std::size_t>(item_bytes(unit_.c.fmt.width()));
  MatrixProduct sum = batch.at(unit_, first);
  Factors a{.bytes = item_bytes(unit_.a.fmt.width()), .stride = sum.a.column},
      b{.bytes = item_bytes(unit_.b.fmt.width()), .stride = sum.b.row};
  std::vector<std::byte> c;
  for (std::size_t i = first; i < last; ++i) {
    const MatrixProduct p = batch.at(unit_, i);
    a.vectors.push_back(p.a.data), b.vectors.push_back(p.b.data);
    const auto* of_p = static_cast<const std::byte*>(p.c.data);
    if (of_p) c.insert(c.end(), of_p, of_p + of_c);
  }
  std::vector<std::byte> rows(n * k_ * product_bytes()), columns;
  const void* operands[] = {a.side_by_side(k_), b.side_by_side(k_)};
  multiply_.run(operands, n * k_, rows.data(), nullptr);
  sum.n = n;
  sum.a = {ones_.data(), 0, 1};
  sum.b = copy_by_rows({rows.data(), 1, static_cast<std::ptrdiff_t>(k_)},
                       static_cast<int>(product_bytes()), k_, n, columns);
  if (!c.empty()) sum.c = {c.data(), 0, 1};
  engine_->run(sum, 0, 1);
}

}  // namespace widthwise
