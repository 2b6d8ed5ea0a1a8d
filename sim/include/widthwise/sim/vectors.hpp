#pragma once
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "widthwise/sim/elementwise.hpp"
#include "widthwise/sim/operation_text.hpp"

// Vectors as TestFloat writes them, one a line: operands, result and flags in hexadecimal, blanks
// between. Stochastic rounding takes its random bits from the line, after the operands. Leading
// zeros may be left out, 0x and commas may be there; empty lines, lines that begin with // and what
// follows a # are passed over. Codes and flags may also be as TestFloat prints them:
// "+7F.400000  -80.000000  => -7F.600000 ....x".
namespace widthwise {

using NumberType = std::variant<Format, IntegerType>;
NumberType parse_number_type(std::string_view text);  // a format, or i32 ui32 i64 ui64
std::string to_string(const NumberType& t);
int width(const NumberType& t);

// One operation as vectors describe it: operands of `from`, results of `to`.
struct VectorTask {
  AnyOperation op;
  NumberType from, to;
  Env env{};
};

// to: empty where it is the operands' format. Refuses what has no vectors: integers but in
// conversions, conversions between integers.
VectorTask vector_task(std::string_view op, std::string_view from, std::string_view to,
                       const Env& env);

// Operands of a line, before its result and flags.
int operand_count(const VectorTask& task);
// Random bits of a line, between its operands and its result; 0 where it has none.
int random_width(const VectorTask& task);

// Rounding to an integer may raise inexact or never do so (TestFloat's -exact and -notexact; IEEE
// 754-2019, 5.8). `either` takes the reading that fits the whole of the vectors best.
enum class InexactIntegers : std::uint8_t { either, raised, never };

struct VectorRules {
  bool nan_bits = false;  // NaN results have to agree in every bit
  bool int_bits = false;  // so have the integers of an invalid conversion
  InexactIntegers inexact = InexactIntegers::either;
  bool flags = true;        // lines have flags, which are compared
  std::size_t latency = 0;  // a line's result and flags are those of the operands so many before it
};

// A line that is no vector of the task. what() begins with its number.
class VectorError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Computes what vectors say and counts where they disagree.
class VectorChecker {
 public:
  VectorChecker(const VectorTask& task, const VectorRules& rules, std::size_t most_failures = 20);
  ~VectorChecker();

  void feed(std::string_view text);  // the next piece, cut anywhere
  void finish();                     // the last line may lack its end

  std::uint64_t vectors() const;
  std::uint64_t errors() const;
  // "line 3: 3c00 3c00: the vector has 4000 00, this is 4001 01", the first of them.
  const std::vector<std::string>& failures() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Lines with results of our own: operands.hpp's elements first to first + count - 1.
std::string make_vectors(const VectorTask& task, std::uint64_t seed, std::uint64_t first,
                         std::size_t count);

}  // namespace widthwise
