#include "adapter_format.hpp"
#include "printing.hpp"
#include "widthwise/hdl/adapters.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {
namespace {

ConstantTable as_it_is(const ConstantTable& table) { return table; }

// A file's name is the unit's and this ending. What other libraries read knows floats alone.
struct Kind {
  std::string_view ending;
  std::string (*print)(const ConstantTable& table);
  ConstantTable (*translate)(const ConstantTable& table) = nullptr;
};
constexpr Kind kinds[] = {
    {".vh", verilog_localparams},
    {"_params.vh", verilog_parameters},
    {"_defs.vh", verilog_defines},
    {"_pkg.sv", systemverilog_package},
    {"_pkg.vhd", vhdl_package},
    {".h", c_header},
    {".json", json},
    {"_hardfloat.vh", verilog_localparams, hardfloat_constants},
    {"_fpnew_pkg.sv", systemverilog_package, fpnew_constants},
    {"_flopoco_pkg.vhd", vhdl_package, flopoco_constants},
    {"_ap_float.h", c_header, ap_float_constants},
    {"_vivado.tcl", vivado_tcl, as_it_is},
    {".smt2", smtlib, as_it_is},
};

}  // namespace

std::vector<File> header_files(const ConstantTable& table) {
  const bool floats = !adapter_formats(table).empty();
  std::vector<File> files;
  for (const Kind& kind : kinds) {
    if (kind.translate && !floats) continue;
    files.push_back({unit_name(table) + std::string(kind.ending),
                     kind.print(kind.translate ? kind.translate(table) : table)});
  }
  return files;
}

}  // namespace widthwise::hdl
