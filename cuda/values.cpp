#include "values.hpp"

#include "kernels/values.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::cuda {
namespace {

template <class T>
Kernel kernel(const char* of_floats, const char* of_doubles) {
  return {"values", sizeof(T) == 4 ? of_floats : of_doubles};
}

}  // namespace

template <class T>
Values<T> decoded(Device& device, const Operand& operand, const CodeMatrix& x, std::size_t count,
                  const LaneScale& scale) {
  if (!x.data) return {};
  Values<T> z{Buffer(device, count * sizeof(T))};
  unsigned long long seen[2] = {};
  const Buffer kept = copied_in(device, std::span<const unsigned long long>(seen));
  const DecodeValues<T> decode{.operand = operand,
                               .layout = Layout<std::uint64_t>(operand.fmt),
                               .codes = static_cast<const std::byte*>(x.data),
                               .count = count,
                               .bytes = item_bytes(operand.fmt.width()),
                               .scale = scale.power,
                               .negated = scale.negated,
                               .values = z.memory.template at<T>(),
                               .seen = kept.at<unsigned long long>()};
  launch_each(device, kernel<T>("decode_float", "decode_double"), count, &decode);
  device.copy_out(seen, kept.at(), sizeof seen);
  z.most = std::bit_cast<T>(static_cast<BitsOf<T>>(seen[0]));
  z.special = seen[1];
  return z;
}

template <class T>
void encode(Device& device, const Format& to, const T* values, const std::uint8_t* redo,
            const MatrixProduct& p, const LaneScale& scale) {
  const EncodeValues<T> encode{.to = Rounder<std::uint64_t>(Round{.fmt = to}),
                               .lanes = Layout<std::uint64_t>(sizeof(T) == 4 ? binary32 : binary64),
                               .values = values,
                               .redo = redo,
                               .count = p.m * p.n,
                               .bytes = item_bytes(to.width()),
                               .unscale = std::ldexp(scale.negated ? T{-1} : T{1}, -scale.power),
                               .result = static_cast<std::byte*>(p.result)};
  launch_each(device, kernel<T>("encode_float", "encode_double"), p.m * p.n, &encode);
}

template Values<float> decoded(Device&, const Operand&, const CodeMatrix&, std::size_t,
                               const LaneScale&);
template Values<double> decoded(Device&, const Operand&, const CodeMatrix&, std::size_t,
                                const LaneScale&);
template void encode(Device&, const Format&, const float*, const std::uint8_t*,
                     const MatrixProduct&, const LaneScale&);
template void encode(Device&, const Format&, const double*, const std::uint8_t*,
                     const MatrixProduct&, const LaneScale&);

}  // namespace widthwise::cuda
