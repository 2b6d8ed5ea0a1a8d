#pragma once
#include <span>
#include <string>

#include "entries.hpp"

// What the tables of units and of operations have in common.
namespace widthwise::hdl {

// FNV-1a (Fowler, Noll, Vo; 64 bits).
std::uint64_t text_hash(std::string_view text);

// Three bits where RISC-V's modes and odd are all that is needed, else four.
int rm_width(std::span<const Rounding> used);

struct Identity {
  std::string_view name;
  std::string description, spec;
  std::uint64_t hash;
  std::string hash_of;  // for the comment
};
void add_identity(Draft& draft, const Identity& id);

template <class E>
void add_codes(Draft& draft, std::string title) {
  Entries x(draft, std::move(title));
  for (std::size_t i = 0; i < code_names<E>.size(); ++i)
    x.pattern(code_names<E>[i], code_width<E>, Code(i));
}
// Codes of what becomes of results out of range, in these formats.
void add_overflow_codes(Draft& draft, std::span<const Format> formats);
void add_rounding_codes(Draft& draft);

struct Ports {
  Rounding rm;
  Tininess tininess = Tininess::after_rounding;
  bool flushes_in, flushes_out;
};
void add_ports(Draft& draft, const Ports& ports, const Timing& timing);

}  // namespace widthwise::hdl
