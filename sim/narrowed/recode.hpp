#pragma once
#include <vector>

#include "widthwise/sim/dot.hpp"
#include "window.hpp"

// Codes of a format that holds the window as those of the same format narrowed, and back.
namespace widthwise::narrowed {

class Recoding {
 public:
  explicit Recoding(const Format& f);

  struct Part {
    CodeMatrix codes;
    Span span;
  };
  // The first rows and columns of a matrix, into `to`, of at most twice their size. What lies
  // outside of the window has some code or other, and the span says so.
  Part narrow(const CodeMatrix& x, std::size_t rows, std::size_t columns,
              std::vector<std::byte>& to) const;
  // n codes side by side.
  void widen(const std::byte* narrow, std::size_t n, std::byte* to) const;

  int narrow_bytes() const { return narrow_bytes_; }

 private:
  template <class Do>
  void with_items(const Do& what) const;
  template <class Wide, class Narrow>
  Part narrow_items(const CodeMatrix& x, std::size_t rows, std::size_t columns,
                    std::vector<std::byte>& to) const;
  template <class Wide, class Narrow>
  void widen_items(const std::byte* narrow, std::size_t n, std::byte* to) const;

  int bytes_, narrow_bytes_;
  int sign_, narrow_sign_;  // places of the signs
  int frac_bits_;
  std::int64_t bias_;
  std::uint64_t moved_;                       // a number's magnitude less its narrowed one
  std::uint64_t infinity_, narrow_infinity_;  // magnitudes; NaN are above
};

}  // namespace widthwise::narrowed
