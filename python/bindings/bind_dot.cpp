#include <algorithm>

#include "matrix.hpp"
#include "multiplier.hpp"
#include "slices.hpp"
#include "supplied.hpp"
#include "trace_rows.hpp"
#include "widthwise/sim/engine.hpp"
#include "widthwise/sim/paired_dots.hpp"
#include "widthwise/sim/product_tiles.hpp"
#include "widthwise/sim/running.hpp"

using namespace widthwise;

namespace {

std::size_t slice_of(std::size_t at_once, std::size_t products) {
  return std::max<std::size_t>(1, at_once / std::max<std::size_t>(1, products));
}

// A unit made ready to be looked at, for a length.
class PreparedUnit {
 public:
  PreparedUnit(const Unit& unit, std::size_t k, const py::object& product)
      : unit_(unit),
        multiplier_(multiplier(product)),
        k_(k),
        reference_(make_reference(unit, k, multiplier_)) {}

  std::string carriers() const { return reference_->carriers(); }

  // (engine, whether it takes the product, why, products a second of a core), the best first.
  py::list opinions(bool flags, std::size_t outputs) const {
    py::list all;
    for (const Opinion& o : widthwise::opinions({unit_, k_, flags, multiplier_, outputs}))
      all.append(py::make_tuple(o.engine, o.takes, o.reason, o.rate));
    return all;
  }

  py::list trace(const Operands& x, std::uint64_t seed, std::uint64_t index) const {
    MatrixProduct p = product_batch(unit_, x).at(unit_, 0);
    p.seed = seed;
    p.first_index = index;
    check(unit_, p);
    return trace_rows(reference_->trace(p, 0, 0));
  }
  // By the caller's random bits.
  py::list trace_supplied(const Operands& x, const std::vector<py::array>& words) const {
    const MatrixProduct p = product_batch(unit_, x).at(unit_, 0);
    check(unit_, p);
    return trace_rows(reference_->trace_supplied(p, 0, 0, supplied_words(unit_, k_, words, 1)));
  }

 private:
  Unit unit_;
  Multiplier multiplier_;
  std::size_t k_;
  std::unique_ptr<ReferenceUnit> reference_;
};

// An engine made ready for products of one unit and length.
class PreparedProducts {
 public:
  PreparedProducts(const Unit& unit, std::size_t k, const py::object& product, bool flags,
                   const std::string& engine, std::size_t outputs)
      : task_{unit, k, flags, multiplier(product), outputs},
        product_(product),
        any_engine_(engine == "auto"),
        engine_(prepare(task_, engine)) {}

  void run(const Operands& x, py::array result, py::object flags, std::uint64_t seed,
           int threads) const {
    ProductBatch batch = product_batch(task_.unit, x, result, flags, seed);
    const std::size_t outputs = batch.outputs();
    if (outputs == 0) return;
    batch = merged(task_.unit, std::move(batch), product_.is_none());
    const int crew = this->crew(outputs, threads);
    const PairedDots* paired = is_paired(batch) ? paired_dots() : nullptr;
    paired ? run_paired(*paired, batch, crew) : run_batch(batch, crew);
  }

 private:
  // A thread takes long to wake: none is asked for less work than that.
  int crew(std::size_t outputs, int threads) const {
    constexpr double seconds = 0.4e-3;
    const double products = static_cast<double>(outputs) * static_cast<double>(task_.k);
    const double shares = products / (engine_.rate * seconds);
    return static_cast<int>(std::clamp(shares, 1.0, double(crew_of(product_, threads))));
  }

  // Dot products that have no operand in common, enough of them to be worth another engine.
  bool is_paired(const ProductBatch& batch) const {
    return any_engine_ && batch.first.m == 1 && batch.first.n == 1 &&
           batch.count() >= PairedDots::fewest;
  }
  const PairedDots* paired_dots() const {
    std::call_once(looked_, [&] { paired_ = PairedDots::of(task_); });
    return paired_ && paired_->at_once() > 0 ? &*paired_ : nullptr;
  }
  void run_paired(const PairedDots& dots, const ProductBatch& batch, int threads) const {
    const std::size_t count = batch.count(), crew = static_cast<std::size_t>(threads);
    const std::size_t each = std::min(dots.at_once(), (count + crew - 1) / crew);
    in_parallel((count + each - 1) / each, threads, [&](std::size_t slice) {
      dots.run(batch, slice * each, std::min(count, (slice + 1) * each));
    });
  }

  // Few products are shared out by tiles, many by their number.
  void run_batch(const ProductBatch& batch, int threads) const {
    const MatrixProduct& p = batch.first;
    const std::size_t count = batch.count(), crew = static_cast<std::size_t>(threads);
    const std::size_t most = slice_of(slice_of(engine_.products_at_once, p.m * p.n), p.k);
    if (count < crew || most == 1) {
      for (std::size_t i = 0; i < count; ++i) run_tiles(batch.at(task_.unit, i), threads);
      return;
    }
    const std::size_t each = std::min(most, (count + crew - 1) / crew);
    in_parallel((count + each - 1) / each, threads, [&](std::size_t slice) {
      for (std::size_t i = slice * each; i < std::min(count, (slice + 1) * each); ++i)
        engine_.product->run(batch.at(task_.unit, i), 0, p.m);
    });
  }

