#include <thread>

#include "matrix.hpp"
#include "slices.hpp"
#include "trace_rows.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/multipliers.hpp"

using namespace widthwise;

namespace {

constexpr std::size_t slice_products = 200'000;  // of the reference: some hundredths of a second

uint128 to_uint128(const py::int_& x) {
  const py::int_ mask(~std::uint64_t{0});
  const auto low = py::cast<std::uint64_t>(x.attr("__and__")(mask));
  return uint128{py::cast<std::uint64_t>(x.attr("__rshift__")(64))} << 64 | low;
}

// A Python function of two significands. Its result may take 128 bits.
Multiplier called(const py::function& f) {
  return [f](std::uint64_t a, std::uint64_t b) -> uint128 {
    const py::gil_scoped_acquire lock;
    const py::object z = f(a, b);
    if (!py::hasattr(z, "__index__"))
      throw py::type_error("multiplier: it returned " + py::cast<std::string>(py::repr(z)) +
                           "; an integer is wanted");
    const py::int_ m = z.attr("__index__")();
    if (m < py::int_(0) || m >= py::int_(1).attr("__lshift__")(128))
      throw py::value_error("multiplier: it returned " + py::cast<std::string>(py::str(m)) +
                            "; products are 0 to 2^128 - 1");
    return to_uint128(m);
  };
}

Multiplier multiplier(const py::object& what) {
  if (what.is_none()) return {};
  if (py::isinstance<py::str>(what)) return parse_multiplier(py::cast<std::string>(what));
  return called(py::cast<py::function>(what));
}

// A unit made ready for a length.
class PreparedUnit {
 public:
  PreparedUnit(const Unit& unit, std::size_t k, const py::object& product)
      : unit_(unit),
        calls_python_(!product.is_none() && !py::isinstance<py::str>(product)),
        multiplier_(multiplier(product)),
        k_(k),
        reference_(make_reference(unit, k, multiplier_)) {}

  std::string carriers() const { return reference_->carriers(); }

  // (engine, whether it takes the product, why, products a second of a core), the best first.
  py::list opinions(bool flags) const {
    py::list all;
    for (const Opinion& o : widthwise::opinions({unit_, k_, flags, multiplier_}))
      all.append(py::make_tuple(o.engine, o.takes, o.reason, o.rate));
    return all;
  }

  void matmul(const Operands& x, py::array result, py::object flags, std::uint64_t seed,
              std::uint64_t first_index, int threads, const std::string& engine) const {
    MatrixProduct p = matrix_product(unit_, x);
    const Format out = result_round(unit_).fmt;
    p.result = place(out, result, p.m * p.n);
    p.flags = flags_place(flags, p.m * p.n);
    p.seed = seed;
    p.first_index = first_index;
    check(unit_, p);
    const Prepared prepared = prepare({unit_, k_, p.flags != nullptr, multiplier_}, engine);
    if (p.m == 0 || p.n == 0) return;
    run_tiles(prepared, p, calls_python_ ? 1 : threads > 0 ? threads : cores());
  }

  void dots(const Operands& x, py::array result, py::object flags, std::uint64_t seed) const {
    const DotBatch batch(unit_, x);
    const Format out = result_round(unit_).fmt;
    const auto bytes = static_cast<std::size_t>(item_bytes(out.width()));
    std::byte* at = place(out, result, batch.count());
    std::uint8_t* raised = flags_place(flags, batch.count());
    in_slices(batch.count(), slice_of(slice_products, batch.k()),
              [&](std::size_t first, std::size_t count) {
                for (std::size_t i = first; i < first + count; ++i) {
                  MatrixProduct p = batch.output(i);
                  p.result = at + i * bytes;
                  p.flags = raised ? raised + i : nullptr;
                  p.seed = seed;
                  check(unit_, p);
                  reference_->run(p, 0, 1);
                }
              });
  }

  py::list trace(const Operands& x, std::uint64_t seed, std::uint64_t index) const {
    MatrixProduct p = DotBatch(unit_, x).output(0);
    p.seed = seed;
    p.first_index = index;
    check(unit_, p);
    return trace_rows(reference_->trace(p, 0, 0));
  }

 private:
  static int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }
  static std::size_t slice_of(std::size_t at_once, std::size_t products) {
    return std::max<std::size_t>(1, at_once / std::max<std::size_t>(1, products));
  }

  void run_tiles(const Prepared& engine, const MatrixProduct& p, int threads) const {
    const std::size_t columns = std::min(p.n, slice_of(engine.products_at_once, p.k));
    const std::size_t share =
        (p.m + static_cast<std::size_t>(threads) - 1) / static_cast<std::size_t>(threads);
    const std::size_t rows =
        columns < p.n ? 1 : std::min(share, slice_of(engine.products_at_once, p.k * p.n));
    const std::size_t across = (p.n + columns - 1) / columns, down = (p.m + rows - 1) / rows;
    in_parallel(across * down, threads, [&](std::size_t i) {
      const std::size_t row = i / across * rows, column = i % across * columns;
      const std::size_t m = std::min(rows, p.m - row), n = std::min(columns, p.n - column);
      engine.product->run(tile(unit_, p, row, column, m, n), 0, m);
    });
  }

  Unit unit_;
  bool calls_python_;
  Multiplier multiplier_;
  std::size_t k_;
  std::unique_ptr<ReferenceUnit> reference_;
};

}  // namespace

void bind_dot(py::module_& m) {
  py::class_<Operands>(m, "Operands")
      .def(py::init([](py::array a, py::array b, py::object c, py::object sa, py::object sb) {
        return Operands{std::move(a), std::move(b), std::move(c), std::move(sa), std::move(sb)};
      }));
  py::class_<PreparedUnit>(m, "PreparedUnit")
      .def(py::init<const Unit&, std::size_t, const py::object&>())
      .def_property_readonly("carriers", &PreparedUnit::carriers)
      .def("opinions", &PreparedUnit::opinions)
      .def("matmul", &PreparedUnit::matmul)
      .def("dots", &PreparedUnit::dots)
      .def("trace", &PreparedUnit::trace);
  m.def("multiplier_names", &multiplier_names);
  m.def("engine_names", &engine_names);
}
