#pragma once
#include <cstddef>
#include <cstdint>

#include "widthwise/rounder.hpp"

// Codes of posits as doubles that hold them, read and written by the definition's own steps.
namespace widthwise {

class PositCodes {
 public:
  explicit PositCodes(const Format& f) : layout_(f), to_(f) {}

  // Whether there is a NaR, which comes out as 0.
  bool decode(const std::byte* codes, int bytes, std::size_t n, double* numbers) const;
  // Of numbers that are posits, and NaN.
  void encode(const double* numbers, std::size_t n, int bytes, std::byte* codes) const;

 private:
  Layout<std::uint64_t> layout_;
  Rounder<std::uint64_t> to_;
};

}  // namespace widthwise
