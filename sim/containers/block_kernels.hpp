#pragma once
#include <cstddef>
#include <cstdint>

// The passes over rows of numbers that quantising blocks is made of, each a loop of one step, for
// every instruction set.
namespace widthwise::containers {

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<double> {
  using type = std::uint64_t;
};
// Magnitudes as the integers that spell them: these order alike, NaN above infinity.
template <class T>
using Magnitude = typename BitsOf<T>::type;

// Those that floats and doubles have alike.
template <class T>
struct Passes {
  using Scale = void (*)(const T* x, const T* by, std::size_t n, std::size_t group, T* v);
  void (*raise_maxima)(const T* x, std::size_t n, std::size_t group, bool finite,
                       Magnitude<T>* most);
  Scale multiply, scale;
  std::size_t (*count_outside)(const T* v, std::size_t n, T least, T most, T end);
};
template <class T>
Passes<T> passes();

// most[g] = the largest of itself and the magnitudes of group g, of `group` numbers each (the last
// may have fewer); those that are not finite are left out if `finite` says so.
template <class T>
void raise_maxima(const T* x, std::size_t n, std::size_t group, bool finite, Magnitude<T>* most) {
  passes<T>().raise_maxima(x, n, group, finite, most);
}

// What follows takes a scale for each `group` numbers, in by[0], by[1] …

// v = x * by, a power of two. What is no normal number any more becomes the least one of its sign,
// which every format here rounds as it rounds the product; by = 0 makes zeros of what is finite.
template <class T>
void multiply(const T* x, const T* by, std::size_t n, std::size_t group, T* v) {
  passes<T>().multiply(x, by, n, group, v);
}

// v = x / by, rounded to nearest.
void divide(const float* x, const float* by, std::size_t n, std::size_t group, float* v);
// v = x / by, rounded to odd: a rounding to fewer digits than 52 is that of the exact quotient.
void divide_to_odd(const double* x, const double* by, std::size_t n, std::size_t group, double* v);
// The same in binary32, of numbers and scales of up to 24 and 28 digits.
void divide_to_odd(const float* x, const double* by, std::size_t n, std::size_t group, float* v);

// v = x * by, rounded to nearest.
template <class T>
void scale(const T* x, const T* by, std::size_t n, std::size_t group, T* v) {
  passes<T>().scale(x, by, n, group, v);
}

// How a magnitude's exponent becomes a block's: less emax, one more from a significand on, one less
// below another, of 24 digits; within +-top.
struct PowerTurns {
  std::int32_t emax, top;
  std::uint32_t up, down;
};

// What follows takes groups that are whole vectors, of four numbers or more, or groups of one, and
// n that is whole groups.
bool whole_vectors(std::size_t group);
inline constexpr std::size_t most_groups = 1024;  // in n numbers
inline constexpr std::size_t most_lanes = 16;     // of a vector

// most[g] = the largest magnitude of group g in all rows, which begin a stride apart.
void group_maxima(const float* x, std::size_t rows, std::size_t stride, std::size_t n,
                  std::size_t group, float* most);

// The scale of each group by such a rule alone: its code, and the power of two that its numbers are
// multiplied by. Gives false where a largest magnitude is NaN, infinite or below the normal
// numbers, or a factor is none of these.
bool power_factors(const float* most, std::size_t count, const PowerTurns& turns,
                   std::uint8_t* codes, float* by);

// v = x * by as `multiply` has it, but that products below the normal numbers stay as they come out
// where `small_is_zero`: whoever rounds them makes zeros of all. Magnitudes above the limit become
// it; how many.
std::size_t multiply_counted(const float* x, const float* by, std::size_t n, std::size_t group,
                             bool small_is_zero, float limit, float* v);

// The same for v = x / by, rounded to nearest.
std::size_t divide_counted(const float* x, const float* by, std::size_t n, std::size_t group,
                           float limit, float* v);

// Divisors of up to 28 digits, and the floats nearest to their reciprocals: those of group g are at
// index[g]. Groups of one have their reciprocals side by side.
struct Divisors {
  const double* divisor;
  const float* reciprocal;
  const std::uint8_t* index;
};

// Where roundings turn: numbers, and those between two. They have the digits `beyond` 0, and what
// lies between 0 and the first of them rounds to zero. Their exponents' fields are `least` to
// least + 127; or least is 0, and nothing is said of what is small.
struct Borders {
  std::uint32_t beyond, least;
};

// v rounds as x / by does to formats with such borders; what is above the limit, which is one, as
// above. Reciprocals are normal floats.
std::size_t divide_counted_to_odd(const float* x, const Divisors& by, std::size_t n,
                                  std::size_t group, const Borders& borders, float limit, float* v);

// Of magnitudes x: v is at least that, and 0 where x is. Whether all are finite.
bool hold_above(const float* x, std::size_t n, float least, float* v);

// v = x / first / second, each rounded to nearest, held between ends.
struct TwoDivisors {
  float first, second, least, most;
};
bool divide_twice(const float* x, std::size_t n, const TwoDivisors& by, float* v);

void widen(const float* x, std::size_t n, double* v);
void narrow(const double* x, std::size_t n, float* v);         // to nearest, ties to even
void narrow_to_odd(const double* x, std::size_t n, float* v);  // never to 0 nor to infinity

// Numbers outside the range that have magnitudes up to an end, which may be infinity.
template <class T>
std::size_t count_outside(const T* v, std::size_t n, T least, T most, T end) {
  return passes<T>().count_outside(v, n, least, most, end);
}

}  // namespace widthwise::containers
