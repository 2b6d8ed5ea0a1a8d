#pragma once
#include <thread>

#include "bind.hpp"
#include "widthwise/sim/multipliers.hpp"

// What stands in place of the exact product: None, a name, a compiled text, or a function of
// Python.
namespace widthwise {

inline uint128 to_uint128(const py::int_& x) {
  const py::int_ mask(~std::uint64_t{0});
  const auto low = py::cast<std::uint64_t>(x.attr("__and__")(mask));
  return uint128{py::cast<std::uint64_t>(x.attr("__rshift__")(64))} << 64 | low;
}

inline py::object to_integer(uint128 x) {
  const py::int_ high(static_cast<std::uint64_t>(x >> 64)), low(static_cast<std::uint64_t>(x));
  return high.attr("__lshift__")(64).attr("__or__")(low);
}

// A Python function of two significands. Its result may take 128 bits.
inline Multiplier called(const py::function& f) {
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

inline Multiplier multiplier(const py::object& what) {
  if (what.is_none()) return {};
  if (py::isinstance<py::str>(what)) return parse_multiplier(py::cast<std::string>(what));
  if (py::isinstance<TextProduct>(what)) return py::cast<TextProduct>(what);
  return called(py::cast<py::function>(what));
}

inline bool calls_python(const py::object& product) {
  return !product.is_none() && !py::isinstance<py::str>(product) &&
         !py::isinstance<TextProduct>(product);
}

inline int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

// How many threads: 0 is one a core; a function of Python runs on one.
inline int crew_of(const py::object& product, int threads) {
  return calls_python(product) ? 1 : threads > 0 ? threads : cores();
}

}  // namespace widthwise
