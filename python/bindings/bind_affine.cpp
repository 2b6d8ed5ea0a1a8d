#include <fmt/format.h>

#include "codes.hpp"
#include "slices.hpp"
#include "widthwise/sim/affine.hpp"
#include "widthwise/sim/integer_product.hpp"
#include "widthwise/sim/requantise.hpp"
#ifdef WIDTHWISE_CUDA
#include "numbers_there.hpp"
#endif

using namespace widthwise;

namespace {

constexpr std::size_t slice_elements = std::size_t{1} << 20;
constexpr std::size_t slice_defined = std::size_t{1} << 16;  // one value at a time, in integers
constexpr std::size_t slice_products = std::size_t{1} << 24;

using Floats = py::array_t<float, py::array::c_style>;
using Reals = py::array_t<double, py::array::c_style>;
using Integers = py::array_t<std::int64_t, py::array::c_style>;
using Sums = py::array_t<std::int32_t, py::array::c_style>;

template <class T>
std::vector<T> listed(const py::array_t<T, py::array::c_style>& a) {
  return {a.data(), a.data() + a.size()};
}

IntegerItem item_of(const py::array& a) {
  const char kind = a.dtype().kind();
  if ((kind != 'i' && kind != 'u') || a.itemsize() > 4)
    throw std::logic_error("codes have to be integers of 8, 16 or 32 bits");
  return {static_cast<int>(a.itemsize()), kind == 'i'};
}

// Elements in one piece, as many as the layout has.
void check(const py::array& a, std::size_t count) {
  if (static_cast<std::size_t>(a.size()) != count || !(a.flags() & py::array::c_style))
    throw std::logic_error(fmt::format("a contiguous array of {} elements is wanted", count));
}

AffineArithmetic arithmetic_of(const std::string& name) {
  if (name == "exact") return AffineArithmetic::exact;
  if (name == "onnx") return AffineArithmetic::onnx;
  if (name == "torch") return AffineArithmetic::torch;
  if (name == "torch_legacy") return AffineArithmetic::torch_legacy;
  throw std::logic_error("no such arithmetic: " + name);
}

AffineRule rule_of(const std::pair<std::int64_t, std::int64_t>& range,
                   const std::string& arithmetic, const Env& env, const py::object& nan,
                   bool far_is_low, IntegerItem item) {
  AffineRule rule{range.first, range.second, arithmetic_of(arithmetic), env.rounding, item};
  rule.nan_is_zero_point = nan.is_none();
  if (!nan.is_none()) rule.nan = py::cast<std::int64_t>(nan);
  rule.far_is_low = far_is_low;
  return rule;
}

using Layout7 = std::array<std::size_t, 7>;
AffineLayout layout_of(const Layout7& layout) {
  const auto [outer, length, inner, block, of_outer, of_group, of_inner] = layout;
  return {outer, length, inner, block, of_outer, of_group, of_inner};
}

AffineScales make_scales(const Layout7& layout, const Reals& scales, const Integers& zero_points) {
  return {layout_of(layout), listed(scales), listed(zero_points)};
}

template <class Value>
AffineCounts quantise_values(const AffineScales& scales, const AffineRule& rule,
                             const py::array& values, void* codes, std::uint8_t* flags,
                             RandomSource random) {
  AffineCounts counts;
  const bool defined = flags || rule.rounding.stochastic();
  const auto* x = static_cast<const Value*>(values.data());
  in_slices(scales.layout().size(), defined ? slice_defined : slice_elements,
            [&](std::size_t first, std::size_t count) {
              const AffineCounts more =
                  scales.quantise(rule, x, first, count, codes, flags, random);
              counts.clamped += more.clamped, counts.nan += more.nan;
            });
  return counts;
}

std::pair<std::uint64_t, std::uint64_t> quantise(
    const AffineScales& scales, const py::array& values, py::array codes, py::object flags,
    const std::pair<std::int64_t, std::int64_t>& range, const std::string& arithmetic,
    const Env& env, const py::object& nan, bool far_is_low, const py::object& random) {
  const std::size_t count = scales.layout().size();
  check(values, count), check(codes, count);
  const AffineRule rule = rule_of(range, arithmetic, env, nan, far_is_low, item_of(codes));
  const auto run = values.itemsize() == 4 ? &quantise_values<float> : &quantise_values<double>;
  const AffineCounts counts = run(scales, rule, values, codes.mutable_data(),
                                  flags_place(flags, count), random_source(random, count));
  return {counts.clamped, counts.nan};
}

std::uint64_t dequantise(const AffineScales& scales, const py::array& codes, py::array values) {
  const std::size_t count = scales.layout().size();
  check(values, count), check(codes, count);
  const IntegerItem item = item_of(codes);
  const void* from = codes.data();
  void* to = values.mutable_data();
  const bool floats = values.itemsize() == 4;
  std::uint64_t rounded = 0;
  in_slices(count, slice_elements, [&](std::size_t first, std::size_t n) {
    rounded += floats ? scales.dequantise(item, from, first, n, static_cast<float*>(to))
                      : scales.dequantise(item, from, first, n, static_cast<double*>(to));
  });
  return rounded;
}

std::pair<float, float> range_of(const Floats& x) {
  using Limits = std::numeric_limits<float>;
  FloatRange range{Limits::infinity(), -Limits::infinity()};
  const float* values = x.data();
  in_slices(static_cast<std::size_t>(x.size()), slice_elements,
            [&](std::size_t first, std::size_t count) {
              range = float_range(values + first, count, range);
            });
  return {range.low, range.high};
}

// Of contiguous blocks along the rows of a matrix.
std::pair<Floats, Floats> block_ranges_of(const Floats& x, std::size_t length, std::size_t block) {
  const auto rows = static_cast<std::size_t>(x.size()) / length;
  const std::size_t blocks = (length + block - 1) / block;
  Floats low(static_cast<py::ssize_t>(rows * blocks)), high(low.size());
  const float* values = x.data();
  float *lows = low.mutable_data(), *highs = high.mutable_data();
  in_slices(rows, std::max<std::size_t>(1, slice_elements / length),
            [&](std::size_t first, std::size_t count) {
              block_ranges(values + first * length, length, block, count, lows + first * blocks,
                           highs + first * blocks);
            });
  return {low, high};
}

AffineCover cover_of(const std::string& scheme) {
  if (scheme == "asymmetric") return AffineCover::asymmetric;
  if (scheme == "symmetric") return AffineCover::symmetric;
  if (scheme == "symmetric_full") return AffineCover::symmetric_full;
  throw std::logic_error("no such scheme: " + scheme);
}

// (scales, zero points, which of them are to be found exactly)
py::tuple parameters_of(const Reals& low, const Reals& high,
                        const std::pair<std::int64_t, std::int64_t>& range,
                        const std::string& scheme) {
  std::vector<AffineParameters> found(static_cast<std::size_t>(low.size()));
  affine_parameters(cover_of(scheme), range.first, range.second, low.data(), high.data(),
                    found.size(), found.data());
  Floats scales(low.size());
  Integers zero_points(low.size());
  float* scale = scales.mutable_data();
  std::int64_t* zero_point = zero_points.mutable_data();
  py::list unsure;
  for (std::size_t i = 0; i < found.size(); ++i) {
    scale[i] = found[i].scale, zero_point[i] = found[i].zero_point;
    if (!found[i].sure) unsure.append(i);
  }
  return py::make_tuple(scales, zero_points, unsure);
}

Requantisation requantisation_of(const std::string& variant) {
  if (variant == "gemmlowp") return Requantisation::gemmlowp;
  if (variant == "ruy") return Requantisation::ruy;
  if (variant == "q31") return Requantisation::q31;
  if (variant == "fp32") return Requantisation::fp32;
  return Requantisation::rational;  // exact, rndnu, single
}

void requantise_sums(const Sums& sums, Sums codes, std::size_t inner,
                     const std::vector<std::tuple<std::uint64_t, std::uint64_t, int, double>>& m,
                     const Integers& zero_points, const std::string& variant,
                     const std::pair<std::int64_t, std::int64_t>& range) {
  const RequantiseRule rule{requantisation_of(variant), variant != "exact", range.first,
                            range.second};
  std::vector<SumScale> multipliers;
  for (const auto& [significand, divisor, exponent, real] : m)
    multipliers.push_back({significand, divisor, exponent, static_cast<float>(real)});
  const std::vector<std::int64_t> zeros = listed(zero_points);
  const auto count = static_cast<std::size_t>(sums.size());
  check(codes, count);
  const std::int32_t* from = sums.data();
  std::int32_t* to = codes.mutable_data();
  in_slices(count, slice_elements, [&](std::size_t first, std::size_t n) {
    requantise(rule, {multipliers.size(), inner}, multipliers, zeros, from, first, n, to);
  });
}

IntegerMatrix matrix_of(const py::array& a) {
  const IntegerItem item = item_of(a);
  if (a.ndim() != 2 || a.strides(0) % item.bytes != 0 || a.strides(1) % item.bytes != 0)
    throw std::logic_error("integers have to be a matrix");
  return {a.data(), a.strides(0) / item.bytes, a.strides(1) / item.bytes, item};
}

void integer_product(const py::array& a, const py::array& b, const Integers& zero_a,
                     const Integers& zero_b, const py::object& bias, bool saturate,
                     bool saturated_pairs, Sums result) {
  IntegerProduct p;
  p.m = static_cast<std::size_t>(a.shape(0)), p.k = static_cast<std::size_t>(a.shape(1));
  p.n = static_cast<std::size_t>(b.shape(1));
  p.a = matrix_of(a), p.b = matrix_of(b);
  p.zero_a = listed(zero_a), p.zero_b = listed(zero_b);
  if (!bias.is_none()) p.bias = py::cast<Sums>(bias).data();
  p.overflow = saturate ? SumOverflow::saturate : SumOverflow::wrap;
  p.saturated_pairs = saturated_pairs;
  check(result, p.m * p.n);
  const PreparedIntegers prepared(p);
  std::int32_t* c = result.mutable_data();
  const std::size_t a_row = std::max<std::size_t>(1, p.k * p.n);
  const std::size_t rows = std::max<std::size_t>(6, slice_products / a_row / 6 * 6);
  in_slices(p.m, rows,
            [&](std::size_t first, std::size_t count) { prepared.run(first, count, c); });
}

#ifdef WIDTHWISE_CUDA

using cuda::Queue;

cuda::AffineNumbers numbers_of(const Layout7& layout, const Reals& scales,
                               const Integers& zero_points) {
  return {layout_of(layout),
          {scales.data(), static_cast<std::size_t>(scales.size())},
          {zero_points.data(), static_cast<std::size_t>(zero_points.size())}};
}

// Codes there are a format's, int4, uint8, ...
IntegerItem item_of(const Format& f) { return {item_bytes(f.width()), f.is_signed()}; }

std::pair<std::uint64_t, std::uint64_t> quantise_there(
    const Queue& queue, const Layout7& layout, const Reals& scales, const Integers& zero_points,
    const py::array& values, const Format& f, py::array codes, py::object flags,
    const std::pair<std::int64_t, std::int64_t>& range, const std::string& arithmetic,
    const Env& env, const py::object& nan, bool far_is_low, std::uint64_t seed) {
  const cuda::AffineNumbers numbers = numbers_of(layout, scales, zero_points);
  const AffineRule rule = rule_of(range, arithmetic, env, nan, far_is_low, item_of(f));
  std::byte* to = place(f, codes, numbers.layout.size());
  std::uint8_t* raised = flags_place(flags, numbers.layout.size());
  const AffineCounts counts = with_numbers(values, [&](const auto* x) {
    const py::gil_scoped_release free;
    return cuda::quantise_affine(queue, numbers, rule, f.width(), x, to, raised, {seed});
  });
  return {counts.clamped, counts.nan};
}

void dequantise_there(const Queue& queue, const Layout7& layout, const Reals& scales,
                      const Integers& zero_points, const Format& f, const py::array& codes,
                      const py::array& values) {
  const CodeArray from = code_array(f, codes);
  with_numbers(values, [&]<class T>(const T* x) {
    const py::gil_scoped_release free;
    cuda::dequantise_affine(queue, numbers_of(layout, scales, zero_points), item_of(f), f.width(),
                            from.data, const_cast<T*>(x));
  });
}

// Two arrays of the numbers' type.
py::tuple ranges_there(const Queue& queue, const Layout7& layout, std::size_t groups,
                       const py::array& values) {
  return with_numbers(values, [&]<class T>(const T* x) -> py::tuple {
    py::array_t<T> low(static_cast<py::ssize_t>(groups)), high(low.size());
    const std::span<T> lows(low.mutable_data(), groups), highs(high.mutable_data(), groups);
    {
      const py::gil_scoped_release free;
      cuda::group_ranges(queue, layout_of(layout), x, lows, highs);
    }
    return py::make_tuple(low, high);
  });
}

#endif

}  // namespace

