#include <fmt/format.h>

#include "hexadecimal.hpp"
#include "task.hpp"
#include "widthwise/sim/operands.hpp"

namespace widthwise {
namespace {

std::vector<std::vector<std::byte>> make_operands(const VectorTask& task, std::uint64_t seed,
                                                  std::uint64_t first, std::size_t count) {
  std::vector<std::vector<std::byte>> operands(static_cast<std::size_t>(operand_count(task)));
  std::vector<void*> at;
  for (auto& x : operands) {
    x.resize(count * static_cast<std::size_t>(operand_bytes(task)));
    at.push_back(x.data());
  }
  if (const auto* type = std::get_if<IntegerType>(&task.from))
    random_integers(*type, seed, first, count, static_cast<std::uint64_t*>(at[0]));
  else
    random_operands(std::get<Format>(task.from), seed, first, count, at);
  return operands;
}

}  // namespace

std::string make_vectors(const VectorTask& task, std::uint64_t seed, std::uint64_t first,
                         std::size_t count) {
  const auto operands = make_operands(task, seed, first, count);
  const auto size = static_cast<std::size_t>(result_bytes(task));
  std::vector<std::byte> result(count * size);
  std::vector<std::uint8_t> flags(count);
  compute(task, operands, count, result.data(), flags.data());
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& x : operands) {
      append_hex(text, x.data() + i * static_cast<std::size_t>(operand_bytes(task)),
                 width(task.from));
      text += ' ';
    }
    append_hex(text, result.data() + i * size, result_width(task));
    text += fmt::format(" {:02X}\n", flags[i]);
  }
  return text;
}

}  // namespace widthwise
