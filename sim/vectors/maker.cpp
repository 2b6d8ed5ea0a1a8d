#include <fmt/format.h>

#include "hexadecimal.hpp"
#include "task.hpp"
#include "widthwise/random.hpp"
#include "widthwise/sim/operands.hpp"

namespace widthwise {
namespace {

void draw_codes(const Format& f, const VectorTask& task, std::uint64_t seed, std::uint64_t first,
                std::size_t count, std::span<void* const> at) {
  random_operands(f, seed, first, count, at);
  const Format* to = std::get_if<Format>(&task.to);
  if (to && task.op == AnyOperation(Operation::convert))
    operands_to_borders(f, *to, seed, first, count, at[0]);
}

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
    draw_codes(std::get<Format>(task.from), task, seed, first, count, at);
  return operands;
}

// Bits for each line: none set, all set, or what the generator draws.
std::vector<std::uint64_t> make_random(int bits, std::uint64_t seed, std::uint64_t first,
                                       std::size_t count) {
  std::vector<std::uint64_t> random(count);
  if (bits == 0) return random;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t drawn = random_bits(bits, {seed, first + i}, Slot::out, 0);
    const std::uint64_t kind = random_bits(3, {seed, first + i}, Slot::out, 64);
    random[i] = kind == 0 ? 0 : kind == 1 ? ~std::uint64_t{0} >> (64 - bits) : drawn;
  }
  return random;
}

}  // namespace

std::string make_vectors(const VectorTask& task, std::uint64_t seed, std::uint64_t first,
                         std::size_t count) {
  const auto operands = make_operands(task, seed, first, count);
  const int bits = random_width(task);
  const auto random = make_random(bits, seed, first, count);
  const auto size = static_cast<std::size_t>(result_bytes(task));
  std::vector<std::byte> result(count * size);
  std::vector<std::uint8_t> flags(count);
  compute(task, operands, random, count, result.data(), flags.data());
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    for (const auto& x : operands) {
      append_hex(text, x.data() + i * static_cast<std::size_t>(operand_bytes(task)),
                 width(task.from));
      text += ' ';
    }
    if (bits > 0) {
      append_hex(text, reinterpret_cast<const std::byte*>(&random[i]), bits);
      text += ' ';
    }
    append_hex(text, result.data() + i * size, result_width(task));
    text += fmt::format(" {:02X}\n", flags[i]);
  }
  return text;
}

}  // namespace widthwise
