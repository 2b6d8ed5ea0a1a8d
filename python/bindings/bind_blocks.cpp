#include <pybind11/stl.h>

#include <optional>

#include "codes.hpp"
#include "slices.hpp"
#include "widthwise/sim/blocks.hpp"
#ifdef WIDTHWISE_CUDA
#include "numbers_there.hpp"
#endif

using namespace widthwise;

namespace {

using Grid = std::array<std::size_t, 5>;  // outer, rows, columns, block's rows, block's columns

constexpr std::size_t panel_slice = 64;  // panels

BlockGrid grid_of(const Grid& g) { return {g[0], g[1], g[2], g[3], g[4]}; }

const char* shape_word(const BlockFormat& f) {
  switch (f.shape) {
    case BlockShape::along_axis: return "along_axis";
    case BlockShape::tile: return "tile";
    case BlockShape::whole_axis: return "whole_axis";
    case BlockShape::whole_array: return "whole_array";
  }
  return "";
}

bool of_floats(const py::array& x) {
  if (x.dtype().kind() != 'f' || !(x.flags() & py::array::c_style))
    throw std::logic_error("numbers have to be a contiguous array of floats");
  return x.itemsize() == 4;
}

// (clamped elements, blocks whose scale is NaN, the first number refused or None)
py::tuple as_tuple(const BlockTally& tally) {
  return py::make_tuple(tally.clamped, tally.special, tally.refused);
}

py::tuple quantise_blocks(const BlockFormat& f, const Grid& g, const py::array& x,
                          py::array elements, py::array scales, BlockHow how,
                          const py::object& random) {
  const BlockGrid grid = grid_of(g);
  how.random = random_source(random, grid.outer * grid.rows * grid.columns);
  const auto quantiser = of_floats(x) ? BlockQuantiser::of<float>(f, grid, how)
                                      : BlockQuantiser::of<double>(f, grid, how);
  std::byte* to = place(f.element, elements, grid.outer * grid.rows * grid.columns);
  std::byte* scale = place(f.scale, scales, grid.scales());
  BlockTally tally;
  in_slices(quantiser.panels(), panel_slice, [&](std::size_t first, std::size_t n) {
    for (std::size_t i = first; i < first + n && !tally.refused; ++i)
      quantiser.run(i, x.data(), to, scale, tally);
  });
  return as_tuple(tally);
}

void read_out(const BlockFormat& f, const Grid& g, const py::array& elements,
              const py::array& scales, py::array x, float tensor_scale) {
  const BlockGrid grid = grid_of(g);
  const auto reader = of_floats(x) ? BlockReader::of<float>(f, grid, tensor_scale)
                                   : BlockReader::of<double>(f, grid, tensor_scale);
  const CodeArray codes = code_array(f.element, elements), scale = code_array(f.scale, scales);
  void* to = x.mutable_data();
  in_slices(reader.panels(), panel_slice, [&](std::size_t first, std::size_t n) {
    for (std::size_t i = first; i < first + n; ++i) reader.run(i, codes.data, scale.data, to);
  });
}

BlockHow how_of(const std::string& rounding, float tensor_scale, bool single,
                const std::optional<std::shared_ptr<LargestMagnitudes>>& maxima) {
  return {.rounding = parse_rounding(rounding),
          .tensor_scale = tensor_scale,
          .steps = single ? BlockSteps::single : BlockSteps::exact,
          .maxima = maxima.value_or(nullptr)};
}

LargestMagnitudes maxima_of(const Grid& g, const py::array& x) {
  const bool floats = of_floats(x);
  const void* at = x.data();
  const py::gil_scoped_release free;
  return floats ? largest_magnitudes(grid_of(g), static_cast<const float*>(at))
                : largest_magnitudes(grid_of(g), static_cast<const double*>(at));
}

double largest(const py::array& x) {
  const bool floats = of_floats(x);
  const auto n = static_cast<std::size_t>(x.size());
  const void* at = x.data();
  const py::gil_scoped_release free;
  return floats ? largest_magnitude(static_cast<const float*>(at), n)
                : largest_magnitude(static_cast<const double*>(at), n);
}

using Bytes = py::array_t<std::uint8_t, py::array::c_style>;

std::size_t rows_of(const Format& f, const py::array& codes, std::size_t n) {
  return n ? code_count(f, codes) / n : 0;
}

void pack_rows(const Format& f, const py::array& codes, std::size_t n, Bytes bytes) {
  auto* to = reinterpret_cast<std::byte*>(bytes.mutable_data());
  const std::size_t rows = rows_of(f, codes, n);
  const void* from = codes.data();
  const py::gil_scoped_release free;
  pack_codes(f.width(), from, rows, n, to);
}

void unpack_rows(const Format& f, const Bytes& bytes, std::size_t n, py::array codes) {
  const std::size_t rows = rows_of(f, codes, n);
  std::byte* to = place(f, codes, rows * n);
  const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
  const py::gil_scoped_release free;
  unpack_codes(f.width(), from, rows, n, to);
}

#ifdef WIDTHWISE_CUDA

using cuda::Queue;

py::tuple quantise_blocks_there(const Queue& queue, const BlockFormat& f, const Grid& g,
                                const py::array& x, py::array elements, py::array scales,
                                BlockHow how, std::uint64_t seed) {
  const BlockGrid grid = grid_of(g);
  how.random = {seed};
  std::byte* to = place(f.element, elements, grid.outer * grid.rows * grid.columns);
  std::byte* scale = place(f.scale, scales, grid.scales());
  return as_tuple(with_numbers(x, [&](const auto* numbers) {
    const py::gil_scoped_release free;
    return cuda::quantise_blocks(queue, f, grid, how, numbers, to, scale);
  }));
}

void read_there(const Queue& queue, const BlockFormat& f, const Grid& g, const py::array& elements,
                const py::array& scales, const py::array& x, float tensor_scale) {
  const CodeArray codes = code_array(f.element, elements), scale = code_array(f.scale, scales);
  with_numbers(x, [&]<class T>(const T* numbers) {
    const py::gil_scoped_release free;
    cuda::read_blocks(queue, f, grid_of(g), tensor_scale, codes.data, scale.data,
                      const_cast<T*>(numbers));
  });
}

void pack_there(const Queue& queue, const Format& f, const py::array& codes, std::size_t n,
                py::array bytes) {
  const std::size_t rows = rows_of(f, codes, n);
  const void* from = codes.data();
  void* to = bytes.mutable_data();
  const py::gil_scoped_release free;
  cuda::pack_codes(queue, f.width(), from, rows, n, to);
}

void unpack_there(const Queue& queue, const Format& f, const py::array& bytes, std::size_t n,
                  py::array codes) {
  const std::size_t rows = rows_of(f, codes, n);
  std::byte* to = place(f, codes, rows * n);
  const void* from = bytes.data();
  const py::gil_scoped_release free;
  cuda::unpack_codes(queue, f.width(), from, rows, n, to);
}

double largest_there(const Queue& queue, const py::array& x) {
  const auto n = static_cast<std::size_t>(x.size());
  return with_numbers(x, [&](const auto* numbers) {
    const py::gil_scoped_release free;
    return cuda::largest_magnitude(queue, numbers, n);
  });
}

LargestMagnitudes maxima_there(const Queue& queue, const Grid&, const py::array& x) {
  return {largest_there(queue, x), {}};
}

#endif

}  // namespace

