#pragma once
#include <algorithm>
#include <array>

#include "numbers.hpp"

// binary16 numbers for engines that hold them as the machine does: as their codes.
namespace widthwise {

struct Half {
  std::uint16_t code = 0;

  friend bool signbit(Half x) { return x.code >> 15; }
  friend bool isfinite(Half x) { return (x.code & 0x7c00) != 0x7c00; }
  friend bool operator==(Half x, Half y) {  // of no NaN
    return x.code == y.code || static_cast<std::uint16_t>((x.code | y.code) << 1) == 0;
  }
};

// Numbers that binary16 has, infinities and NaN among them, compiled for this machine.
void to_halves(const float* numbers, std::size_t n, Half* halves);

// Operands of any format whose numbers are all binary16's; results are binary16 itself.
template <>
class Codec<Half> {
 public:
  explicit Codec(const Operand& x, int = 0)
      : floats_(x), same_(x.fmt == binary16), nan_(Layout<std::uint16_t>(binary16).nan_code) {}
  explicit Codec(const Format& f, int = 0) : Codec(Operand{.fmt = f}) {}

  int bytes() const { return floats_.bytes(); }
  bool finite(std::uint64_t magnitude) const { return floats_.finite(magnitude); }

  std::uint64_t decode(const CodeMatrix& x, std::ptrdiff_t first, std::ptrdiff_t stride,
                       std::size_t n, std::vector<std::byte>& held, Half* numbers) const {
    if (same_) {
      const auto* codes = static_cast<const std::uint16_t*>(x.data) + first;
      return stride == 1 ? copy(codes, std::integral_constant<std::ptrdiff_t, 1>(), n, numbers)
                         : copy(codes, stride, n, numbers);
    }
    std::uint64_t most = 0;
    std::array<float, 256> part;
    for (std::size_t i = 0; i < n; i += part.size()) {
      const std::size_t count = std::min(part.size(), n - i);
      const std::ptrdiff_t at = first + static_cast<std::ptrdiff_t>(i) * stride;
      most = std::max(most, floats_.decode(x, at, stride, count, held, part.data()));
      to_halves(part.data(), count, numbers + i);
    }
    return most;
  }

  void encode(const Half* numbers, std::size_t n, std::byte* codes) const {
    auto* const items = reinterpret_cast<std::uint16_t*>(codes);
    const std::uint16_t nan = nan_;  // of one's own: no store can change it
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint16_t code = numbers[i].code;
      items[i] = magnitude(code) > infinity ? nan : code;
    }
  }

 private:
  static constexpr std::int16_t infinity = 0x7c00;
  // Signed, as vectors compare.
  static std::int16_t magnitude(std::uint16_t code) {
    return static_cast<std::int16_t>(code & 0x7fff);
  }
  template <class Stride>
  static std::uint64_t copy(const std::uint16_t* codes, Stride stride, std::size_t n,
                            Half* numbers) {
    std::int16_t most = 0;
    for (std::size_t i = 0; i < n; ++i) {
      numbers[i].code = codes[static_cast<std::ptrdiff_t>(i) * stride];
      most = std::max(most, magnitude(numbers[i].code));
    }
    return static_cast<std::uint64_t>(most);
  }

  Codec<float> floats_;
  bool same_;
  std::uint16_t nan_;
};

}  // namespace widthwise
