#pragma once
#include "codes.hpp"
#include "widthwise/cuda/memory.hpp"

namespace widthwise {

// Calls f with numbers that lie on a GPU, codes of binary32 or binary64, as what they are.
template <class F>
auto with_numbers(const py::array& x, const F& f) {
  if (x.itemsize() == 4) return code_count(binary32, x), f(static_cast<const float*>(x.data()));
  return code_count(binary64, x), f(static_cast<const double*>(x.data()));
}

}  // namespace widthwise
