#pragma once
#include "widthwise/sim/elementwise.hpp"

// The loops behind elementwise.hpp, once for every carrier. They are instantiated in one source a
// carrier (carrier_*.cpp), so that these compile side by side.
namespace widthwise {

struct ElementwiseJob {
  Operation op;
  Format to;
  Env env;
  CodeArray operand[3];
  int operands;
  const std::int64_t* powers;  // scaleb's second operand
  std::size_t count;
  void* result;
  std::uint8_t* flags;
  RandomSource random;
};

struct IntegerJob {
  IntegerType type;
  Env env;
  CodeArray codes;  // read by to_integers
  Format to;        // written by from_integers
  const std::uint64_t* integers_in;
  std::uint64_t* integers_out;
  void* codes_out;
  std::size_t count;
  std::uint8_t* flags;
  RandomSource random;
};

struct CompareJob {
  Comparison how;
  CodeArray a, b;
  std::size_t count;
  std::uint8_t* result;
  std::uint8_t* flags;
};

template <class U>
void run_elementwise(const ElementwiseJob& job);
template <class U>
void run_scaleb(const ElementwiseJob& job);
template <class U>
void run_to_integers(const IntegerJob& job);
template <class U>
void run_from_integers(const IntegerJob& job);
template <class U>
void run_compare(const CompareJob& job);
template <class U>
void run_classify(const CodeArray& a, std::size_t count, std::uint8_t* result);

}  // namespace widthwise
