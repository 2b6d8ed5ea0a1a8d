#include "xla_handlers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>

#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"
#include "xla/ffi/api/ffi.h"

namespace widthwise {
namespace {

namespace ffi = xla::ffi;

constexpr std::size_t slice = 8192;  // elements whose codes stay in a near cache

std::optional<Format> format_of(ffi::DataType type) {
  switch (type) {
    case ffi::DataType::F16: return binary16;
    case ffi::DataType::BF16: return bfloat16;
    case ffi::DataType::F32: return binary32;
    case ffi::DataType::F64: return binary64;
    default: return std::nullopt;
  }
}

// Whether the magnitude is above infinity's, or that as well.
template <class U>
bool meets(const Format& f, const std::byte* x, std::size_t count, bool infinity_too) {
  const U magnitude = static_cast<U>(~U{}) >> 1,
          infinity = static_cast<U>(magnitude >> f.frac_bits << f.frac_bits);
  for (std::size_t i = 0; i < count; ++i) {
    U word;
    std::memcpy(&word, x + i * sizeof word, sizeof word);
    if ((word & magnitude) > infinity || (infinity_too && (word & magnitude) == infinity))
      return true;
  }
  return false;
}

bool meets(const Format& f, const std::byte* x, std::size_t count, bool infinity_too) {
  switch (item_bytes(f.width())) {
    case 2: return meets<std::uint16_t>(f, x, count, infinity_too);
    case 4: return meets<std::uint32_t>(f, x, count, infinity_too);
    default: return meets<std::uint64_t>(f, x, count, infinity_too);
  }
}

bool wraps(const Format& f) {
  return f.overflow == Overflow::wrap || f.overflow == Overflow::wrap_sm ||
         f.overflow == Overflow::keep_sign;
}

// As ww.array has it: NaN, and infinities in fixed point that wraps.
ffi::Error check(const Format& from, const Format& to, const std::byte* x, std::size_t count) {
  if (to.has_nan()) return ffi::Error::Success();
  if (meets(from, x, count, false))
    return ffi::Error::InvalidArgument(fmt::format(
        "x has NaN among its numbers, and {} has none; put a number in its place, or take a format "
        "that has one",
        to_string(to)));
  if (wraps(to) && meets(from, x, count, true))
    return ffi::Error::InvalidArgument(fmt::format(
        "x has infinities among its numbers, and {} has none and wraps; take overflow=saturate, or "
        "put numbers in their place",
        to_string(to)));
  return ffi::Error::Success();
}

// Numbers to a format's codes and back, a slice at a time.
class Rounder {
 public:
  Rounder(const Format& from, const Format& to, const Env& env, std::size_t count)
      : bytes_(static_cast<std::size_t>(item_bytes(from.width()))),
        there_(Operation::convert, to, env, std::array{from}, false, count),
        back_(Operation::convert, from, Env{}, std::array{to}, false, count),
        codes_(slice * static_cast<std::size_t>(item_bytes(to.width()))) {}

  // An example's numbers, whose random bits are the seed's from the first on.
  void run(const std::byte* x, std::byte* y, std::size_t count, std::uint64_t seed) {
    for (std::size_t first = 0; first < count; first += slice) {
      const std::size_t n = std::min(slice, count - first), at = first * bytes_;
      const void* const numbers = x + at;
      const void* const codes = codes_.data();
      there_.run({&numbers, 1}, n, codes_.data(), nullptr, {seed, first, nullptr});
      back_.run({&codes, 1}, n, y + at, nullptr);
    }
  }

 private:
  std::size_t bytes_;
  Elementwise there_, back_;
  std::vector<std::byte> codes_;
};

std::uint64_t seed_at(const std::uint32_t* words, std::size_t example) {
  return words[2 * example] | static_cast<std::uint64_t>(words[2 * example + 1]) << 32;
}

// The last `rank` axes are one example's, which draws by a seed of its own; -1 where nobody draws.
ffi::Error rounded(ffi::AnyBuffer x, ffi::Buffer<ffi::U32> seeds, ffi::Result<ffi::AnyBuffer> y,
                   std::string_view format, std::string_view rounding, std::int64_t rank) {
  const auto from = format_of(x.element_type());
  if (!from || y->element_type() != x.element_type() || y->element_count() != x.element_count())
    return ffi::Error::InvalidArgument("x and the result have to be floats of one type and shape");
  const Format to = parse_format(format);
  const auto* in = static_cast<const std::byte*>(x.untyped_data());
  auto* out = static_cast<std::byte*>(y->untyped_data());
  const std::size_t count = x.element_count();
  if (ffi::Error wrong = check(*from, to, in, count); wrong.failure()) return wrong;
  std::size_t each = count;
  if (rank >= 0) {
    each = 1;
    const auto axes = x.dimensions();
    for (std::size_t i = axes.size() - static_cast<std::size_t>(rank); i < axes.size(); ++i)
      each *= static_cast<std::size_t>(axes[i]);
  }
  Rounder rounder(*from, to, Env{.rounding = parse_rounding(rounding)}, count);
  const std::size_t bytes = static_cast<std::size_t>(item_bytes(from->width()));
  for (std::size_t i = 0; each != 0 && i < count / each; ++i)
    rounder.run(in + i * each * bytes, out + i * each * bytes, each,
                rank < 0 ? 0 : seed_at(seeds.typed_data(), i));
  return ffi::Error::Success();
}

ffi::Error quantize(ffi::AnyBuffer x, ffi::Buffer<ffi::U32> seeds, ffi::Result<ffi::AnyBuffer> y,
                    std::string_view format, std::string_view rounding, std::int64_t rank) {
  try {
    return rounded(x, seeds, y, format, rounding, rank);
  } catch (const std::exception& why) {
    return ffi::Error::Internal(why.what());
  }
}

XLA_FFI_DEFINE_HANDLER(quantize_handler, quantize,
                       ffi::Ffi::Bind()
                           .Arg<ffi::AnyBuffer>()
                           .Arg<ffi::Buffer<ffi::U32>>()
                           .Ret<ffi::AnyBuffer>()
                           .Attr<std::string_view>("format")
                           .Attr<std::string_view>("rounding")
                           .Attr<std::int64_t>("rank"));

XlaCall python = nullptr;

XlaBuffer buffer(const ffi::AnyBuffer& x) {
  const auto shape = x.dimensions();
  return {x.untyped_data(), x.size_bytes(), {shape.begin(), shape.end()}};
}

ffi::Error call(ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer> result,
                std::string_view name) {
  std::vector<XlaBuffer> buffers;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto x = arguments.get<ffi::AnyBuffer>(i);
    if (!x.has_value()) return x.error();
    buffers.push_back(buffer(*x));
  }
  std::string wrong = python(name, buffers, buffer(*result));
  return wrong.empty() ? ffi::Error::Success() : ffi::Error::InvalidArgument(std::move(wrong));
}

XLA_FFI_DEFINE_HANDLER(
    call_handler, call,
    ffi::Ffi::Bind().RemainingArgs().Ret<ffi::AnyBuffer>().Attr<std::string_view>("name"));

}  // namespace

std::vector<XlaHandler> xla_handlers(XlaCall call) {
  python = call;
  return {{"widthwise_quantize", reinterpret_cast<void*>(+quantize_handler)},
          {"widthwise_call", reinterpret_cast<void*>(+call_handler)}};
}

}  // namespace widthwise
