#pragma once
#include <string_view>

#include "widthwise/hdl/rtl.hpp"

namespace widthwise::hdl {

// A module `name` with the ports and parameters of ww_multiply.v that multiplies as the simulator
// does where it is given this one.
RtlFile multiplier_module(std::string_view name, const Multiplier& multiply, const Operand& a,
                          const Operand& b);

}  // namespace widthwise::hdl
