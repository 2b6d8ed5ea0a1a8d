#include "printing.hpp"
#include "widthwise/hdl/adapters.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {
namespace {

// A file's name is the unit's and this ending.
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
    {"_vivado.tcl", vivado_tcl},
    {".smt2", smtlib},
};

}  // namespace

std::vector<File> header_files(const ConstantTable& table) {
  std::vector<File> files;
  for (const Kind& kind : kinds)
    files.push_back({unit_name(table) + std::string(kind.ending),
                     kind.print(kind.translate ? kind.translate(table) : table)});
  return files;
}

}  // namespace widthwise::hdl
