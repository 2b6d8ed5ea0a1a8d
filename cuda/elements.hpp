#pragma once
#include "device.hpp"
#include "widthwise/sim/elementwise.hpp"

// Operations on arrays of codes that lie on a device, element by element: sim's Elementwise there.
namespace widthwise::cuda {

class DeviceElementwise {
 public:
  // Throws std::invalid_argument where a device's integers do not hold the exact results.
  DeviceElementwise(Device& device, Operation op, const Format& to, const Env& env,
                    std::span<const Format> operands, bool flags);

  // All addresses are the device's, and multiples of an item's size. flags, if they are wanted,
  // take one byte an element.
  void run(std::span<const void* const> operands, std::size_t count, void* result,
           std::uint8_t* flags, RandomSource random = {}) const;

  // The way it goes: "quantise", "dequantise", "float lanes" or "integers".
  const char* way() const;

 private:
  std::shared_ptr<const Elementwise::Way> way_;
};

// result[i] = a[i] * 2^n[i], n 64-bit integers of the device.
void scaleb(Device& device, const Format& to, const Env& env, const CodeArray& a,
            const std::int64_t* n, std::size_t count, void* result, std::uint8_t* flags,
            RandomSource random = {});

// a[i] as an integer of 32 or 64 bits, in a word of 64, and integers of 8 to 64 bits, side by side,
// as codes.
void to_integers(Device& device, IntegerType type, const Env& env, const CodeArray& a,
                 std::size_t count, std::uint64_t* result, std::uint8_t* flags,
                 RandomSource random = {});
void from_integers(Device& device, IntegerType type, const Format& to, const Env& env,
                   const void* a, std::size_t count, void* result, std::uint8_t* flags,
                   RandomSource random = {});

// result[i] is 0 or 1.
void compare(Device& device, Comparison how, const CodeArray& a, const CodeArray& b,
             std::size_t count, std::uint8_t* result, std::uint8_t* flags);

// result[i] is a NumberClass; or 1 where a[i] has a minus sign, else 0.
void classify(Device& device, const CodeArray& a, std::size_t count, std::uint8_t* result);
void signs(Device& device, const CodeArray& a, std::size_t count, std::uint8_t* result);

}  // namespace widthwise::cuda
