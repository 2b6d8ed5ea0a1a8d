#include "adapter_format.hpp"
#include "printing.hpp"
#include "widthwise/hdl/adapters.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {
namespace {

bool for_all(const ConstantTable&) { return true; }
bool for_floats(const ConstantTable& table) { return !adapter_formats(table).empty(); }
ConstantTable as_it_is(const ConstantTable& table) { return table; }

// A file's name is the unit's and this ending. What other libraries read knows some formats alone.
struct Kind {
  std::string_view ending;
  std::string (*print)(const ConstantTable& table);
  bool (*is_wanted)(const ConstantTable& table) = for_all;
  ConstantTable (*translate)(const ConstantTable& table) = as_it_is;
};
constexpr Kind kinds[] = {
    {".vh", verilog_localparams},
    {"_params.vh", verilog_parameters},
    {"_defs.vh", verilog_defines},
    {"_pkg.sv", systemverilog_package},
    {"_pkg.vhd", vhdl_package},
    {".h", c_header},
    {".json", json},
    {"_hardfloat.vh", verilog_localparams, for_floats, hardfloat_constants},
    {"_fpnew_pkg.sv", systemverilog_package, for_floats, fpnew_constants},
    {"_flopoco_pkg.vhd", vhdl_package, for_floats, flopoco_constants},
    {"_ap_float.h", c_header, for_floats, ap_float_constants},
    {"_vivado.tcl", vivado_tcl, for_floats},
    {".smt2", smtlib, for_floats},
    {"_ap_fixed.h", ap_fixed_header, has_fixed_point},
};

}  // namespace

std::vector<File> header_files(const ConstantTable& table) {
  std::vector<File> files;
  for (const Kind& kind : kinds)
    if (kind.is_wanted(table))
      files.push_back(
          {unit_name(table) + std::string(kind.ending), kind.print(kind.translate(table))});
  return files;
}

}  // namespace widthwise::hdl
