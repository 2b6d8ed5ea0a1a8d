#include "bind.hpp"
#include "widthwise/sim/vectors.hpp"

using namespace widthwise;

namespace {

InexactIntegers inexact_integers(const std::string& word) {
  if (word == "either") return InexactIntegers::either;
  if (word == "raised") return InexactIntegers::raised;
  if (word == "never") return InexactIntegers::never;
  throw std::invalid_argument("inexact = '" + word + "': it may be either, raised or never");
}

}  // namespace

void bind_vectors(py::module_& m) {
  py::class_<VectorTask>(m, "VectorTask").def(py::init(&vector_task));
  py::class_<VectorChecker>(m, "VectorChecker")
      .def(py::init([](const VectorTask& task, bool nan_bits, bool int_bits,
                       const std::string& inexact, bool flags, std::size_t latency) {
             return std::make_unique<VectorChecker>(
                 task, VectorRules{nan_bits, int_bits, inexact_integers(inexact), flags, latency});
           }),
           py::arg("task"), py::arg("nan_bits"), py::arg("int_bits"), py::arg("inexact"),
           py::arg("flags") = true, py::arg("latency") = 0)
      .def("feed",
           [](VectorChecker& c, const py::bytes& text) {
             const std::string_view view = text;
             const py::gil_scoped_release free;
             c.feed(view);
           })
      .def("finish", &VectorChecker::finish, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("vectors", &VectorChecker::vectors)
      .def_property_readonly("errors", &VectorChecker::errors)
      .def_property_readonly("failures", &VectorChecker::failures);
  m.def("make_vectors", &make_vectors, py::call_guard<py::gil_scoped_release>());
}
