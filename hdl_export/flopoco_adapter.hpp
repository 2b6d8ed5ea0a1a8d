#pragma once
#include <string>
#include <string_view>

#include "design_rtl.hpp"
#include "widthwise/sim/single_operation.hpp"

namespace widthwise::hdl {

// An entity of VHDL with the operation's ports around one of FloPoCo's, whose words differ.
std::string flopoco_adapter(const SingleOperation& s, std::string_view name);
// Why a design has none, or nothing. FloPoCo adds and multiplies numbers of one exponent width to
// nearest even.
std::string why_no_flopoco_adapter(const Design& design, const DesignRtl& rtl);
// README's section on it.
std::string flopoco_text(const Design& design, std::string_view name, const DesignRtl& rtl);

}  // namespace widthwise::hdl
