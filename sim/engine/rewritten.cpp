#include "rewritten.hpp"

#include <algorithm>

#include "code_copy.hpp"

namespace widthwise {

Elementwise conversion(const Format& from, const Format& to, const Rounding& rm, bool flags,
                       std::size_t expected) {
  const Format operands[] = {from};
  return {Operation::convert, to, {.rounding = rm}, operands, flags, expected};
}

Rewritten::Rewritten(const Format& from, const Format& to, std::size_t expected)
    : from_bytes_(item_bytes(from.width())), to_bytes_(bytes_of(to)) {
  if (from != to) convert_.emplace(conversion(from, to, {}, false, expected));
}

CodeMatrix Rewritten::read(const CodeMatrix& x, std::size_t rows, std::size_t columns, Codes& held,
                           Codes& to) const {
  if (!convert_ || !x.data) return x;
  const CodeMatrix by_rows = copy_by_rows(x, from_bytes_, rows, columns, held);
  to.resize(std::max(to.size(), rows * columns * to_bytes_));
  for (std::size_t i = 0; i < rows; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i) * by_rows.row * from_bytes_;
    const void* const row[] = {static_cast<const std::byte*>(by_rows.data) + at};
    convert_->run(row, columns, &to[i * columns * to_bytes_], nullptr);
  }
  return {to.data(), static_cast<std::ptrdiff_t>(columns), 1};
}

}  // namespace widthwise
