#include <limits>
#include <type_traits>
#include <vector>

#include "../engine/machine_rounding.hpp"
#include "block_kernels.hpp"
#include "block_scale.hpp"
#include "panels.hpp"
#include "widthwise/sim/blocks.hpp"

namespace widthwise {

class BlockReader::Work {
 public:
  virtual ~Work() = default;
  virtual std::size_t panels() const = 0;
  virtual void run(std::size_t panel, const std::byte* elements, const std::byte* scales,
                   void* numbers) const = 0;
};

namespace containers {
namespace {

// Elements and scales to their products in V, which are T's, or rounded to them once.
template <class T, class V>
class Read final : public BlockReader::Work {
 public:
  Read(const BlockFormat& f, const BlockGrid& grid, float tensor_scale)
      : panels_(grid),
        scaler_(f, under(tensor_scale)),
        values_(Operation::convert, sizeof(V) == 4 ? binary32 : binary64, {},
                std::span(&f.element, 1), false, grid.outer * grid.rows * grid.columns),
        item_(static_cast<std::size_t>(item_bytes(f.element.width()))),
        infinite_by_zero_(f.element.has_inf() && f.takes_tensor_scale()) {}

  std::size_t panels() const final { return panels_.count(); }

  void run(std::size_t i, const std::byte* elements, const std::byte* scales,
           void* numbers) const final {
    const Panels::Panel p = panels_.at(i);
    const std::vector<V> scale = scales_of(p, scales);
    const std::size_t group = panels_.group();
    V v[longest_piece];
    for_pieces(p.columns, group, longest_piece,
               [&](std::size_t first, std::size_t n, std::size_t block) {
                 for (std::size_t r = 0; r < p.rows; ++r) {
                   const std::size_t at = p.number + r * p.stride + first;
                   const void* codes = elements + at * item_;
                   values_.run({&codes, 1}, n, v, nullptr);
                   T* const x = static_cast<T*>(numbers) + at;
                   deliver(v, scale.data() + block, n, group, x);
                   if (infinite_by_zero_) spell_nan(x, n);
                 }
               });
  }

 private:
  static BlockHow under(float tensor_scale) {
    BlockHow how;
    how.tensor_scale = tensor_scale;
    return how;
  }

  std::vector<V> scales_of(const Panels::Panel& p, const std::byte* scales) const {
    std::vector<V> scale(p.blocks);
    const int bytes = scaler_.steps().bytes;
    for (std::size_t g = 0; g < p.blocks; ++g)
      scale[g] = static_cast<V>(scaler_.steps().value(load_code<std::uint32_t>(
          scales + (p.scale + g) * static_cast<std::size_t>(bytes), bytes)));
    return scale;
  }

  static void deliver(V* v, const V* by, std::size_t n, std::size_t group, T* x) {
    if constexpr (std::is_same_v<T, V>) return scale(v, by, n, group, x);
    scale(v, by, n, group, v);
    narrow(reinterpret_cast<const double*>(v), n, reinterpret_cast<float*>(x));
  }

  // Machines make NaN of either sign.
  static void spell_nan(T* x, std::size_t n) {
    std::replace_if(
        x, x + n, [](T v) { return v != v; }, std::numeric_limits<T>::quiet_NaN());
  }

  Panels panels_;
  BlockScaler scaler_;
  Elementwise values_;
  std::size_t item_;
  bool infinite_by_zero_;  // whether products may be
};

bool exact_in_floats(const Format& f) {
  return f.digits() <= 24 && f.least_digit() >= -149 && f.emax() <= 127;
}

}  // namespace
}  // namespace containers

template <>
BlockReader BlockReader::of<double>(const BlockFormat& f, const BlockGrid& grid, float s) {
  const MachineRounding mode(RoundingMode::rne);
  return BlockReader(std::make_shared<const containers::Read<double, double>>(f, grid, s));
}

// A float times a power of two is rounded once; products of other scales are exact in double.
template <>
BlockReader BlockReader::of<float>(const BlockFormat& f, const BlockGrid& grid, float s) {
  const MachineRounding mode(RoundingMode::rne);
  if (f.power_of_two() && containers::exact_in_floats(f.element))
    return BlockReader(std::make_shared<const containers::Read<float, float>>(f, grid, s));
  return BlockReader(std::make_shared<const containers::Read<float, double>>(f, grid, s));
}

std::size_t BlockReader::panels() const { return work_->panels(); }

void BlockReader::run(std::size_t panel, const void* elements, const void* scales,
                      void* numbers) const {
  const MachineRounding mode(RoundingMode::rne);
  work_->run(panel, static_cast<const std::byte*>(elements), static_cast<const std::byte*>(scales),
             numbers);
}

}  // namespace widthwise
