#pragma once
#include <array>

#include "kernel.hpp"
#include "sim/engine/lines.hpp"

namespace widthwise::wide {

// Random bits of eight outputs side by side, where their rounding adds them.
struct Drawn {
  const Limb* first;  // of the first step or row
  std::size_t next;   // words from one to the next: none where there is nothing to draw

  const Limb* operator[](std::size_t i) const { return first + i * next; }
};

// One thread's. What a call of the generator makes is kept while rows come back for other steps.
class Draws {
 public:
  static constexpr std::size_t lanes = 8;
  static constexpr int most_bits = 48;              // of one rounding: they lie in one limb
  static constexpr std::size_t calls_together = 2;  // to hide a multiplication's latency

  // Of numbers with so many digits below the kept ones.
  explicit Draws(int below) : below_(below) {}

  Drawn of(const RoundTo& to, const Steps& steps);
  Drawn of(const RoundTo& to, const Rows& rows);

  // Of the generator, for eight outputs: one after the other, or one for some rows.
  struct Calls {
    std::uint64_t seed, output, call;      // of the first; the output in lane 0
    std::uint64_t next_output, next_call;  // from one to the next
    std::size_t count;
    bool operator==(const Calls&) const = default;
  };

 private:
  struct Kept {
    Calls calls{};
    Lines<Limb> bits;  // of every call, its steps and lanes
  };
  const Limb* draw(const RoundTo& to, const Calls& calls);

  int below_;
  std::array<Kept, static_cast<std::size_t>(Slot::compensated) + 1> of_slot_;
};

}  // namespace widthwise::wide
