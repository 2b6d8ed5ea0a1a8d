#include "operands.hpp"

#include <bit>

#include "widthwise/sim/codes.hpp"

namespace widthwise::exact {
Coded::Coded(const Operand& x, bool doubles)
    : operand_(x), layout_(x.fmt), bytes_(item_bytes(x.fmt.width())) {
  if (!doubles) return;
  if (Codec<double>::slides(x)) codec_.emplace(x);
  if (codec_ || bytes_ > 1) return;
  for (int code = 0; code < 256; ++code) {
    const auto item = static_cast<std::byte>(code);
    table_.push_back(number(&item));
  }
}

Item Coded::item(const std::byte* at) const {
  const Factor<std::uint64_t> x = factor(at);
  const bool special = x.endless;
  const bool number = x.kind() == Kind::finite;
  return {number ? x.m : 0, static_cast<std::int32_t>(x.q), x.negative, special};
}

double Coded::number(const std::byte* at) const {
  const Item x = item(at);
  if (x.special) return std::numeric_limits<double>::quiet_NaN();
  const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(x.q + 1023) << 52);
  const double z = static_cast<double>(static_cast<std::int64_t>(x.m)) * power;
  return x.negative ? -z : z;
}

void Coded::numbers(const Line& codes, std::size_t n, std::vector<std::byte>& held,
                    double* out) const {
  if (codec_ && codec_->finite(codec_->decode({codes.at}, 0, codes.stride / bytes_, n, held, out)))
    return;
  if (table_.empty())
    for (std::size_t i = 0; i < n; ++i) out[i] = number(codes(i));
  else
    for (std::size_t i = 0; i < n; ++i) out[i] = table_[static_cast<std::uint8_t>(*codes(i))];
}

Reader::Reader(const Operand& x, const std::optional<Scale>& scale, bool doubles)
    : codes_(x, doubles) {
  if (scale) scales_.emplace(Operand{.fmt = scale->fmt}, doubles);
}

Item Reader::item(const Line& codes, const Scales& scales, std::size_t i) const {
  Item x = codes_.item(codes(i));
  if (!scales_) return x;
  const Item s = scales_->item(scale_code(scales, i));
  return {x.m * s.m, x.q + s.q, x.negative != s.negative, x.special || s.special};
}

Kind Reader::kind(const Line& codes, const Scales& scales, std::size_t i) const {
  const Kind x = codes_.factor(codes(i)).kind();
  if (!scales_) return x;
  return product_kind(x, scales_->factor(scale_code(scales, i)).kind());
}

std::uint32_t Reader::sorts(const Line& codes, const Scales& scales, std::size_t i) const {
  const auto sort = [](const Factor<std::uint64_t>& x) {
    return static_cast<std::uint32_t>(x.kind()) << 1 | x.negative;
  };
  const std::uint32_t z = sort(codes_.factor(codes(i)));
  if (!scales_) return z;
  return z << 4 | sort(scales_->factor(scale_code(scales, i)));
}

void Reader::numbers(const Line& codes, const Scales& scales, std::size_t n,
                     std::vector<std::byte>& held, double* out) const {
  codes_.numbers(codes, n, held, out);
  if (!scales_) return;
  for (std::size_t i = 0; i < n;) {
    const std::size_t at = scales.first + i;
    const std::size_t end = std::min(n, i + scales.block - at % scales.block);
    double s;
    scales_->numbers({scales.codes(at / scales.block), scales_->bytes()}, 1, held, &s);
    for (; i < end; ++i) out[i] *= s;
  }
}

}  // namespace widthwise::exact
