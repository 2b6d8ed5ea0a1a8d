#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "widthwise/sim/text.hpp"
#include "widthwise/sim/values.hpp"

// Any text as a number: refused with a ParseError, or a code that its own text gives again. Long
// decimal exponents are left out; they are exact, and slow.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace widthwise;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (size > 200 || text.find_first_of("eE") + 5 < size) return 0;
  std::uint64_t code = 0, again = 0;
  try {
    from_literals(binary64, {}, std::span(&text, 1), &code, nullptr);
  } catch (const ParseError&) {
    return 0;
  }
  const std::string printed = shortest_decimal(binary64, &code);
  from_literals(binary64, {}, std::span(&printed, 1), &again, nullptr);
  if (again != code) std::abort();
  return 0;
}
