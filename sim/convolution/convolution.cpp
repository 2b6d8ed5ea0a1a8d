#include "widthwise/sim/convolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/engine/tile_rows.hpp"
#include "widthwise/sim/multipliers.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "windows.hpp"

namespace widthwise {
namespace {

constexpr std::size_t panel_bytes = std::size_t{1} << 21;  // with its like, well within 32 MB

std::size_t code_bytes(const Format& f) { return static_cast<std::size_t>(item_bytes(f.width())); }

// Pixels whose windows and results about fit a panel, and whose products are worth a call and not
// much more: whole vectors of them, or few.
std::size_t panel_columns(const Convolution& c, const Unit& u, std::size_t products_at_once) {
  const std::size_t length = std::max<std::size_t>(1, c.length());
  const std::size_t filters = std::max<std::size_t>(1, c.group_filters());
  std::size_t n = std::min({panel_bytes / code_bytes(u.b.fmt) / length,
                            panel_bytes / code_bytes(result_round(u).fmt) / filters,
                            products_at_once / length / filters});
  if (n >= full_columns / 2) n = (n + full_columns / 2) / full_columns * full_columns;
  return std::clamp<std::size_t>(n, 1, std::max<std::size_t>(1, c.pixels()));
}

}  // namespace

void check(const Unit& u, const Convolution& c) {
  if (u.scale)
    throw std::invalid_argument(fmt::format(
        "unit {}: it scales blocks of its operands, and convolutions have no scales; take one "
        "that scales nothing",
        said(u)));
  const std::size_t padding = std::max(c.height.padding, c.width.padding);
  if (padding > 0 && !u.a.fmt.zero)
    throw std::invalid_argument(fmt::format(
        "padding = {}: x is {}, whose code 0 is no zero; pad x yourself", padding, said(u.a.fmt)));
}

Unit exchanged(Unit u) {
  std::swap(u.a, u.b);
  return u;
}

struct ConvolutionEngine::Panel : WindowRange {};

ConvolutionEngine::ConvolutionEngine(const Unit& unit, const Convolution& convolution, bool flags,
                                     Multiplier multiplier, std::string_view engine)
    : unit_(exchanged(unit)), convolution_(convolution) {
  check(unit);
  check(convolution);
  check(unit, convolution);
  engine_ = prepare({unit_, convolution.length(), flags, exchanged(std::move(multiplier))}, engine);
  columns_ = panel_columns(convolution, unit_, engine_.products_at_once);
}

std::size_t ConvolutionEngine::pieces() const {
  const Convolution& c = convolution_;
  if (c.filters == 0) return 0;
  return c.images * c.groups * ((c.pixels() + columns_ - 1) / columns_);
}

ConvolutionEngine::Panel ConvolutionEngine::panel(std::size_t piece) const {
  const std::size_t across = (convolution_.pixels() + columns_ - 1) / columns_;
  const std::size_t first = piece % across * columns_;
  return {{piece / across / convolution_.groups, piece / across % convolution_.groups, first,
           std::min(columns_, convolution_.pixels() - first)}};
}

// Filters times windows.
MatrixProduct ConvolutionEngine::product(const ConvolutionOperands& x, const Panel& at,
                                         const std::vector<std::byte>& windows) const {
  const auto filter = at.group * convolution_.group_filters();
  const auto moved = [](const void* data, std::ptrdiff_t elements, const Format& f) {
    return static_cast<const std::byte*>(data) +
           elements * static_cast<std::ptrdiff_t>(code_bytes(f));
  };
  const auto signed_of = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
  MatrixProduct p;
  p.m = convolution_.group_filters();
  p.n = at.count;
  p.k = convolution_.length();
  p.a = {moved(x.weights.data, signed_of(filter) * x.weights.row, unit_.a.fmt), x.weights.row,
         x.weights.column};
  p.b = {windows.data(), signed_of(at.count), 1};
  if (x.c.data)
    p.c = {moved(x.c.data,
                 signed_of(at.image) * x.c.image + signed_of(filter) * x.c.filter +
                     signed_of(at.first) * x.c.pixel,
                 unit_.c.fmt),
           x.c.filter, x.c.pixel};
  const std::size_t index =
      (at.image * convolution_.filters + filter) * convolution_.pixels() + at.first;
  p.result = static_cast<std::byte*>(x.result) + index * code_bytes(result_round(unit_).fmt);
  p.flags = x.flags ? x.flags + index : nullptr;
  p.result_row = convolution_.pixels();
  p.seed = x.seed;
  p.first_index = index;
  return p;
}

void ConvolutionEngine::run(const ConvolutionOperands& x, std::size_t piece) const {
  const Panel at = panel(piece);
  std::vector<std::byte> windows;
  gather_windows(convolution_, unit_.b.fmt, x.input, at, windows);
  const MatrixProduct p = product(x, at, windows);
  engine_.product->run(p, 0, p.m);
}

void ConvolutionEngine::run_supplied(const ConvolutionOperands& x, std::size_t piece,
                                     const ReferenceUnit& reference,
                                     std::span<const SuppliedWords> random) const {
  const Panel at = panel(piece);
  std::vector<std::byte> windows;
  gather_windows(convolution_, unit_.b.fmt, x.input, at, windows);
  const MatrixProduct p = product(x, at, windows);
  for (std::size_t i = 0; i < p.m; ++i)
    for (std::size_t j = 0; j < p.n; ++j) reference.run_supplied(p, i, j, random);
}

}  // namespace widthwise
