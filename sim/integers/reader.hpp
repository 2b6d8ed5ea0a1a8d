#pragma once
#include "row_kernels.hpp"
#include "widthwise/datapath/operand.hpp"
#include "widthwise/sim/dot.hpp"

namespace widthwise::rows {

// A number's words, so far apart.
template <class H>
void put(const Factor<H>& x, std::uint64_t* to, std::size_t apart) {
  constexpr int words = digits<H> / 64;
  const bool is_endless = x.endless;
  for (int i = 0; i < words; ++i, to += apart)
    *to = is_endless ? 0 : static_cast<std::uint64_t>(x.m >> 32 * i >> 32 * i);
  *to = static_cast<std::uint64_t>(x.q), to += apart;
  *to = static_cast<std::uint64_t>(x.e), to += apart;
  *to = (x.negative ? negative : 0u) | (x.zero ? zero : 0u) | (is_endless ? endless : 0u);
}

// Elements of a matrix as conditioned numbers.
template <class H>
class Reader {
 public:
  explicit Reader(const Operand& x)
      : operand_(x), layout_(x.fmt), bytes_(item_bytes(x.fmt.width())) {
    if (x.keep_frac) layout_.plain_span = H{};
  }

  void operator()(const CodeMatrix& x, std::size_t i, std::size_t j, std::uint64_t* to,
                  std::size_t apart) const {
    const auto at =
        static_cast<std::ptrdiff_t>(i) * x.row + static_cast<std::ptrdiff_t>(j) * x.column;
    const H code = load_code<H>(static_cast<const std::byte*>(x.data) + at * bytes_, bytes_);
    put(plain(layout_, code) ? plain_factor(layout_, code)
                             : condition(operand_, factor(layout_, code)),
        to, apart);
  }

 private:
  Operand operand_;
  Layout<H> layout_;
  int bytes_;
};

}  // namespace widthwise::rows
