#include "recode.hpp"

#include <algorithm>
#include <utility>

#include "sim/engine/code_copy.hpp"
#include "widthwise/layout.hpp"

namespace widthwise::narrowed {
namespace {

constexpr std::uint64_t low_bits(int n) { return (std::uint64_t{1} << n) - 1; }

// The magnitudes of numbers seen, less 1: so that zeros, of all magnitudes, are the highest.
struct Seen {
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;

  void take(std::uint64_t magnitude) {
    lowest = std::min(lowest, magnitude - 1);
    highest = std::max(highest, magnitude);
  }
};

// The copy of a row ends with a line more, which few columns do not pay for.
constexpr std::size_t few_columns = 8;

// An item of so many bytes: 2 for the least format that holds the window.
template <class Do>
void with_item(int bytes, const Do& what) {
  if (bytes == 2) return what(std::uint16_t{});
  if (bytes == 4) return what(std::uint32_t{});
  what(std::uint64_t{});
}

}  // namespace

Recoding::Recoding(const Format& f)
    : bytes_(item_bytes(f.width())),
      narrow_bytes_(item_bytes(narrowed(f).width())),
      sign_(f.magnitude_bits()),
      narrow_sign_(narrowed(f).magnitude_bits()),
      frac_bits_(f.frac_bits),
      bias_(f.bias),
      moved_(static_cast<std::uint64_t>(f.bias - narrowed(f).bias) << f.frac_bits),
      infinity_(Layout<std::uint64_t>(f).infinity),
      narrow_infinity_(Layout<std::uint64_t>(narrowed(f)).infinity) {}

// Narrow items are no longer than wide ones.
template <class Do>
void Recoding::with_items(const Do& what) const {
  with_item(bytes_, [&](auto wide) {
    with_item(narrow_bytes_, [&](auto narrow) {
      if constexpr (sizeof narrow <= sizeof wide) what(wide, narrow);
    });
  });
}

template <class Wide, class Narrow>
Recoding::Part Recoding::narrow_items(const CodeMatrix& x, std::size_t rows, std::size_t columns,
                                      std::vector<std::byte>& to) const {
  // The copy's items are at least as long as the new ones, which take their places.
  const CodeMatrix held = copy_by_rows(x, bytes_, rows, columns, to);
  constexpr auto ratio = static_cast<std::ptrdiff_t>(sizeof(Wide) / sizeof(Narrow));
  Seen seen;
  for (std::size_t i = 0; i < rows; ++i) {
    std::byte* const row = &to[i * static_cast<std::size_t>(held.row) * sizeof(Wide)];
    for (std::size_t j = 0; j < columns; ++j) {
      const auto code = load_code<std::uint64_t>(row + j * sizeof(Wide), sizeof(Wide));
      const std::uint64_t magnitude = code & low_bits(sign_), sign = code >> sign_;
      const bool number = magnitude < infinity_;
      seen.take(number ? magnitude : 0);
      const std::uint64_t narrow = magnitude == 0 ? 0
                                   : number       ? magnitude - moved_
                                                  : magnitude - infinity_ + narrow_infinity_;
      store_code(row + j * sizeof(Narrow), sizeof(Narrow), narrow | sign << narrow_sign_);
    }
  }
  Part z{{to.data(), held.row * ratio, 1}, {}};
  if (seen.highest == 0) return z;
  const auto exponent = [&](std::uint64_t magnitude) {
    return static_cast<std::int64_t>(magnitude >> frac_bits_) - bias_;
  };
  z.span = {exponent(seen.lowest + 1), exponent(seen.highest)};
  return z;
}

Recoding::Part Recoding::narrow(const CodeMatrix& x, std::size_t rows, std::size_t columns,
                                std::vector<std::byte>& to) const {
  if (columns < few_columns && columns < rows) {
    Part z = narrow({x.data, x.column, x.row}, columns, rows, to);
    std::swap(z.codes.row, z.codes.column);
    return z;
  }
  Part z;
  with_items([&](auto wide, auto item) {
    z = narrow_items<decltype(wide), decltype(item)>(x, rows, columns, to);
  });
  return z;
}

template <class Wide, class Narrow>
void Recoding::widen_items(const std::byte* narrow, std::size_t n, std::byte* to) const {
  for (std::size_t i = 0; i < n; ++i) {
    const auto code = load_code<std::uint64_t>(narrow + i * sizeof(Narrow), sizeof(Narrow));
    const std::uint64_t magnitude = code & low_bits(narrow_sign_);
    const std::uint64_t sign = code >> narrow_sign_ << sign_;
    const std::uint64_t wide = magnitude == 0 ? 0
                               : magnitude < narrow_infinity_
                                   ? magnitude + moved_
                                   : magnitude - narrow_infinity_ + infinity_;
    store_code(to + i * sizeof(Wide), sizeof(Wide), wide | sign);
  }
}

void Recoding::widen(const std::byte* narrow, std::size_t n, std::byte* to) const {
  with_items(
      [&](auto wide, auto item) { widen_items<decltype(wide), decltype(item)>(narrow, n, to); });
}

}  // namespace widthwise::narrowed
