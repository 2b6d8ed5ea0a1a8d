#include "images.hpp"
#include "matrix.hpp"
#include "multiplier.hpp"
#include "slices.hpp"
#include "trace_rows.hpp"
#ifdef WIDTHWISE_CUDA
#include "widthwise/cuda/memory.hpp"
#include "widthwise/cuda/sweep.hpp"
#include "widthwise/sim/operation_text.hpp"

// Arrays that are given here stand for a GPU's memory: their data are its addresses, which nobody
// here reads.
using namespace widthwise;
using cuda::Queue;

namespace {

// Named as their twins of the CPU are.
namespace there {

void* pointer(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

// Of any type, whose results are written there.
void* pointer_of(const py::array& there) { return const_cast<void*>(there.data()); }

void copy_in(const Queue& queue, std::uintptr_t to, const py::array& from) {
  const void* data = from.data();
  const auto bytes = static_cast<std::size_t>(from.nbytes());
  const py::gil_scoped_release free;
  cuda::copy_in(queue, pointer(to), data, bytes);
}

void copy_out(const Queue& queue, py::array& to, std::uintptr_t from) {
  void* data = to.mutable_data();
  const auto bytes = static_cast<std::size_t>(to.nbytes());
  const py::gil_scoped_release free;
  cuda::copy_out(queue, data, pointer(from), bytes);
}

void gather(const Queue& queue, std::uintptr_t to, const py::array& items) {
  std::vector<cuda::Axis> axes;
  for (py::ssize_t i = 0; i < items.ndim(); ++i)
    axes.push_back({static_cast<std::size_t>(items.shape(i)), items.strides(i) / items.itemsize()});
  const void* data = items.data();
  const auto bytes = static_cast<int>(items.itemsize());
  const py::gil_scoped_release free;
  cuda::gather(queue, pointer(to), data, bytes, axes);
}

void compute(const Queue& queue, const std::string& op, const Format& to, const Env& env,
             const std::vector<std::pair<Format, py::array>>& operands, py::array result,
             py::object flags, std::uint64_t seed) {
  std::vector<CodeArray> arrays;
  for (const auto& [f, codes] : operands) arrays.push_back(code_array(f, codes));
  const std::size_t count = code_count(to, result);
  std::byte* at = place(to, result, count);
  std::uint8_t* raised = flags_place(flags, count);
  const py::gil_scoped_release free;
  cuda::elementwise(queue, parse_operation(op), to, env, arrays, count, at, raised, {seed, 0});
}

using Powers = py::array_t<std::int64_t, py::array::c_style>;
void scale(const Queue& queue, const Format& to, const Env& env, const Format& f,
           const py::array& a, const Powers& n, py::array result, py::object flags,
           std::uint64_t seed) {
  const CodeArray codes = code_array(f, a);
  const std::size_t count = code_count(to, result);
  std::byte* at = place(to, result, count);
  std::uint8_t* raised = flags_place(flags, count);
  const std::int64_t* powers = n.data();
  const py::gil_scoped_release free;
  cuda::scaleb(queue, to, env, codes, powers, count, at, raised, {seed, 0});
}

void integers_of(const Queue& queue, int width, bool is_signed, const std::string& invalid,
                 const Env& env, const Format& f, const py::array& a, const py::array& result,
                 py::object flags, std::uint64_t seed) {
  const IntegerType type{width, is_signed, parse_invalid_integer(invalid)};
  const CodeArray codes = code_array(f, a);
  const std::size_t count = code_count(f, a);
  auto* at = static_cast<std::uint64_t*>(pointer_of(result));
  std::uint8_t* raised = flags_place(flags, count);
  const py::gil_scoped_release free;
  cuda::to_integers(queue, type, env, codes, count, at, raised, {seed, 0});
}

void codes_of_integers(const Queue& queue, int width, bool is_signed, const Format& to,
                       const Env& env, const py::array& a, py::array result, py::object flags,
                       std::uint64_t seed) {
  const std::size_t count = code_count(to, result);
  const void* integers = a.data();
  std::byte* at = place(to, result, count);
  std::uint8_t* raised = flags_place(flags, count);
  const py::gil_scoped_release free;
  cuda::from_integers(queue, {width, is_signed}, to, env, integers, count, at, raised, {seed, 0});
}

void compare_codes(const Queue& queue, const std::string& how, const Format& fa, const py::array& a,
                   const Format& fb, const py::array& b, const py::array& result,
                   py::object flags) {
  const CodeArray x = code_array(fa, a), y = code_array(fb, b);
  const std::size_t count = code_count(fa, a);
  auto* at = static_cast<std::uint8_t*>(pointer_of(result));
  std::uint8_t* raised = flags_place(flags, count);
  const py::gil_scoped_release free;
  cuda::compare(queue, parse_comparison(how), x, y, count, at, raised);
}

using Ask = void (*)(const Queue&, const CodeArray&, std::size_t, std::uint8_t*);
auto asking(Ask ask) {
  return [ask](const Queue& queue, const Format& f, const py::array& a, py::object result) {
    const CodeArray codes = code_array(f, a);
    const std::size_t count = code_count(f, a);
    std::uint8_t* at = flags_place(result, count);
    const py::gil_scoped_release free;
    ask(queue, codes, count, at);
  };
}

// Made ready for products of one unit and length on one GPU.
class Products {
 public:
  Products(int gpu, const Unit& unit, std::size_t k, const py::object& product, bool flags)
      : unit_(unit),
        exact_(product.is_none()),
        engine_(gpu, {.unit = unit, .k = k, .flags = flags, .multiplier = multiplier(product)}) {}

  void run(const Operands& x, py::array result, py::object flags, std::uint64_t seed,
           std::uintptr_t stream) const {
    ProductBatch batch = product_batch(unit_, x, result, flags, seed);
    const bool any = batch.outputs() != 0;
    const ProductBatch products = merged(unit_, std::move(batch), exact_);
    in_slices(any ? products.count() : 0, 1,
              [&](std::size_t i, std::size_t) { engine_.run(products.at(unit_, i), stream); });
  }

 private:
  Unit unit_;
  bool exact_;
  cuda::DeviceProducts engine_;
};

// The results over the first 1, 2, … k elements of each dot product of a batch: (..., k).
void running(const Queue& queue, const Unit& unit, const Operands& x, py::array result,
             py::object flags, std::uint64_t seed) {
  ProductBatch batch = product_batch(unit, x);
  const std::size_t k = batch.first.k, outputs = batch.count() * batch.first.m * batch.first.n;
  std::byte* const codes = place(result_round(unit).fmt, result, outputs * k);
  std::uint8_t* const raised = flags_place(flags, outputs * k);
  batch.first.seed = seed;
  check(unit, batch.first);
  if (outputs * k == 0) return;
  batch = merged(unit, std::move(batch), false);
  const auto bytes = static_cast<std::size_t>(item_bytes(result_round(unit).fmt.width()));
  in_slices(batch.count(), 1, [&](std::size_t i, std::size_t) {
    MatrixProduct p = batch.at(unit, i);
    const std::size_t before = i * p.m * p.n * k;
    p.result = codes + before * bytes;
    p.flags = raised ? raised + before : nullptr;
    cuda::run_running(queue, unit, p);
  });
}

// Of one dot product.
py::list trace(const Queue& queue, const Unit& unit, const Operands& x, std::uint64_t seed,
               std::uint64_t index, const py::object& product) {
  MatrixProduct p = product_batch(unit, x).at(unit, 0);
  p.seed = seed;
  p.first_index = index;
  check(unit, p);
  const ProductTask task{.unit = unit, .k = p.k, .multiplier = multiplier(product)};
  return trace_rows(cuda::trace(queue, task, p, 0, 0));
}

void convolve(const Queue& queue, const Unit& unit, const Convolution& convolution,
              const py::array& x, const py::array& weights, const py::object& c, py::array result,
              py::object flags, std::uint64_t seed, const py::object& product) {
  const ConvolutionOperands operands =
      convolution_operands(unit, convolution, x, weights, c, result, flags, seed);
  const Multiplier multiply = multiplier(product);
  const py::gil_scoped_release free;
  cuda::convolve(queue, unit, convolution, multiply, operands);
}

using Values = py::array_t<double, py::array::c_style>;
std::unique_ptr<cuda::Sweep> sweep(int gpu, const Values& a, const Values& b, const Values& exact,
                                   const std::string& rounding) {
  const cuda::SweepValues values{static_cast<std::size_t>(a.shape(0)),
                                 static_cast<std::size_t>(a.shape(1)),
                                 static_cast<std::size_t>(b.shape(1)),
                                 a.data(),
                                 b.data(),
                                 exact.data(),
                                 parse_rounding(rounding)};
  const py::gil_scoped_release free;
  return cuda::sweep_on_gpu(gpu, values);
}

// The metrics of each unit, in the order of ErrorMetrics.
std::vector<std::array<double, 7>> swept(const cuda::Sweep& sweep, const std::vector<Unit>& units,
                                         std::uint64_t seed) {
  const py::gil_scoped_release free;
  std::vector<std::array<double, 7>> all;
  for (const cuda::ErrorMetrics& m : sweep.run(units, seed))
    all.push_back(
        {m.max_abs, m.mean_abs, m.max_rel, m.mean_rel, m.rel_norm, m.exact, m.not_finite});
  return all;
}

void bind(py::module_& m) {
  py::class_<cuda::DeviceMemory>(m, "DeviceMemory")
      .def(py::init<int, std::size_t>())
      .def_property_readonly("address", &cuda::DeviceMemory::address);
  py::class_<Queue>(m, "Queue").def(py::init([](int gpu, std::uintptr_t stream) {
    return Queue{gpu, stream};
  }));
  m.def("wait_for", [](const Queue& queue) {
    const py::gil_scoped_release free;
    cuda::wait(queue);
  });
  m.def("gpu_of_address", [](std::uintptr_t address) { return cuda::gpu_of(pointer(address)); });
  m.def("copy_in", &copy_in);
  m.def("copy_out", &copy_out);
  m.def("gather", &gather);
  m.def("device_elementwise", &compute);
  m.def("device_scaleb", &scale);
  m.def("device_to_integers", &integers_of);
  m.def("device_from_integers", &codes_of_integers);
  m.def("device_compare", &compare_codes);
  m.def("device_classify", asking(&cuda::classify));
  m.def("device_signs", asking(&cuda::signs));
  m.def("device_running", &running);
  m.def("device_trace", &trace);
  m.def("device_convolve", &convolve);
  py::class_<cuda::Sweep>(m, "DeviceSweep").def(py::init(&sweep)).def("run", &swept);
  m.def("why_no_sweep", &cuda::why_no_sweep);
  py::class_<Products>(m, "DeviceProducts")
      .def(py::init<int, const Unit&, std::size_t, const py::object&, bool>())
      .def("run", &Products::run);
}

}  // namespace there
}  // namespace

void bind_device(py::module_& m) { there::bind(m); }
#else
void bind_device(py::module_&) {}
#endif
