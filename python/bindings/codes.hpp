#pragma once
#include <fmt/format.h>

#include <string>

#include "bind.hpp"
#include "widthwise/sim/dot.hpp"
#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/text.hpp"

// Codes in NumPy arrays: uint8, 16, 32 or 64, and for wider formats uint64 with a last axis of
// limbs.
namespace widthwise {

using CodedOperands = std::vector<std::pair<Format, py::array>>;

inline int limbs(const Format& f) { return f.width() <= 64 ? 1 : (f.width() + 63) / 64; }

// Codes of an array that lies in one piece.
inline std::size_t code_count(const Format& f, const py::array& a) {
  const int bytes = item_bytes(f.width());
  if (a.dtype().kind() != 'u' || a.itemsize() != bytes / limbs(f) ||
      !(a.flags() & py::array::c_style))
    throw std::logic_error("codes have to be a contiguous array of " + to_string(f) + "'s items");
  return static_cast<std::size_t>(a.size() / limbs(f));
}

inline CodeArray code_array(const Format& f, const py::array& a) {
  code_count(f, a);
  return {f, a.data()};
}

// A place for results; `count` of them fit there.
inline std::byte* place(const Format& f, py::array& a, std::size_t count) {
  if (code_count(f, a) != count || !a.writeable())
    throw std::logic_error("there is no room for the results");
  return static_cast<std::byte*>(a.mutable_data());
}

inline std::uint8_t* flags_place(py::object& flags, std::size_t count) {
  if (flags.is_none()) return nullptr;
  auto a = py::cast<py::array_t<std::uint8_t, py::array::c_style>>(flags);
  if (static_cast<std::size_t>(a.size()) != count)
    throw std::logic_error("there is no room for the flags");
  return a.mutable_data();
}

// A seed, or the random bits themselves, a word an element.
inline RandomSource random_source(const py::object& random, std::size_t count) {
  if (!py::isinstance<py::array>(random)) return {py::cast<std::uint64_t>(random), 0, nullptr};
  const auto words = py::cast<py::array>(random);
  if (words.dtype().kind() != 'u' || words.itemsize() != 8 ||
      !(words.flags() & py::array::c_style) || static_cast<std::size_t>(words.size()) != count)
    throw std::logic_error("random bits have to be a contiguous array of uint64, one an element");
  return {0, 0, static_cast<const std::uint64_t*>(words.data())};
}

// Rows and columns of any strides, the limbs of a code together.
inline CodeMatrix code_matrix(const Format& f, const py::array& a) {
  const int bytes = item_bytes(f.width());
  const bool wide = limbs(f) > 1;
  if (a.ndim() != 2 + wide || a.itemsize() * limbs(f) != bytes || a.strides(0) % bytes != 0 ||
      a.strides(1) % bytes != 0 || (wide && a.strides(2) != a.itemsize()))
    throw std::logic_error("codes have to be a matrix of " + to_string(f) + "'s items");
  return {a.data(), a.strides(0) / bytes, a.strides(1) / bytes};
}

inline CodeMatrix code_matrix(const Format& f, const py::object& a) {
  return a.is_none() ? CodeMatrix{} : code_matrix(f, py::cast<py::array>(a));
}

// Limbs, least significant first, as a Python integer.
inline py::int_ to_int(std::span<const std::uint64_t> x) {
  const py::bytes bytes(reinterpret_cast<const char*>(x.data()), 8 * x.size());
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyLong_Type))
      .attr("from_bytes")(bytes, "little");
}

}  // namespace widthwise
