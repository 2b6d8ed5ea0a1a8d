#include <algorithm>
#include <cstring>
#include <new>

#include "../codes.hpp"
#include "bit_vectors.hpp"
#include "model.hpp"
#include "widthwise/hdl/design.hpp"
#include "widthwise/random.hpp"

using namespace widthwise;
using namespace widthwise::model;

namespace {

constexpr const char* statuses[] = {
    "OK",
    "the spec was no good: widthwise_model_error tells why",
    "rm is no code, or stochastic where the spec's rounding is not",
    "a port has more than 64 bits: call widthwise_model_words",
    "an operation has k = 1; a unit may refuse a k",
    "a port that is there was given as null, or y or flags were",
    "an element has more bits than its port",
    "there was no memory",
    "a fault of the model",
    "a vector has no room for k elements, or for the result",
    "the design has other calls: a block's quantiser widthwise_model_block, a requantisation no "
    "trace",
};

// The value of f on the model, or `otherwise` where there is none.
template <class T, class F>
T value_or(const widthwise_model* handle, T otherwise, const F& f) noexcept {
  return handle && handle->model ? static_cast<T>(f(*handle->model)) : otherwise;
}

const Model& model_of(const widthwise_model* handle) {
  if (!handle) throw Refused{WIDTHWISE_NOT_OPEN};
  return handle->get();
}

void check_outputs(const void* y, const std::uint32_t* flags) {
  if (!y || !flags) throw Refused{WIDTHWISE_NO_OPERAND};
}

// A port of the scalar call as a vector.
struct Word {
  std::uint32_t words[2];
  explicit Word(std::uint64_t x)
      : words{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)} {}
};

}  // namespace

extern "C" {

std::int32_t widthwise_model_abi() { return WIDTHWISE_MODEL_ABI; }

const char* widthwise_model_status(std::int32_t status) {
  const bool known = 0 <= status && status < static_cast<std::int32_t>(std::size(statuses));
  return known ? statuses[status] : "no status of this model";
}

widthwise_model* widthwise_model_open(const char* spec) {
  auto* handle = new (std::nothrow) widthwise_model;
  if (!handle) return nullptr;
  try {
    handle->model = std::make_unique<Model>(parse_design(spec ? spec : ""));
  } catch (const std::bad_alloc&) {
    delete handle;
    return nullptr;
  } catch (const std::exception& why) {
    handle->error = why.what();
  }
  return handle;
}

const char* widthwise_model_error(const widthwise_model* handle) {
  return handle ? handle->error.c_str() : "there is no model";
}

void widthwise_model_close(widthwise_model* handle) { delete handle; }

std::uint64_t widthwise_model_hash(const widthwise_model* handle) {
  return value_or<std::uint64_t>(handle, 0,
                                 [](const Model& m) { return hdl::model_hash(m.design()); });
}

std::int32_t widthwise_model_rounding(const widthwise_model* handle) {
  return value_or<std::int32_t>(
      handle, -1, [](const Model& m) { return hdl::rounding_code(m.rounding()).number; });
}

std::int32_t widthwise_model_width(const widthwise_model* handle, std::int32_t port) {
  return value_or<std::int32_t>(handle, 0, [&](const Model& m) { return m.width(port); });
}

std::int64_t widthwise_model_terms(const widthwise_model* handle) {
  return value_or<std::int64_t>(handle, 0, [](const Model& m) { return m.terms(); });
}

std::int64_t widthwise_model_scale_block(const widthwise_model* handle) {
  return value_or<std::int64_t>(handle, 0, [](const Model& m) {
    return m.unit() && m.unit()->scale ? m.unit()->scale->block : 0;
  });
}

std::int32_t widthwise_model_op64(const widthwise_model* handle, std::uint32_t rm,
                                  std::uint64_t seed, std::uint64_t index, std::uint64_t a,
                                  std::uint64_t b, std::uint64_t c, std::uint64_t* y,
                                  std::uint32_t* flags) {
  return guarded([&] {
    const Model& model = model_of(handle);
    check_outputs(y, flags);
    for (std::int32_t port = WIDTHWISE_PORT_A; port <= WIDTHWISE_PORT_Y; ++port)
      if (model.width(port) > 64) throw Refused{WIDTHWISE_TOO_WIDE};
    const Word wa(a), wb(b), wc(c);
    const Operands x = operands_of(model, {wa.words, wb.words, wc.words, nullptr, nullptr}, 1);
    const Answer z = answer(model, x.call(rm, {seed, index}, 1));
    *y = load_code<std::uint64_t>(z.code.data(), static_cast<int>(z.code.size()));
    *flags = z.flags;
  });
}

std::int32_t widthwise_model_words(const widthwise_model* handle, std::uint32_t rm,
                                   std::uint64_t seed, std::uint64_t index, std::uint64_t k,
                                   const std::uint32_t* a, const std::uint32_t* b,
                                   const std::uint32_t* c, const std::uint32_t* scale_a,
                                   const std::uint32_t* scale_b, std::uint32_t* y,
                                   std::uint32_t* flags) {
  return guarded([&] {
    const Model& model = model_of(handle);
    check_outputs(y, flags);
    model.check_length(k);
    const Operands x = operands_of(model, {a, b, c, scale_a, scale_b}, k);
    const Answer z = answer(model, x.call(rm, {seed, index}, k));
    store_words(y, z.code.data(), model.width(WIDTHWISE_PORT_Y));
    *flags = z.flags;
  });
}

std::int32_t widthwise_model_batch(const widthwise_model* handle, std::uint32_t rm,
                                   std::uint64_t seed, std::uint64_t first_index, std::uint64_t n,
                                   std::uint64_t k, const void* a, const void* b, const void* c,
                                   const void* scale_a, const void* scale_b, void* y,
                                   std::uint8_t* flags) {
  return guarded([&] {
    const Model& model = model_of(handle);
    if (!y && n) throw Refused{WIDTHWISE_NO_OPERAND};
    model.check_length(k, n);
    std::vector<std::uint8_t> unwanted(flags ? 0 : n);
    model.compute({rm, {seed, first_index}, n, k, a, b, c, scale_a, scale_b}, y,
                  flags ? flags : unwanted.data());
  });
}

static_assert(WIDTHWISE_SLOT_COMPENSATED == static_cast<int>(Slot::compensated));

std::uint64_t widthwise_model_random(std::uint64_t seed, std::uint64_t index, std::uint32_t bits,
                                     std::uint32_t slot, std::uint64_t step) {
  if (bits < 1 || bits > 64 || slot > WIDTHWISE_SLOT_COMPENSATED) return 0;
  return random_bits(static_cast<int>(bits), {seed, index}, static_cast<Slot>(slot), step);
}

}  // extern "C"