  void run_tiles(const MatrixProduct& p, int threads) const {
    const ProductTiles tiles(p.m, p.n, p.k, engine_.products_at_once,
                             static_cast<std::size_t>(threads));
    in_parallel(tiles.count(), threads, [&](std::size_t i) {
      const ProductTile t = tiles.at(i);
      engine_.product->run(tile(task_.unit, p, t.row, t.column, t.m, t.n), 0, t.m);
    });
  }

  ProductTask task_;
  py::object product_;
  bool any_engine_;
  Prepared engine_;
  mutable std::once_flag looked_;
  mutable std::optional<PairedDots> paired_;  // found where a batch is of them
};

// Dot products and matrix products by the caller's random bits: by the definition, whatever the
// unit. words: of each of its random slots, for every output of the batch.
void run_supplied(const Unit& unit, std::size_t k, const py::object& product, const Operands& x,
                  py::array result, py::object flags, const std::vector<py::array>& words,
                  int threads) {
  const ProductBatch batch = product_batch(unit, x, result, flags, 0);
  const std::size_t outputs = batch.outputs();
  if (outputs == 0) return;
  check(unit, batch.first);
  const auto reference = make_reference(unit, k, multiplier(product));
  const std::vector<SuppliedWords> random = supplied_words(unit, k, words, outputs);
  const std::size_t m = batch.first.m, n = batch.first.n;
  in_parallel(outputs, crew_of(product, threads), [&](std::size_t i) {
    reference->run_supplied(batch.at(unit, i / (m * n)), i / n % m, i % n, random);
  });
}

// The results over the first 1, 2, … k elements of each dot product of a batch: (..., k).
void running(const Unit& unit, const Operands& x, py::array result, py::object flags,
             std::uint64_t seed, int threads) {
  ProductBatch batch = product_batch(unit, x);
  const std::size_t k = batch.first.k, outputs = batch.outputs();
  std::byte* const codes = place(result_round(unit).fmt, result, outputs * k);
  std::uint8_t* const raised = flags_place(flags, outputs * k);
  batch.first.seed = seed;
  check(unit, batch.first);
  if (outputs * k == 0) return;
  const RunningProducts products(unit, k, raised != nullptr);
  batch = merged(unit, std::move(batch), false);
  const auto bytes = static_cast<std::size_t>(item_bytes(result_round(unit).fmt.width()));
  const std::size_t rows = batch.first.m, passes = products.passes();
  const std::size_t slices = batch.count() * rows * passes;
  in_parallel(slices, crew_of(py::none(), threads), [&](std::size_t slice) {
    const std::size_t i = slice / passes;
    MatrixProduct p = batch.at(unit, i / rows);
    const std::size_t before = i / rows * rows * p.n * k;
    p.result = codes + before * bytes;
    p.flags = raised ? raised + before : nullptr;
    products.run(p, i % rows, i % rows + 1, slice % passes);
  });
}

}  // namespace

void bind_dot(py::module_& m) {
  py::class_<Operands>(m, "Operands")
      .def(py::init([](py::array a, py::array b, py::object c, py::object sa, py::object sb) {
        return Operands{std::move(a), std::move(b), std::move(c), std::move(sa), std::move(sb)};
      }));
  py::class_<TextProduct>(m, "TextProduct")
      .def(py::init([](std::string source, std::uintptr_t address) {
        return TextProduct{std::move(source), reinterpret_cast<TextProduct::Function*>(address)};
      }))
      .def("__call__", [](const TextProduct& product, std::uint64_t a, std::uint64_t b) {
        return to_integer(product(a, b));
      });
  py::class_<PreparedUnit>(m, "PreparedUnit")
      .def(py::init<const Unit&, std::size_t, const py::object&>())
      .def_property_readonly("carriers", &PreparedUnit::carriers)
      .def("opinions", &PreparedUnit::opinions)
      .def("trace", &PreparedUnit::trace)
      .def("trace_supplied", &PreparedUnit::trace_supplied);
  py::class_<PreparedProducts>(m, "PreparedProducts")
      .def(py::init<const Unit&, std::size_t, const py::object&, bool, const std::string&,
                    std::size_t>())
      .def("run", &PreparedProducts::run);
  py::class_<RandomSlot>(m, "RandomSlot")
      .def_property_readonly("name", [](const RandomSlot& x) { return x.port.name; })
      .def_property_readonly("bits", [](const RandomSlot& x) { return x.port.bits; })
      .def_property_readonly("words", [](const RandomSlot& x) { return x.port.steps.size(); })
      .def_property_readonly("steps", [](const RandomSlot& x) { return x.port.steps; });
  m.def("random_slots", &random_slots);
  m.def("run_supplied", &run_supplied);
  m.def("running", &running);
  m.def("product_source", &product_source);
  m.def("multiplier_names", &multiplier_names);
  m.def("engine_names", &engine_names);
  m.def("old_engine_names", &old_engine_names);
}
