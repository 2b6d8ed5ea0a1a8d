#include "widthwise/hdl/export.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "benches.hpp"
#include "design_rtl.hpp"
#include "folder_templates.hpp"
#include "header_checks.hpp"
#include "model_files.hpp"
#include "readme.hpp"
#include "vectors.hpp"
#include "widthwise/sim/tables.hpp"

namespace widthwise::hdl {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string all{std::istreambuf_iterator<char>(file), {}};
  if (!file || all.empty())
    throw std::system_error(std::make_error_code(std::errc::no_such_file_or_directory),
                            fmt::format("cannot read the golden model {}", path.string()));
  return all;
}

// The modules, or why there are none.
struct BuiltRtl {
  std::optional<DesignRtl> rtl;
  std::string reason;
};

BuiltRtl built_rtl(const Design& design, std::string_view name, const ExportOptions& options) {
  if (options.rtl == false) return {{}, "it was not asked for (options.rtl = false)"};
  const bool asked = options.rtl == true || options.rounding_port || options.lanes != 0 ||
                     options.multiply || options.pipeline.has_value() || options.accumulate ||
                     options.generator;
  if (asked) return {design_rtl(design, name, options), ""};
  try {
    return {design_rtl(design, name, options), ""};
  } catch (const std::invalid_argument& why) {
    return {{}, why.what()};
  }
}

// A golden model finds neither a user's files nor what this process has given a name: in an export
// such tables are their values.
Format spelt_out(const Format& f) {
  if (!f.is_table() || std::ranges::count(shipped_tables(), table_name(f), &ShippedTable::name))
    return f;
  return table_of("", table_values(f));
}
Design spelt_out(Design design) {
  if (Unit* u = std::get_if<Unit>(&design))
    for (Operand* x : {&u->a, &u->b, &u->c}) x->fmt = spelt_out(x->fmt);
  if (auto* s = std::get_if<SingleOperation>(&design))
    for (Format& f : s->operands) f = spelt_out(f);
  return design;
}

// SPEC is the text that was asked for, where a line holds it.
ConstantTable as_asked(ConstantTable table, const std::string& asked) {
  const bool plain = std::ranges::all_of(asked, [](char c) { return c >= ' ' && c <= '~'; });
  if (asked.empty() || !plain) return table;
  for (Constant& x : table)
    if (x.name == "SPEC") x.value = asked;
  return table;
}

}  // namespace

ExportFiles export_files(const Design& given, std::string_view name, const ExportOptions& options) {
  check_export_name(name);
  const Design design = spelt_out(given);
  const BuiltRtl built = built_rtl(design, name, options);
  const ConstantTable table =
      as_asked(design_constants(design, name, built.rtl ? built.rtl->timing : Timing{}),
               design == given ? options.asked : "");
  std::vector<File> files = header_files(table);
  files.push_back({fmt::format("{}_dpi_pkg.sv", name), dpi_package(table)});
  files.push_back({fmt::format("{}_vhpi_pkg.vhd", name), vhpi_package(table)});
  for (const File& file : model_files()) files.push_back(file);
  for (const auto& path : options.libraries) files.push_back({path.filename(), contents(path)});
  for (File& file : header_checks(table)) files.push_back(std::move(file));
  files.push_back({"Makefile", filled("Makefile", {{"NAME", std::string(name)}})});
  files.push_back({"README.md", readme(design, table, built.rtl, built.reason)});
  if (built.rtl) {
    for (const RtlFile& file : built.rtl->files) files.push_back({"rtl/" + file.name, file.text});
    files.push_back({fmt::format("{}_taps.json", name), built.rtl->taps});
    files.push_back(
        {fmt::format("vectors/{}.hex", name), vector_file(design, *built.rtl, options)});
    for (File& file : bench_files(design, name, *built.rtl)) files.push_back(std::move(file));
  }
  return {std::move(files), built.reason};
}

Exported export_design(const Design& design, std::string_view name,
                       const std::filesystem::path& folder, const ExportOptions& options) {
  const ExportFiles made = export_files(design, name, options);
  Exported exported;
  exported.no_rtl = made.no_rtl;
  exported.kept = write_folder(folder, to_string(spelt_out(design)), made.files, options.force);
  for (const File& file : made.files) exported.files.push_back(folder / file.name);
  return exported;
}

}  // namespace widthwise::hdl
