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

// most[g] = the largest of itself and the magnitudes of group g, of `group` numbers each (the last
// may have fewer); those that are not finite are left out if `finite` says so.
void raise_maxima(const float* x, std::size_t n, std::size_t group, bool finite,
                  Magnitude<float>* most);
void raise_maxima(const double* x, std::size_t n, std::size_t group, bool finite,
                  Magnitude<double>* most);

// What follows takes a scale for each `group` numbers, in by[0], by[1] …

// v = x * by, a power of two. What is no normal number any more becomes the least one of its sign,
// which every format here rounds as it rounds the product; by = 0 makes zeros of what is finite.
void multiply(const float* x, const float* by, std::size_t n, std::size_t group, float* v);
void multiply(const double* x, const double* by, std::size_t n, std::size_t group, double* v);

// v = x / by, rounded to nearest.
void divide(const float* x, const float* by, std::size_t n, std::size_t group, float* v);
// v = x / by, rounded to odd: a rounding to fewer digits than 52 is that of the exact quotient.
void divide_to_odd(const double* x, const double* by, std::size_t n, std::size_t group, double* v);
// The same in binary32, of numbers and scales of up to 24 and 28 digits.
void divide_to_odd(const float* x, const double* by, std::size_t n, std::size_t group, float* v);

// v = x * by, rounded to nearest.
void scale(const float* x, const float* by, std::size_t n, std::size_t group, float* v);
void scale(const double* x, const double* by, std::size_t n, std::size_t group, double* v);

// How a magnitude's exponent becomes a block's: less emax, one more from a significand on, one less
// below another, of 24 digits; within +-top.
struct PowerTurns {
  std::int32_t emax, top;
  std::uint32_t up, down;
};

// Scales and products of whole groups in one pass: codes[g] of group g, and v = x / its scale as
// `multiply` has it; how many magnitudes are above the limit is added to `above`. Stops, and gives
// false, at a group that is NaN, infinite, below the normal numbers, or that has no factor among
// them, and where groups are no whole vectors.
bool scale_by_powers(const float* x, std::size_t n, std::size_t group, const PowerTurns& turns,
                     float limit, std::uint8_t* codes, float* v, std::size_t* above);

void widen(const float* x, std::size_t n, double* v);
void narrow(const double* x, std::size_t n, float* v);         // to nearest, ties to even
void narrow_to_odd(const double* x, std::size_t n, float* v);  // never to 0 nor to infinity

// Finite numbers outside the range.
std::size_t count_outside(const float* v, std::size_t n, float least, float most);
std::size_t count_outside(const double* v, std::size_t n, double least, double most);

}  // namespace widthwise::containers
