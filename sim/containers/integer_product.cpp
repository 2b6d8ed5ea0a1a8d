#include "widthwise/sim/integer_product.hpp"

#include <algorithm>
#include <limits>

#include "integer_lanes.hpp"

namespace widthwise {
namespace {

__extension__ typedef __int128 int128;  // products of 33-bit differences have 66 digits

using integer_product::panel_columns;
using integer_product::tile_rows;

std::int64_t read(const IntegerMatrix& x, std::size_t i, std::size_t j) {
  const auto at =
      static_cast<std::ptrdiff_t>(i) * x.row + static_cast<std::ptrdiff_t>(j) * x.column;
  switch (x.item.bytes * 2 + x.item.is_signed) {
    case 2: return static_cast<const std::uint8_t*>(x.data)[at];
    case 3: return static_cast<const std::int8_t*>(x.data)[at];
    case 4: return static_cast<const std::uint16_t*>(x.data)[at];
    case 5: return static_cast<const std::int16_t*>(x.data)[at];
    case 8: return static_cast<const std::uint32_t*>(x.data)[at];
    default: return static_cast<const std::int32_t*>(x.data)[at];
  }
}

std::int64_t of(const std::vector<std::int64_t>& zeros, std::size_t i) {
  return zeros[zeros.size() == 1 ? 0 : i];
}

template <class Wide>
std::int32_t saturated(Wide x) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<Wide>(x, Limits::min(), Limits::max()));
}
int128 in_16_bits(int128 x) {
  using Limits = std::numeric_limits<std::int16_t>;
  return std::clamp<int128>(x, Limits::min(), Limits::max());
}

// A sum moved by a step of any size, as it overflows.
std::int32_t moved(SumOverflow how, std::int32_t sum, int128 step) {
  if (how == SumOverflow::saturate) return saturated<int128>(sum + step);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                   static_cast<std::uint32_t>(step));
}

// Items that int16 holds in pairs.
bool is_short(IntegerItem i) { return i.bytes == 1 || (i.bytes == 2 && i.is_signed); }

std::int32_t pair(std::int64_t first, std::int64_t second) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(first & 0xffff) |
                                   static_cast<std::uint32_t>(second) << 16);
}

}  // namespace

PreparedIntegers::PreparedIntegers(const IntegerProduct& p) : p_(p) {
  const bool narrow = p_.a.item.bytes == 1 || p_.b.item.bytes == 1;  // pairs of both fit 32 bits
  quick_ = p_.overflow == SumOverflow::wrap && !p_.saturated_pairs && narrow &&
           is_short(p_.a.item) && is_short(p_.b.item);
  if (!quick_) {
    for (std::size_t k = 0; k < p_.k; ++k)
      for (std::size_t j = 0; j < p_.n; ++j) b_.push_back(read(p_.b, k, j));
    return;
  }
  const std::size_t pairs = (p_.k + 1) / 2, panels = (p_.n + panel_columns - 1) / panel_columns;
  panels_.resize(panels * pairs * panel_columns);
  b_sums_.resize(p_.n);
  for (std::size_t k = 0; k < p_.k; k += 2)
    for (std::size_t j = 0; j < p_.n; ++j) {
      const std::int64_t first = read(p_.b, k, j), second = k + 1 < p_.k ? read(p_.b, k + 1, j) : 0;
      panels_[((j / panel_columns) * pairs + k / 2) * panel_columns + j % panel_columns] =
          pair(first, second);
      b_sums_[j] += static_cast<std::uint32_t>(first + second);
    }
}

void PreparedIntegers::run(std::size_t first, std::size_t count, std::int32_t* c) const {
  if (quick_) return by_panels(first, count, c);
  for (std::size_t i = first; i < first + count; ++i)
    p_.saturated_pairs ? by_columns(i, c) : by_steps(i, c);
}

// All modulo 2^32: the products of codes, less what zero points make too much.
void PreparedIntegers::by_panels(std::size_t first, std::size_t count, std::int32_t* c) const {
  const std::size_t pairs = (p_.k + 1) / 2;
  std::vector<std::int32_t> rows(tile_rows * pairs);
  std::int32_t sums[tile_rows * panel_columns];
  const auto tile = integer_product::tile_kernel();
  for (std::size_t row = first; row < first + count; row += tile_rows) {
    const std::size_t height = std::min(tile_rows, first + count - row);
    std::uint32_t a_sums[tile_rows] = {};
    for (std::size_t r = 0; r < height; ++r)
      for (std::size_t k = 0; k < p_.k; k += 2) {
        const std::int64_t x = read(p_.a, row + r, k),
                           y = k + 1 < p_.k ? read(p_.a, row + r, k + 1) : 0;
        rows[r * pairs + k / 2] = pair(x, y);
        a_sums[r] += static_cast<std::uint32_t>(x + y);
      }
    for (std::size_t j = 0; j < p_.n; j += panel_columns) {
      tile(rows.data(), pairs, height, panels_.data() + j * pairs, pairs, sums);
      for (std::size_t r = 0; r < height; ++r) {
        const auto za = static_cast<std::uint32_t>(of(p_.zero_a, row + r));
        std::int32_t* to = c + (row + r) * p_.n;
        for (std::size_t i = j; i < std::min(j + panel_columns, p_.n); ++i) {
          const auto zb = static_cast<std::uint32_t>(of(p_.zero_b, i));
          const auto sum = static_cast<std::uint32_t>(sums[r * panel_columns + i - j]) -
                           za * b_sums_[i] - zb * a_sums[r] +
                           static_cast<std::uint32_t>(p_.k) * za * zb;
          to[i] = static_cast<std::int32_t>(sum +
                                            (p_.bias ? static_cast<std::uint32_t>(p_.bias[i]) : 0));
        }
      }
    }
  }
}

void PreparedIntegers::by_steps(std::size_t row, std::int32_t* c) const {
  std::int32_t* to = c + row * p_.n;
  for (std::size_t j = 0; j < p_.n; ++j) to[j] = p_.bias ? p_.bias[j] : 0;
  for (std::size_t k = 0; k < p_.k; ++k) {
    const std::int64_t x = read(p_.a, row, k) - of(p_.zero_a, row);
    const std::int64_t* b = b_.data() + k * p_.n;
    for (std::size_t j = 0; j < p_.n; ++j)
      to[j] = moved(p_.overflow, to[j], static_cast<int128>(x) * (b[j] - of(p_.zero_b, j)));
  }
}

void PreparedIntegers::by_columns(std::size_t row, std::int32_t* c) const {
  const std::int64_t za = of(p_.zero_a, row);
  std::vector<std::int64_t> a(p_.k + 1);
  int128 a_sum = 0;
  for (std::size_t k = 0; k < p_.k; ++k) a_sum += a[k] = read(p_.a, row, k);
  for (std::size_t j = 0; j < p_.n; ++j) {
    const auto b = [&](std::size_t k) { return k < p_.k ? b_[k * p_.n + j] : 0; };
    std::int32_t sum = p_.bias ? p_.bias[j] : 0;
    int128 b_sum = 0;
    for (std::size_t k = 0; k < p_.k; k += 2) {
      const int128 both = int128{a[k]} * b(k) + int128{a[k + 1]} * b(k + 1);
      sum = moved(p_.overflow, sum, in_16_bits(both));
      b_sum += b(k) + b(k + 1);
    }
    const std::int64_t zb = of(p_.zero_b, j);
    c[row * p_.n + j] =
        moved(p_.overflow, sum, -za * b_sum - zb * a_sum + static_cast<int128>(p_.k) * za * zb);
  }
}

}  // namespace widthwise
