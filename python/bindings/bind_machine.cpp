#include <optional>

#include "../../sim/engine/machine_rounding.hpp"
#include "bind.hpp"

using namespace widthwise;

namespace {

// A `with` of Python, in which NumPy rounds to nearest and keeps subnormals, whatever the thread
// has set.
class UsualArithmetic {
 public:
  void enter() { mode_.emplace(RoundingMode::rne); }
  void leave(const py::object&, const py::object&, const py::object&) { mode_.reset(); }

 private:
  std::optional<MachineRounding> mode_;
};

}  // namespace

void bind_machine(py::module_& m) {
  py::class_<UsualArithmetic>(m, "UsualArithmetic")
      .def(py::init<>())
      .def("__enter__", &UsualArithmetic::enter)
      .def("__exit__", &UsualArithmetic::leave);
}
