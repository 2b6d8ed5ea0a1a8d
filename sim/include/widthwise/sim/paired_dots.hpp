#pragma once
#include <memory>
#include <optional>

#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/product_batch.hpp"

// Batches of dot products that share no operand. An engine's lanes are outputs that do: here all
// products are formed first, element by element, and are then columns that meet a row of ones
// (docs/exactness.md, 50).
namespace widthwise {

class PairedDots {
 public:
  static constexpr std::size_t fewest = 8;  // less than these fill no lanes

  // Nothing where products are more than numbers of a format, or where that would be no faster.
  static std::optional<PairedDots> of(const ProductTask& task);

  // So many dot products at a time; 0: they are too long.
  std::size_t at_once() const;
  // Dot products [first, last) of a batch of them.
  void run(const ProductBatch& batch, std::size_t first, std::size_t last) const;

 private:
  PairedDots(const ProductTask& task, const Unit& sums, Elementwise multiply);
  std::size_t product_bytes() const;

  Unit unit_, sums_;  // and the unit whose one operand is the other's products
  std::size_t k_;
  Elementwise multiply_;
  std::shared_ptr<const ProductEngine> engine_;
  std::vector<std::byte> ones_;
};

}  // namespace widthwise