void bind_affine(py::module_& m) {
  py::class_<AffineScales>(m, "AffineScales")
      .def(py::init(&make_scales), py::arg("layout"), py::arg("scales"), py::arg("zero_points"))
      .def("quantise", &quantise, py::arg("values"), py::arg("codes"), py::arg("flags"),
           py::arg("range"), py::arg("arithmetic"), py::arg("env"), py::arg("nan"),
           py::arg("far_is_low"), py::arg("random"))
      .def("dequantise", &dequantise, py::arg("codes"), py::arg("values"));
#ifdef WIDTHWISE_CUDA
  m.def("device_affine_quantise", &quantise_there);
  m.def("device_affine_dequantise", &dequantise_there);
  m.def("device_group_ranges", &ranges_there);
#endif
  m.def("float_range", &range_of, py::arg("values"));
  m.def("block_ranges", &block_ranges_of, py::arg("values"), py::arg("length"), py::arg("block"));
  m.def("affine_parameters", &parameters_of, py::arg("low"), py::arg("high"), py::arg("range"),
        py::arg("scheme"));
  m.def("requantise", &requantise_sums, py::arg("sums"), py::arg("codes"), py::arg("inner"),
        py::arg("multipliers"), py::arg("zero_points"), py::arg("variant"), py::arg("range"));
  m.def("integer_product", &integer_product, py::arg("a"), py::arg("b"), py::arg("zero_a"),
        py::arg("zero_b"), py::arg("bias"), py::arg("saturate"), py::arg("saturated_pairs"),
        py::arg("result"));
}
