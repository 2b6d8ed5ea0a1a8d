#pragma once
#include <cstddef>
#include <vector>

#include "entries.hpp"
#include "widthwise/sim/codes.hpp"

// Codes as the simulator's arrays hold them (sim/codes.hpp).
namespace widthwise::hdl {

using Bytes = std::vector<std::byte>;

inline Bytes stored(const std::vector<Code>& codes, const Format& f) {
  const int item = item_bytes(f.width());
  Bytes bytes(codes.size() * static_cast<std::size_t>(item));
  for (std::size_t i = 0; i < codes.size(); ++i)
    store_code<Code>(&bytes[i * static_cast<std::size_t>(item)], item, codes[i]);
  return bytes;
}

inline std::vector<Code> loaded(const Bytes& bytes, const Format& f) {
  const auto item = static_cast<std::size_t>(item_bytes(f.width()));
  std::vector<Code> codes;
  for (std::size_t at = 0; at < bytes.size(); at += item)
    codes.push_back(load_code<Code>(&bytes[at], static_cast<int>(item)));
  return codes;
}

}  // namespace widthwise::hdl
