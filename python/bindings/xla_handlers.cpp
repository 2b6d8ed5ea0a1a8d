#include "xla_handlers.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <string_view>

#include "widthwise/sim/rounded_values.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/text.hpp"
#include "xla/ffi/api/ffi.h"

namespace widthwise {
namespace {

namespace ffi = xla::ffi;

std::optional<Format> format_of(ffi::DataType type) {
  switch (type) {
    case ffi::DataType::F16: return binary16;
    case ffi::DataType::BF16: return bfloat16;
    case ffi::DataType::F32: return binary32;
    case ffi::DataType::F64: return binary64;
    default: return std::nullopt;
  }
}

// As ww.array has it: NaN, and infinities in fixed point that does not saturate.
ffi::Error refused(Unheld found, const Format& to) {
  switch (found) {
    case Unheld::nothing: return ffi::Error::Success();
    case Unheld::nan:
      return ffi::Error::InvalidArgument(
          fmt::format("x has NaN among its numbers, and {} has none; put a number in its place, or "
                      "take a format that has one",
                      said(to)));
    case Unheld::infinity:
      return ffi::Error::InvalidArgument(
          fmt::format("x has infinities among its numbers, and {} has none and does not saturate; "
                      "take overflow=saturate, or put numbers in their place",
                      said(to)));
  }
  return ffi::Error::Internal("what was found in x has no name");
}

// The last `rank` axes are one example's, which draws by a seed of its own; all are where rank is
// -1 and nobody draws.
struct Examples {
  std::size_t count = 1, size = 1;

  Examples(ffi::Span<const std::int64_t> axes, std::int64_t rank) {
    const std::size_t first = rank < 0 ? 0 : axes.size() - static_cast<std::size_t>(rank);
    for (std::size_t i = 0; i < axes.size(); ++i)
      (i < first ? count : size) *= static_cast<std::size_t>(axes[i]);
  }
};

std::uint64_t seed_at(const std::uint32_t* words, std::size_t example) {
  return words[2 * example] | static_cast<std::uint64_t>(words[2 * example + 1]) << 32;
}

ffi::Error check_rank(ffi::Span<const std::int64_t> axes, std::int64_t rank,
                      const Rounding& rounding) {
  if (rank < -1 || rank > static_cast<std::int64_t>(axes.size()))
    return ffi::Error::InvalidArgument(fmt::format(
        "rank = {}: x has {} axes; pass how many of the last are one example's, or -1 where "
        "nobody draws",
        rank, axes.size()));
  if (rank < 0 && rounding.stochastic())
    return ffi::Error::InvalidArgument(fmt::format(
        "rank = -1, and rounding = {} draws; pass how many of x's last axes are one example's",
        to_string(rounding)));
  return ffi::Error::Success();
}

ffi::Error rounded(ffi::AnyBuffer x, ffi::Buffer<ffi::U32> seeds, ffi::Result<ffi::AnyBuffer> y,
                   std::string_view format, std::string_view rounding, std::int64_t rank) {
  const auto own = format_of(x.element_type());
  if (!own || y->element_type() != x.element_type() || y->element_count() != x.element_count())
    return ffi::Error::InvalidArgument("x and the result have to be floats of one type and shape");
  const Format to = parse_format(format);
  const Env env{.rounding = parse_rounding(rounding)};
  const auto axes = x.dimensions();
  ffi::Error wrong = check_rank(axes, rank, env.rounding);
  if (wrong.failure()) return wrong;
  const Examples examples(axes, rank);
  if (rank >= 0 && seeds.element_count() != 2 * examples.count)
    return ffi::Error::InvalidArgument(
        fmt::format("seeds has {} words, and x {} examples; each takes two, the low one first",
                    seeds.element_count(), examples.count));
  const RoundedValues values(*own, to, env, x.element_count());
  wrong = refused(unheld(*own, to, x.untyped_data(), x.element_count()), to);
  if (wrong.failure()) return wrong;
  const std::size_t bytes = examples.size * static_cast<std::size_t>(item_bytes(own->width()));
  for (std::size_t i = 0; i < examples.count; ++i)
    values.run(static_cast<const std::byte*>(x.untyped_data()) + i * bytes, examples.size,
               static_cast<std::byte*>(y->untyped_data()) + i * bytes,
               {rank < 0 ? 0 : seed_at(seeds.typed_data(), i), 0, nullptr});
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
