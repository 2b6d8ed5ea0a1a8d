#pragma once
#include <algorithm>

#include "widthwise/datapath/chain.hpp"
#include "widthwise/sim/dot.hpp"

// Where an output of a matrix product finds its operands. Plain data and constexpr: threads of a
// GPU take it as it is.
namespace widthwise {

// Element (i, j) as its format reads it.
template <class H>
constexpr Factor<H> element(const Layout<H>& f, const CodeMatrix& x, std::size_t i, std::size_t j) {
  const int bytes = item_bytes(f.format.width());
  const auto at =
      (static_cast<std::ptrdiff_t>(i) * x.row + static_cast<std::ptrdiff_t>(j) * x.column) * bytes;
  return factor(f, load_code<H>(static_cast<const std::byte*>(x.data) + at, bytes));
}

// Of a product of length k whose unit takes the elements of k in this order.
template <class M, class H>
struct Gather {
  const Datapath<M, H>& unit;
  const MatrixProduct& p;
  std::size_t k;
  const std::size_t* order;

  // Of lane t; past the last one zeros.
  constexpr Factor<H> a(std::size_t i, std::size_t t) const {
    return t < k ? condition(unit.unit.a, element(unit.a, p.a, i, order[t])) : no_factor<H>();
  }
  constexpr Factor<H> b(std::size_t t, std::size_t j) const {
    return t < k ? condition(unit.unit.b, element(unit.b, p.b, order[t], j)) : no_factor<H>();
  }
  constexpr Factor<H> scale_a(std::size_t i, std::size_t t) const {
    return unit.scale ? scale(p.scale_a, i, block_of(t)) : no_factor<H>();
  }
  constexpr Factor<H> scale_b(std::size_t t, std::size_t j) const {
    return unit.scale ? scale(p.scale_b, block_of(t), j) : no_factor<H>();
  }
  constexpr Lane<H> lane(std::size_t i, std::size_t j, std::size_t t) const {
    return {a(i, t), b(t, j), scale_a(i, t), scale_b(t, j)};
  }
  constexpr Factor<H> addend(std::size_t i, std::size_t j) const {
    return condition(unit.unit.c,
                     p.c.data ? element(unit.c, p.c, i, j) : cleared<H>(unit.unit.c.fmt));
  }

  // Output (i, j), or a step of it.
  constexpr void store(std::size_t at, const H& code, Flags flags) const {
    const int bytes = item_bytes(result_round(unit.unit).fmt.width());
    store_code(static_cast<std::byte*>(p.result) + at * static_cast<std::size_t>(bytes), bytes,
               code);
    if (p.flags) p.flags[at] = static_cast<std::uint8_t>(flags);
  }

 private:
  // The scale block of lane t; padding takes the last element's.
  constexpr std::size_t block_of(std::size_t t) const {
    return k == 0 ? 0
                  : order[std::min(t, k - 1)] / static_cast<std::size_t>(unit.unit.scale->block);
  }
  constexpr Factor<H> scale(const CodeMatrix& x, std::size_t i, std::size_t j) const {
    if (k == 0) return {{}, {}, {}, H(1), {}, {}};  // no block, no scale: 1
    return element(*unit.scale, x, i, j);
  }
};

// Lanes of a product of length k, padded to whole blocks: at least one.
template <class M, class H>
constexpr std::size_t padded_lanes(const Datapath<M, H>& u, std::size_t k) {
  const std::size_t block = std::max<std::size_t>(block_lanes(u, k), 1);
  return std::max<std::size_t>(1, (k + block - 1) / block) * block;
}

}  // namespace widthwise
