#include "widthwise/hdl/export.hpp"

#include <fmt/core.h>

#include <stdexcept>

namespace widthwise::hdl {
namespace {

// VHDL's basic identifiers (IEEE 1076-2008, 15.4.2), of which Verilog's are not all.
std::string fault(std::string_view name) {
  if (name.find('$') != name.npos) return "it has a $";
  if (name.front() == '_') return "it begins with _";
  if (name.back() == '_') return "it ends in _";
  if (name.find("__") != name.npos) return "it has two _ in a row";
  return "";
}

}  // namespace

void check_export_name(std::string_view name) {
  check_identifier(name);
  const std::string wrong = fault(name);
  if (!wrong.empty())
    throw std::invalid_argument(
        fmt::format("unit name '{}' is no VHDL identifier: {}; take a letter, then letters, digits "
                    "and single _ between them, as mac_unit",
                    name, wrong));
}

std::vector<File> export_files(const Design& design, std::string_view name) {
  check_export_name(name);
  return header_files(design_constants(design, name));
}

std::vector<std::filesystem::path> export_design(const Design& design, std::string_view name,
                                                 const std::filesystem::path& folder) {
  const std::vector<File> files = export_files(design, name);
  write_folder(folder, to_string(design), files);
  std::vector<std::filesystem::path> paths;
  for (const File& file : files) paths.push_back(folder / file.name);
  return paths;
}

}  // namespace widthwise::hdl
