#include <algorithm>

#include "bit_vectors.hpp"
#include "model.hpp"

using namespace widthwise;
using namespace widthwise::model;

// The operands so far: a unit may take all of K at once, or deal its lanes out anew for each length
// (docs/semantics.md, D11), so there is no lesser state that serves every unit.
struct widthwise_accumulator {
  const Model& model;
  std::uint32_t rm;
  RandomSource random;
  Operands held;
  std::size_t k = 0;

  // Scales are told a block at a time, so a step begins where a block does.
  bool can_step() const {
    const Unit& u = *model.unit();
    return !u.scale || k % static_cast<std::size_t>(u.scale->block) == 0;
  }
};

namespace {

// Room for more, at least doubled, so that many short steps copy little.
void make_room(std::vector<std::byte>& to, const std::vector<std::byte>& more) {
  const std::size_t needed = to.size() + more.size();
  if (needed > to.capacity()) to.reserve(std::max(needed, 2 * to.capacity()));
}

// All four or none: nothing is appended before there is room for everything.
void append(Operands& to, const Operands& more) {
  constexpr std::vector<std::byte> Operands::*arrays[] = {&Operands::a, &Operands::b,
                                                          &Operands::scale_a, &Operands::scale_b};
  for (const auto array : arrays) make_room(to.*array, more.*array);
  for (const auto array : arrays)
    (to.*array).insert((to.*array).end(), (more.*array).begin(), (more.*array).end());
}

}  // namespace

extern "C" {

widthwise_accumulator* widthwise_accumulator_open(const widthwise_model* handle, std::uint32_t rm,
                                                  std::uint64_t seed, std::uint64_t index) {
  std::unique_ptr<widthwise_accumulator> accumulator;
  guarded([&] {
    if (!handle || !handle->get().unit()) return;
    handle->get().prepared(rm);
    accumulator.reset(new widthwise_accumulator{handle->get(), rm, {seed, index}, {}});
  });
  return accumulator.release();
}

void widthwise_accumulator_close(widthwise_accumulator* accumulator) { delete accumulator; }

std::int32_t widthwise_accumulator_reset(widthwise_accumulator* accumulator,
                                         const std::uint32_t* c) {
  if (!accumulator) return WIDTHWISE_NOT_OPEN;
  return guarded([&] {
    const Ports only_c{nullptr, nullptr, c, nullptr, nullptr};
    accumulator->held = operands_of(accumulator->model, only_c, 0);
    accumulator->k = 0;
  });
}

std::int32_t widthwise_accumulator_step(widthwise_accumulator* accumulator, std::uint64_t k,
                                        const std::uint32_t* a, const std::uint32_t* b,
                                        const std::uint32_t* scale_a,
                                        const std::uint32_t* scale_b) {
  if (!accumulator) return WIDTHWISE_NOT_OPEN;
  return guarded([&] {
    if (!accumulator->can_step()) throw Refused{WIDTHWISE_NO_LENGTH};
    const Model& model = accumulator->model;
    const Operands more = operands_of(model, {a, b, nullptr, scale_a, scale_b}, k);
    model.check(more.call(accumulator->rm, {}, k));
    append(accumulator->held, more);
    accumulator->k += k;
  });
}

std::int32_t widthwise_accumulator_read(const widthwise_accumulator* accumulator, std::uint32_t* y,
                                        std::uint32_t* flags) {
  if (!accumulator) return WIDTHWISE_NOT_OPEN;
  return guarded([&] {
    const auto& [model, rm, random, held, k] = *accumulator;
    const Answer z = answer(model, held.call(rm, random, k));
    store_words(y, z.code.data(), model.width(WIDTHWISE_PORT_Y));
    *flags = z.flags;
  });
}

}  // extern "C"
