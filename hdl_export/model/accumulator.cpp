#include <algorithm>

#include "bit_vectors.hpp"
#include "model.hpp"

using namespace widthwise;
using namespace widthwise::model;

// What a unit's registers hold after its whole blocks, and the operands that follow. All of them
// where a unit takes all of K at once, or deals its lanes out anew for each length
// (docs/semantics.md, D11): there is no lesser state of those.
struct widthwise_accumulator {
  const Model& model;
  std::uint32_t rm;
  RandomSource random;
  std::unique_ptr<RunningDot> sum{};  // or none
  Operands held{};
  std::size_t k = 0;      // operands held,
  std::size_t taken = 0;  // and so many of them are in the sum already

  // Scales are told a block at a time, so a step begins where a block does.
  bool can_step() const { return k % scale_block() == 0; }
  std::size_t scale_block() const {
    const Unit& u = *model.unit();
    return u.scale ? static_cast<std::size_t>(u.scale->block) : 1;
  }

  void reset(const std::uint32_t* c) {
    const Ports only_c{nullptr, nullptr, c, nullptr, nullptr};
    Operands none = operands_of(model, only_c, 0);
    const Prepared& p = model.prepared(rm);
    if (p.runs) sum = p.step->start(product_of(*model.unit(), none.call(rm, random, 0)));
    held = std::move(none);
    k = taken = 0;
  }

  // Moves whole blocks into the sum. Where memory runs out they stay, for a read to take them.
  void settle() {
    if (!sum) return;
    const auto lanes = static_cast<std::size_t>(model.unit()->lanes);
    try {
      const MatrixProduct p = product_of(*model.unit(), held.call(rm, random, k));
      for (; k - taken >= lanes; taken += lanes) sum->advance(p, taken);
    } catch (const std::bad_alloc&) {
    }
    forget();
  }

  // What the sum has, but for the block of a scale that is to be read again.
  void forget() {
    const std::size_t block = scale_block(), blocks = taken / block;
    const auto drop = [&](std::vector<std::byte>& x, std::size_t count, std::int32_t port) {
      const auto bytes = static_cast<std::size_t>(item_bytes(model.width(port)));
      x.erase(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count * bytes));
    };
    drop(held.a, blocks * block, WIDTHWISE_PORT_A);
    drop(held.b, blocks * block, WIDTHWISE_PORT_B);
    if (model.unit()->scale)
      for (auto* scale : {&held.scale_a, &held.scale_b}) drop(*scale, blocks, WIDTHWISE_PORT_SCALE);
    k -= blocks * block;
    taken -= blocks * block;
  }

  Answer read() const {
    const Call call = held.call(rm, random, k);
    if (!sum) return answer(model, call);
    Answer z = no_answer(model);
    MatrixProduct p = product_of(*model.unit(), call);
    p.result = z.code.data();
    p.flags = &z.flags;
    sum->deliver(p, taken);
    return z;
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
    auto made = std::unique_ptr<widthwise_accumulator>(
        new widthwise_accumulator{handle->get(), rm, {seed, index}});
    made->reset(nullptr);
    accumulator = std::move(made);
  });
  return accumulator.release();
}

void widthwise_accumulator_close(widthwise_accumulator* accumulator) { delete accumulator; }

std::int32_t widthwise_accumulator_reset(widthwise_accumulator* accumulator,
                                         const std::uint32_t* c) {
  if (!accumulator) return WIDTHWISE_NOT_OPEN;
  return guarded([&] { accumulator->reset(c); });
}

std::int32_t widthwise_accumulator_step(widthwise_accumulator* accumulator, std::uint64_t k,
                                        const std::uint32_t* a, const std::uint32_t* b,
                                        const std::uint32_t* scale_a,
                                        const std::uint32_t* scale_b) {
  if (!accumulator) return WIDTHWISE_NOT_OPEN;
  return guarded([&] {
    if (!accumulator->can_step()) throw Refused{WIDTHWISE_NO_LENGTH};
    const Model& model = accumulator->model;
    if (k > most_elements) throw Refused{WIDTHWISE_NO_LENGTH};
    const Operands more = operands_of(model, {a, b, nullptr, scale_a, scale_b}, k);
    model.check(more.call(accumulator->rm, {}, k));
    append(accumulator->held, more);
    accumulator->k += k;
    accumulator->settle();
  });
}

std::int32_t widthwise_accumulator_read(const widthwise_accumulator* accumulator, std::uint32_t* y,
                                        std::uint32_t* flags) {
  if (!accumulator) return WIDTHWISE_NOT_OPEN;
  return guarded([&] {
    if (!y || !flags) throw Refused{WIDTHWISE_NO_OPERAND};
    const Answer z = accumulator->read();
    store_words(y, z.code.data(), accumulator->model.width(WIDTHWISE_PORT_Y));
    *flags = z.flags;
  });
}

}  // extern "C"
