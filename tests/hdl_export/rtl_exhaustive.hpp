#pragma once
#include <span>

#include "rtl_bench.hpp"

namespace tests {

// An operation of three operands to 8 bits, with a port for the mode, on all operands in every
// mode. A vector's operands count up, and what the simulator says comes through a pipe: lines of
// text would take days.
Verdict on_every_triple(const widthwise::SingleOperation& s,
                        std::span<const widthwise::hdl::RtlFile> files, bool tell = true);

}  // namespace tests
