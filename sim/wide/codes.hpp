#pragma once
#include <memory>

#include "kernel.hpp"

namespace widthwise::wide {

// Codes of one format as numbers of a shape, by lib's own reading and packing.
class Codec {
 public:
  virtual ~Codec() = default;
  // Writes every `stride`th word from `to` on. False for an infinity or NaN: it stands as zero.
  virtual bool load(const std::byte* code, Limb* to, std::size_t stride) const = 0;
  // The code of a number that the format has.
  virtual void store(const Limb* from, std::size_t stride, std::byte* code) const = 0;
};

std::unique_ptr<Codec> codec(const Format& f, const Shape& shape);

}  // namespace widthwise::wide
