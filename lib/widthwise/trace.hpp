#pragma once
#include <cstdint>
#include <type_traits>

namespace widthwise {

// The wires of the datapath, in the order a value travels them. A single operation has `exact`
// in place of the six from product to join. RTL modules and taps carry the same names.
enum class Stage : std::uint8_t {
  unpack,
  product,
  scale,
  align,
  group_sum,
  block_sum,
  join,
  exact,
  normalise,
  denormalise,
  round,
  pack,
};
inline constexpr const char* stage_names[] = {"unpack",    "product",     "scale", "align",
                                              "group_sum", "block_sum",   "join",  "exact",
                                              "normalise", "denormalise", "round", "pack"};

// Listens to nothing and costs nothing. In its place goes any callable that takes
//   (Stage, number)               an operation's exact result, infinities and NaN among them
//   (Stage, negative, exp, sig)   a wire on the way to a code: (-1)^negative * sig * 2^exp; at pack
//                                 sig is the code and exp 0
//   (Stage, source, term)         inside a unit: what became of a term at that stage
//   (Slot, step)                  inside a unit: which rounding the next wires belong to
struct NoTrace {
  template <class... Wire>
  constexpr void operator()(const Wire&...) const {}
};

// Whether anyone listens: then every step is told, and no short cut taken.
template <class Trace>
inline constexpr bool traced = !std::is_same_v<std::remove_cvref_t<Trace>, NoTrace>;

}  // namespace widthwise
