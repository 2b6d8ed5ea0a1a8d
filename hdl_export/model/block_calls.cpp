#include <algorithm>

#include "../block_run.hpp"
#include "../codes.hpp"
#include "../stored_codes.hpp"
#include "bit_vectors.hpp"
#include "model.hpp"

using namespace widthwise;
using namespace widthwise::model;

namespace {

const Model& model_of_blocks(const widthwise_model* handle) {
  if (!handle) throw Refused{WIDTHWISE_NOT_OPEN};
  const Model& model = handle->get();
  if (!model.quantiser()) throw Refused{WIDTHWISE_NO_SUCH_CALL};
  return model;
}

// Tensor scales, where they are a port.
bool lacks(const BlockQuantisation& q, const std::uint32_t* b) { return q.tensor_scale_port && !b; }
hdl::Code code_at(const BlockQuantisation& q, const std::uint32_t* b, std::size_t i) {
  return q.tensor_scale_port ? hdl::Code(std::uint64_t{b[i]}) : hdl::Code();
}

// Codes of so many bits side by side, the first in the lowest.
void store_bits(std::uint32_t* words, const std::vector<hdl::Code>& codes, int width) {
  const auto bits = static_cast<std::size_t>(width);
  std::fill_n(words, words_of(bits * codes.size()), 0);
  for (std::size_t i = 0, at = 0; i < codes.size(); ++i)
    for (std::size_t bit = 0; bit < bits; ++bit, ++at)
      words[at / 32] |= static_cast<std::uint32_t>(codes[i].limb[bit / 64] >> bit % 64 & 1)
                        << at % 32;
}

}  // namespace

extern "C" {

std::int64_t widthwise_model_block_numbers(const widthwise_model* handle) {
  if (!handle || !handle->model || !handle->model->quantiser()) return 0;
  return static_cast<std::int64_t>(handle->model->quantiser()->numbers());
}

std::int32_t widthwise_model_blocks(const widthwise_model* handle, std::uint32_t rm,
                                    std::uint64_t n, const void* a, const std::uint32_t* b, void* y,
                                    void* scale, std::uint8_t* flags) {
  return guarded([&] {
    const Model& model = model_of_blocks(handle);
    const Prepared& prepared = model.prepared(rm);
    const auto& q = std::get<BlockQuantisation>(prepared.design);
    if (n > most_elements / q.numbers()) throw Refused{WIDTHWISE_NO_LENGTH};
    if (n && (!a || !y || !scale || lacks(q, b))) throw Refused{WIDTHWISE_NO_OPERAND};
    if (!fit(a, n * q.numbers(), q.from.width())) throw Refused{WIDTHWISE_NO_CODE};
    const auto item = [](const Format& f) {
      return static_cast<std::size_t>(item_bytes(f.width()));
    };
    const std::size_t in = item(q.from) * q.numbers(), out = item(q.to.element) * q.numbers(),
                      one = item(q.to.scale);
    for (std::size_t i = 0; i < n; ++i) {
      const auto* first = static_cast<const std::byte*>(a) + i * in;
      const hdl::BlockRun::Block block =
          prepared.blocks->quantised(hdl::loaded({first, first + in}, q.from), code_at(q, b, i));
      std::ranges::copy(hdl::stored(block.elements, q.to.element),
                        static_cast<std::byte*>(y) + i * out);
      std::ranges::copy(hdl::stored({block.scale}, q.to.scale),
                        static_cast<std::byte*>(scale) + i * one);
      if (flags) flags[i] = block.flags;
    }
  });
}

std::int32_t widthwise_model_block(const widthwise_model* handle, std::uint32_t rm,
                                   const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* y,
                                   std::uint32_t* scale, std::uint32_t* flags) {
  return guarded([&] {
    const Model& model = model_of_blocks(handle);
    const Prepared& prepared = model.prepared(rm);
    const auto& q = std::get<BlockQuantisation>(prepared.design);
    if (!a || !y || !scale || !flags || lacks(q, b)) throw Refused{WIDTHWISE_NO_OPERAND};
    std::vector<std::byte> numbers;
    append_codes(numbers, a, q.numbers(), q.from.width());
    const hdl::BlockRun::Block block =
        prepared.blocks->quantised(hdl::loaded(numbers, q.from), code_at(q, b, 0));
    store_bits(y, block.elements, q.to.element.width());
    store_bits(scale, {block.scale}, q.to.scale.width());
    *flags = block.flags;
  });
}

}  // extern "C"
