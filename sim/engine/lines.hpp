#pragma once
#include <cstddef>
#include <new>
#include <vector>

namespace widthwise {

// Vectors that begin with a cache line, as then do rows of columns: else every load of a full
// vector would touch two lines, which takes a third off the rate of a kernel that loads much.
template <class T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <class Other>
  LineAllocator(const LineAllocator<Other>&) {}
  T* allocate(std::size_t n) {
    return static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{64}));
  }
  void deallocate(T* at, std::size_t) { ::operator delete (at, std::align_val_t{64}); }
  bool operator==(const LineAllocator&) const = default;
};
template <class T>
using Lines = std::vector<T, LineAllocator<T>>;

}  // namespace widthwise
