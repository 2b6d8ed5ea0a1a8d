#include <cstdint>

#include "widthwise_model.h"

extern "C" {

void widthwise_words_status(const widthwise_model* model, std::uint32_t rm, std::uint64_t seed,
                            std::uint64_t index, std::uint64_t k, const std::uint32_t* a,
                            const std::uint32_t* b, const std::uint32_t* c,
                            const std::uint32_t* scale_a, const std::uint32_t* scale_b,
                            std::uint32_t* y, std::uint32_t* flags, std::int32_t* status) {
  *status = widthwise_model_words(model, rm, seed, index, k, a, b, c, scale_a, scale_b, y, flags);
}

void widthwise_reset_status(widthwise_accumulator* accumulator, const std::uint32_t* c,
                            std::int32_t* status) {
  *status = widthwise_accumulator_reset(accumulator, c);
}

void widthwise_step_status(widthwise_accumulator* accumulator, std::uint64_t k,
                           const std::uint32_t* a, const std::uint32_t* b,
                           const std::uint32_t* scale_a, const std::uint32_t* scale_b,
                           std::int32_t* status) {
  *status = widthwise_accumulator_step(accumulator, k, a, b, scale_a, scale_b);
}

void widthwise_read_status(const widthwise_accumulator* accumulator, std::uint32_t* y,
                           std::uint32_t* flags, std::int32_t* status) {
  *status = widthwise_accumulator_read(accumulator, y, flags);
}

std::int32_t widthwise_model_words_within(const widthwise_model* model, std::uint32_t rm,
                                          std::uint64_t seed, std::uint64_t index, std::uint64_t k,
                                          const std::uint32_t* a, const std::uint32_t* b,
                                          const std::uint32_t* c, const std::uint32_t* scale_a,
                                          const std::uint32_t* scale_b, std::uint32_t* y,
                                          std::uint32_t* flags, std::uint64_t room) {
  if (k > room) return WIDTHWISE_NO_ROOM;
  return widthwise_model_words(model, rm, seed, index, k, a, b, c, scale_a, scale_b, y, flags);
}

widthwise_trace* widthwise_model_trace_within(const widthwise_model* model, std::uint32_t rm,
                                              std::uint64_t seed, std::uint64_t index,
                                              std::uint64_t k, const std::uint32_t* a,
                                              const std::uint32_t* b, const std::uint32_t* c,
                                              const std::uint32_t* scale_a,
                                              const std::uint32_t* scale_b, std::uint64_t room) {
  if (k > room) return nullptr;
  return widthwise_model_trace(model, rm, seed, index, k, a, b, c, scale_a, scale_b);
}

std::int32_t widthwise_accumulator_step_within(widthwise_accumulator* accumulator, std::uint64_t k,
                                               const std::uint32_t* a, const std::uint32_t* b,
                                               const std::uint32_t* scale_a,
                                               const std::uint32_t* scale_b, std::uint64_t room) {
  if (k > room) return WIDTHWISE_NO_ROOM;
  return widthwise_accumulator_step(accumulator, k, a, b, scale_a, scale_b);
}

}  // extern "C"
