#pragma once
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

#include "code_copy.hpp"
#include "posit_codes.hpp"
#include "widthwise/layout.hpp"
#include "widthwise/sim/codes.hpp"
#include "widthwise/sim/dot.hpp"

// Codes of a format as float or double numbers, for engines that hold them so. Their plans see to
// it that every finite number of the format is one of the machine's: a normal one, or both have the
// same subnormals; and that fixed point leaves two digits of the machine's to spare. Posits are
// doubles.
namespace widthwise {

// What the loops over codes need of an operand.
struct CodeLayout {
  int frac_bits, magnitude_bits;
  std::int64_t bias, emin;
  std::uint64_t used;                  // bits of a magnitude that are looked at
  std::uint64_t max_finite, infinity;  // magnitudes; past the last one where there is no infinity
  std::uint64_t nan;                   // the code of NaN
  bool nan_is_minus_zero;
  bool daz;                // subnormals are read as zeros
  bool fixed, complement;  // fixed point, in two's complement
};

// The loops, compiled for this machine's instruction set. Items have 1, 2, 4 or 8 bytes.
template <class T>
struct CodeLoops {
  // Returns the largest magnitude seen, as a code; that of no number where a NaN was -0, and 0 of
  // fixed point. Infinities and NaN come out as any number, unless the format is the machine's.
  std::uint64_t (*decode)(const CodeLayout& f, const void* codes, int bytes, std::size_t n, T* out);
  // Makes infinities and NaN of codes past the largest number.
  void (*specials)(const CodeLayout& f, const void* codes, int bytes, std::size_t n, T* out);
  void (*encode)(const CodeLayout& f, const T* numbers, std::size_t n, int bytes, void* codes);
};
template <class T>
CodeLoops<T> code_loops();

// The least magnitude of n numbers, zeros apart; infinity where there is none. Likewise compiled.
template <class T>
T least_magnitude(const T* numbers, std::size_t n);

// Numbers stand there times 2^scale.
template <class T>
class Codec {
 public:
  explicit Codec(const Operand& x, int scale = 0)
      : format_(x.fmt),
        bytes_(item_bytes(x.fmt.width())),
        up_(std::ldexp(T{1}, scale)),
        down_(std::ldexp(T{1}, -scale)),
        max_finite_(Layout<std::uint64_t>(x.fmt).max_finite),
        layout_{x.fmt.frac_bits,
                x.fmt.magnitude_bits(),
                x.fmt.bias,
                x.fmt.emin(),
                ~std::uint64_t{0} << (x.fmt.frac_bits - x.keep_frac.value_or(x.fmt.frac_bits)),
                max_finite_,
                Layout<std::uint64_t>(x.fmt).infinity,
                Layout<std::uint64_t>(x.fmt).nan_code,
                x.fmt.nan == NanCodes::sign_alone,
                x.fmt.daz,
                x.fmt.is_fixed(),
                x.fmt.sign == Sign::complement},
        loops_(code_loops<T>()) {
    if (x.fmt.is_posit()) posits_.emplace(x.fmt);
  }
  explicit Codec(const Format& f, int scale = 0) : Codec(Operand{.fmt = f}, scale) {}

  const Format& format() const { return format_; }
  int bytes() const { return bytes_; }
  bool finite(std::uint64_t magnitude) const { return magnitude <= max_finite_; }

  // What a code stands for, without the scale.
  double number(std::uint64_t code) const {
    std::byte item[8];
    store_code(item, bytes_, code);
    T x;
    loops_.decode(layout_, item, bytes_, 1, &x);
    return static_cast<double>(x);
  }
  double largest() const { return number(max_finite_); }

  // Whether fields that slide to the machine's places are all that reading takes.
  static bool slides(const Operand& x) {
    const Format& f = x.fmt;
    return f.is_signed() && f.subnormals && f.zero && !f.daz && f.precision() > 1 &&
           f.nan != NanCodes::sign_alone && x.subnormals == Flush::keep &&
           (!x.keep_frac || x.keep_rm == Rounding(RoundingMode::rtz));
  }

  // Codes first … first + n - 1 along a stride, through `held` where they do not lie side by side.
  // Returns the largest magnitude, as a code.
  std::uint64_t decode(const CodeMatrix& x, std::ptrdiff_t first, std::ptrdiff_t stride,
                       std::size_t n, std::vector<std::byte>& held, T* numbers) const {
    const std::byte* codes = side_by_side(x, first, stride, n, held);
    if constexpr (std::is_same_v<T, double>)
      if (posits_) return posits_->decode(codes, bytes_, n, numbers) ? ~std::uint64_t{0} : 0;
    const std::uint64_t most = loops_.decode(layout_, codes, bytes_, n, numbers);
    if (!finite(most)) loops_.specials(layout_, codes, bytes_, n, numbers);
    scale(numbers, n, up_);
    return most;
  }

  // Takes the scale off the numbers.
  void encode(T* numbers, std::size_t n, std::byte* codes) const {
    if constexpr (std::is_same_v<T, double>)
      if (posits_) return posits_->encode(numbers, n, bytes_, codes);
    scale(numbers, n, down_);
    loops_.encode(layout_, numbers, n, bytes_, codes);
  }

 private:
  static void scale(T* numbers, std::size_t n, T by) {
    if (by == 1) return;
    for (std::size_t i = 0; i < n; ++i) numbers[i] *= by;
  }
  const std::byte* side_by_side(const CodeMatrix& x, std::ptrdiff_t first, std::ptrdiff_t stride,
                                std::size_t n, std::vector<std::byte>& held) const {
    const auto* at = static_cast<const std::byte*>(x.data) + first * bytes_;
    if (stride == 1) return at;
    copy_by_rows({at, 0, stride}, bytes_, 1, n, held);
    return held.data();
  }

  Format format_;
  int bytes_;
  T up_, down_;
  std::uint64_t max_finite_;
  CodeLayout layout_;
  CodeLoops<T> loops_;
  std::optional<PositCodes> posits_;
};

}  // namespace widthwise
