#include "widthwise/sim/integer_product.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

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

// Bytes lie so that a's have no sign and b's have one, and their zero points with them.
void PreparedIntegers::make_panels() {
  const bool bytes = p_.a.item.bytes == 1 && p_.b.item.bytes == 1;
  together_ = integer_product::tile_kernel(bytes).together;
  if (together_ == 4) {
    up_a_ = p_.a.item.is_signed ? 128 : 0;
    up_b_ = p_.b.item.is_signed ? 0 : -128;
    for (std::int64_t& z : p_.zero_a) z += up_a_;
    for (std::int64_t& z : p_.zero_b) z += up_b_;
  }
  together_ == 4 ? lay_panels<std::uint8_t, 4>() : lay_panels<std::int16_t, 2>();
}

// Words of codes of k, those past the last 0.
template <class Code, std::size_t together>
void PreparedIntegers::lay_panels() {
  const std::size_t words = words_of_k(),
                    columns = (p_.n + panel_columns - 1) / panel_columns * panel_columns;
  panels_.resize(words * columns);
  b_sums_.resize(columns);
  std::vector<std::int16_t> codes(together * columns);
  for (std::size_t word = 0; word < words; ++word) {
    std::fill(codes.begin(), codes.end(), 0);
    for (std::size_t t = 0; t < std::min(together, p_.k - word * together); ++t) {
      std::int16_t* row = codes.data() + t * columns;
      read_row(p_.b, word * together + t, p_.n, row);
      for (std::size_t j = 0; j < p_.n; ++j) {
        row[j] = static_cast<std::int16_t>(row[j] + up_b_);
        b_sums_[j] += static_cast<std::uint32_t>(row[j]);
      }
    }
    for (std::size_t j = 0; j < columns; ++j) {
      std::uint32_t all = 0;
      for (std::size_t t = 0; t < together; ++t)
        all |= std::uint32_t{static_cast<std::make_unsigned_t<Code>>(codes[t * columns + j])}
               << t * 8 * sizeof(Code);
      panels_[(j / panel_columns * words + word) * panel_columns + j % panel_columns] =
          static_cast<std::int32_t>(all);
    }
  }
}

// A row of a as words, and the sum of its codes.
template <class Code>
std::uint32_t PreparedIntegers::lay_row(std::size_t row, Code* codes) const {
  std::uint32_t sum = 0;
  read_row(p_.a, row, p_.k, codes);
  for (std::size_t k = 0; k < p_.k; ++k) {
    codes[k] = static_cast<Code>(codes[k] + up_a_);
    sum += static_cast<std::uint32_t>(codes[k]);
  }
  return sum;
}

std::size_t PreparedIntegers::words_of_k() const { return (p_.k + together_ - 1) / together_; }

void PreparedIntegers::run(std::size_t first, std::size_t count, std::int32_t* c) const {
  if (quick_) return by_panels(first, count, c);
  for (std::size_t i = first; i < first + count; ++i)
    p_.saturated_pairs ? by_columns(i, c) : by_steps(i, c);
}

// All modulo 2^32: the products of codes, less what zero points make too much.
void PreparedIntegers::by_panels(std::size_t first, std::size_t count, std::int32_t* c) const {
  const std::size_t words = words_of_k();
  std::vector<std::int32_t> rows(tile_rows * words);
  std::vector<std::uint8_t> bytes(p_.k);
  std::vector<std::int16_t> halves(p_.k);
  std::int32_t sums[tile_rows * panel_columns];
  const auto tile = integer_product::tile_kernel(together_ == 4);
  for (std::size_t row = first; row < first + count; row += tile_rows) {
    const std::size_t height = std::min(tile_rows, first + count - row);
    std::uint32_t a_sums[tile_rows] = {};
    for (std::size_t r = 0; r < height; ++r) {
      std::int32_t* to = rows.data() + r * words;
      if (together_ == 4) {
        a_sums[r] = lay_row(row + r, bytes.data());
        std::memcpy(to, bytes.data(), p_.k);
      } else {
        a_sums[r] = lay_row(row + r, halves.data());
        std::memcpy(to, halves.data(), 2 * p_.k);
      }
    }
    for (std::size_t j = 0; j < p_.n; j += panel_columns) {
      tile.run(rows.data(), words, height, panels_.data() + j * words, words, sums);
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