void bind_blocks(py::module_& m) {
  py::class_<BlockFormat>(m, "BlockFormat")
      .def(py::init([](const std::string& text) { return parse_block_format(text); }))
      .def("__str__", [](const BlockFormat& f) { return to_string(f); })
      .def_readonly("element", &BlockFormat::element)
      .def_readonly("scale", &BlockFormat::scale)
      .def_readonly("rows", &BlockFormat::rows)
      .def_readonly("columns", &BlockFormat::columns)
      .def_readonly("flush", &BlockFormat::flush)
      .def_property_readonly("shape", &shape_word)
      .def_property_readonly("power_of_two", &BlockFormat::power_of_two)
      .def_property_readonly("takes_tensor_scale", &BlockFormat::takes_tensor_scale)
      .def_property_readonly("refuses_specials", &BlockFormat::refuses_specials);
  py::class_<LargestMagnitudes, std::shared_ptr<LargestMagnitudes>>(m, "LargestMagnitudes")
      .def_readonly("of_all", &LargestMagnitudes::of_all);
  py::class_<BlockHow>(m, "BlockHow")
      .def(py::init(&how_of), py::arg("rounding"), py::arg("tensor_scale"), py::arg("single"),
           py::arg("maxima"));
  m.def("is_block_format", [](const std::string& text) { return is_block_format(text); });
  m.def("quantise_blocks", &quantise_blocks);
  m.def("read_blocks", &read_out);
  m.def("largest_magnitude", &largest);
  m.def("largest_magnitudes", &maxima_of);
#ifdef WIDTHWISE_CUDA
  m.def("device_quantise_blocks", &quantise_blocks_there);
  m.def("device_read_blocks", &read_there);
  m.def("device_largest_magnitude", &largest_there);
  m.def("device_largest_magnitudes", &maxima_there);
  m.def("device_pack_codes", &pack_there);
  m.def("device_unpack_codes", &unpack_there);
#endif
  m.def("packed_bytes", &packed_bytes);
  m.def("pack_codes", &pack_rows, py::arg(), py::arg(), py::arg(), py::arg().noconvert());
  m.def("unpack_codes", &unpack_rows);
}
