#include <cstdint>
#include <string_view>

#include "widthwise/sim/vectors.hpp"

// Any bytes as vectors, cut at a place the first byte names. Nothing but VectorError may come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace widthwise;
  static const VectorTask tasks[] = {
      vector_task("mulAdd", "binary16", "", {}), vector_task("sqrt", "e20m49", "", {}),
      vector_task("le", "e4m3fn", "", {}), vector_task("convert", "i32", "binary16", {}),
      vector_task("convert", "binary64", "ui64", {})};
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 2), size - 2);
  VectorChecker checker(tasks[data[0] % std::size(tasks)], {});
  try {
    checker.feed(text.substr(0, data[1] % (text.size() + 1)));
    checker.feed(text.substr(data[1] % (text.size() + 1)));
    checker.finish();
  } catch (const VectorError&) {
  }
  return 0;
}
