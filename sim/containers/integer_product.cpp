#include "widthwise/sim/integer_product.hpp"

#include <algorithm>
#include <limits>

#include "integer_lanes.hpp"

namespace widthwise {
namespace {

__extension__ typedef __int128 int128;  // products of 33-bit differences have 66 digits

using integer_product::panel_columns;
using integer_product::tile_rows;

template <class Item, class To>
void read_items(const IntegerMatrix& x, std::size_t row, std::size_t count, To* to) {
  const auto* from = static_cast<const Item*>(x.data) + static_cast<std::ptrdiff_t>(row) * x.row;
  if (x.column == 1)
    std::copy_n(from, count, to);
  else
    for (std::size_t j = 0; j < count; ++j)
      to[j] = static_cast<To>(from[static_cast<std::ptrdiff_t>(j) * x.column]);
}

// The first elements of a row.
template <class To>
void read_row(const IntegerMatrix& x, std::size_t row, std::size_t count, To* to) {
  switch (x.item.bytes * 2 + x.item.is_signed) {
    case 2: return read_items<std::uint8_t>(x, row, count, to);
    case 3: return read_items<std::int8_t>(x, row, count, to);
    case 4: return read_items<std::uint16_t>(x, row, count, to);
    case 5: return read_items<std::int16_t>(x, row, count, to);
    case 8: return read_items<std::uint32_t>(x, row, count, to);
    default: return read_items<std::int32_t>(x, row, count, to);
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

std::int32_t pair(std::int16_t first, std::int16_t second) {
  return static_cast<std::int32_t>(static_cast<std::uint16_t>(first) |
                                   static_cast<std::uint32_t>(second) << 16);
}

}  // namespace

PreparedIntegers::PreparedIntegers(const IntegerProduct& p) : p_(p) {
  const bool narrow = p_.a.item.bytes == 1 || p_.b.item.bytes == 1;  // pairs of both fit 32 bits
  quick_ = p_.overflow == SumOverflow::wrap && !p_.saturated_pairs && narrow &&
           is_short(p_.a.item) && is_short(p_.b.item);
  if (quick_) {
    make_panels();
    return;
  }
  b_.resize(p_.k * p_.n);
  for (std::size_t k = 0; k < p_.k; ++k) read_row(p_.b, k, p_.n, b_.data() + k * p_.n);
}

void PreparedIntegers::make_panels() {
  const std::size_t pairs = (p_.k + 1) / 2, panels = (p_.n + panel_columns - 1) / panel_columns;
  panels_.resize(panels * pairs * panel_columns);
  b_sums_.resize(panels * panel_columns);
  std::vector<std::int16_t> first(panels * panel_columns), second(first);
  for (std::size_t k = 0; k < p_.k; k += 2) {
    read_row(p_.b, k, p_.n, first.data());
    if (k + 1 < p_.k)
      read_row(p_.b, k + 1, p_.n, second.data());
    else
      std::fill(second.begin(), second.end(), 0);
    for (std::size_t j = 0; j < first.size(); j += panel_columns) {
      std::int32_t* to = panels_.data() + j * pairs + k / 2 * panel_columns;
      for (std::size_t i = 0; i < panel_columns; ++i) {
        to[i] = pair(first[j + i], second[j + i]);
        b_sums_[j + i] += static_cast<std::uint32_t>(first[j + i] + second[j + i]);
      }
    }
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
  std::vector<std::int16_t> codes(2 * pairs);
  std::int32_t sums[tile_rows * panel_columns];
  const auto tile = integer_product::tile_kernel();
  for (std::size_t row = first; row < first + count; row += tile_rows) {
    const std::size_t height = std::min(tile_rows, first + count - row);
    std::uint32_t a_sums[tile_rows] = {};
    for (std::size_t r = 0; r < height; ++r) {
      read_row(p_.a, row + r, p_.k, codes.data());
      for (std::size_t k = 0; k < pairs; ++k) {
        rows[r * pairs + k] = pair(codes[2 * k], codes[2 * k + 1]);
        a_sums[r] += static_cast<std::uint32_t>(codes[2 * k] + codes[2 * k + 1]);
      }
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

// Differences of up to 16-bit codes have products of 34 bits, others of 66.
void PreparedIntegers::by_steps(std::size_t row, std::int32_t* c) const {
  if (p_.a.item.bytes <= 2 && p_.b.item.bytes <= 2)
    in_steps<std::int64_t>(row, c);
  else
    in_steps<int128>(row, c);
}

template <class Wide>
void PreparedIntegers::in_steps(std::size_t row, std::int32_t* c) const {
  std::int32_t* to = c + row * p_.n;
  for (std::size_t j = 0; j < p_.n; ++j) to[j] = p_.bias ? p_.bias[j] : 0;
  std::vector<std::int64_t> a(p_.k);
  read_row(p_.a, row, p_.k, a.data());
  const std::size_t every_zero = p_.zero_b.size() == 1 ? 0 : 1;
  for (std::size_t k = 0; k < p_.k; ++k) {
    const auto x = static_cast<Wide>(a[k] - of(p_.zero_a, row));
    const std::int64_t *b = b_.data() + k * p_.n, *zero = p_.zero_b.data();
    if (p_.overflow == SumOverflow::saturate)
      for (std::size_t j = 0; j < p_.n; ++j)
        to[j] = saturated<Wide>(to[j] + x * (b[j] - zero[j * every_zero]));
    else
      for (std::size_t j = 0; j < p_.n; ++j)
        to[j] = static_cast<std::int32_t>(
            static_cast<std::uint32_t>(to[j]) +
            static_cast<std::uint32_t>(x * (b[j] - zero[j * every_zero])));
  }
}

void PreparedIntegers::by_columns(std::size_t row, std::int32_t* c) const {
  const std::int64_t za = of(p_.zero_a, row);
  std::vector<std::int64_t> a(p_.k + 1);
  read_row(p_.a, row, p_.k, a.data());
  int128 a_sum = 0;
  for (const std::int64_t x : a) a_sum += x;
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
