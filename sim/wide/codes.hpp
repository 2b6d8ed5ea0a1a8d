#pragma once
#include <memory>

#include "kernel.hpp"
#include "widthwise/unit.hpp"

namespace widthwise::wide {

// Codes of one format as numbers of a shape, by lib's own reading and rounding.
class Codec {
 public:
  virtual ~Codec() = default;
  // Writes every `stride`th word from `to` on. False for an infinity or NaN, or a subnormal number
  // where those are not wanted: it stands as zero.
  virtual bool load(const std::byte* code, Limb* to, std::size_t stride) const = 0;
  // The code of a number so rounded, as the last of a unit's roundings. Returns the flags that
  // raises: none where the format has it.
  virtual Flags store(const Limb* from, std::size_t stride, const Where& where,
                      std::byte* code) const = 0;
};

inline constexpr int most_stored = 1152;  // digits that store() may look at

enum class Wanted { all_numbers, normal_ones };
std::unique_ptr<Codec> codec(const Round& r, const Shape& shape,
                             Wanted wanted = Wanted::all_numbers);

}  // namespace widthwise::wide
