#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "../engine/machine_rounding.hpp"
#include "draw_bits.hpp"
#include "lane_plan.hpp"
#include "way.hpp"

namespace widthwise::elements {
namespace {

// Elements that are worked on at a time: three operands of doubles stay in the first cache.
constexpr std::size_t lane_piece = 1024;

const std::byte* at(const void* data, std::size_t i, int bytes) {
  return static_cast<const std::byte*>(data) + i * static_cast<std::size_t>(bytes);
}
std::byte* at(void* data, std::size_t i, int bytes) {
  return static_cast<std::byte*>(data) + i * static_cast<std::size_t>(bytes);
}

// Codes to numbers, an operation of the machine's, and back, piece by piece.
template <class T>
class Lanes final : public Elementwise::Way {
 public:
  Lanes(const ElementTask& task, const LanePlan& plan)
      : encoding_(task.to, task.env),
        operands_(static_cast<int>(task.operands.size())),
        result_bytes_(item_bytes(task.to.width())),
        machine_(plan.machine),
        downward_(task.env.rounding.mode == RoundingMode::rdn),
        rounding_(task.env.rounding),
        operate_(operate_kernel<T>(plan.middle)),
        random_(rounding_.stochastic() ? random_kernel<T>(result_bytes_) : nullptr),
        encode_(task.to == carrier_format<T> ? carrier_kernel<T>(task.flags)
                                             : encode_kernel<T>(encoding_, task.flags)) {
    for (const Format& f : task.operands) {
      operand_bytes_.push_back(item_bytes(f.width()));
      decoding_.emplace_back(f);
      decode_.push_back(reader(f, task.flags));
    }
  }

  const char* name() const final { return sizeof(T) == 4 ? "float lanes" : "double lanes"; }

  void run(const ElementArrays& x) const final {
    const MachineRounding mode(machine_);
    const std::size_t whole = x.count / padding * padding;
    const bool in_place =
        !operate_ && !decode_[0] && !random_;  // one loop over all reads ahead undisturbed
    const std::size_t most = in_place ? whole : lane_piece;
    for (std::size_t i = 0; i < whole; i += most) run_chunk(x, i, std::min(most, whole - i));
    if (whole < x.count) run_rest(x, whole);
  }

 private:
  typename Kernels<T>::Decode reader(const Format& f, bool flags) const {
    if (f == carrier_format<T>) return nullptr;
    if constexpr (sizeof(T) == 4)
      if (f == binary64) return odd_kernel();
    return decode_kernel<T>(decoding_.back(), flags);
  }
  void run_chunk(const ElementArrays& x, std::size_t first, std::size_t n) const {
    alignas(64) T held[3][lane_piece];
    const T* numbers[3] = {held[0], held[1], held[2]};
    for (int j = 0; j < operands_; ++j) {
      const auto slot = static_cast<std::size_t>(j);
      const std::byte* codes = at(x.operands[slot], first, operand_bytes_[slot]);
      if (decode_[slot])
        decode_[slot](decoding_[slot], codes, n, held[j]);
      else
        numbers[j] = reinterpret_cast<const T*>(codes);
    }
    if (operate_) {
      operate_(downward_, numbers[0], numbers[1], numbers[2], n, held[0]);
      numbers[0] = held[0];
    }
    std::byte* const codes = at(x.result, first, result_bytes_);
    if (random_) return encode_randomly(numbers[0], n, codes, x.random, first);
    encode_(encoding_, numbers[0], n, codes, x.flags ? x.flags + first : nullptr);
  }

  void encode_randomly(const T* numbers, std::size_t n, std::byte* codes,
                       const RandomSource& source, std::size_t first) const {
    std::uint64_t room[lane_piece];
    const std::uint64_t* bits = random_bits(rounding_, source, first, n, room);
    random_(encoding_, encoding_.places(rounding_), numbers, bits, n, codes);
  }

  // Fewer elements than lanes: between zeros.
  void run_rest(const ElementArrays& x, std::size_t first) const {
    constexpr std::size_t room = padding * sizeof(double);
    const std::size_t n = x.count - first;
    std::array<std::array<std::byte, room>, 3> codes{};
    std::array<std::byte, room> result;
    std::array<std::uint8_t, padding> flags;
    std::array<const void*, 3> operands{};
    for (std::size_t j = 0; j < decode_.size(); ++j) {
      const auto bytes = static_cast<std::size_t>(operand_bytes_[j]);
      std::memcpy(codes[j].data(), at(x.operands[j], first, operand_bytes_[j]), n * bytes);
      operands[j] = codes[j].data();
    }
    std::array<std::uint64_t, padding> bits{};
    if (random_)
      std::copy_n(random_bits(rounding_, x.random, first, n, bits.data()), n, bits.data());
    run_chunk(
        {operands, padding, result.data(), x.flags ? flags.data() : nullptr, {0, 0, bits.data()}},
        0, padding);
    std::memcpy(at(x.result, first, result_bytes_), result.data(),
                n * static_cast<std::size_t>(result_bytes_));
    if (x.flags) std::copy_n(flags.begin(), n, x.flags + first);
  }

  Encoding<T> encoding_;
  std::vector<Decoding<T>> decoding_;
  std::vector<int> operand_bytes_;
  int operands_, result_bytes_;
  RoundingMode machine_;
  bool downward_;
  std::vector<typename Kernels<T>::Decode> decode_;  // null where the codes are the numbers
  Rounding rounding_;
  typename Kernels<T>::Operate operate_;
  RandomEncode<T> random_;  // null where no random bits round
  typename Kernels<T>::Encode encode_;
};

}  // namespace
}  // namespace widthwise::elements

namespace widthwise {

ElementwiseWay lane_way(const ElementTask& task) {
  using namespace elements;
  const auto plan = plan_lanes(task.op, task.to, task.env, task.operands, task.flags).plan;
  if (!plan) return nullptr;
  if (plan->carrier == Carrier::in_float) return std::make_unique<Lanes<float>>(task, *plan);
  return std::make_unique<Lanes<double>>(task, *plan);
}

}  // namespace widthwise
