#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/hdl/design.hpp"
#include "widthwise/hdl/dialects.hpp"

// A folder of files for one design.
namespace widthwise::hdl {

// Refuses what some language of the files does not take as a name: VHDL's rules are narrower than
// Verilog's.
void check_export_name(std::string_view name);

// What an export holds, made before anything is written: headers, and the golden model's sources.
// Libraries are copied: the model's, and those that it needs, where a wheel has brought them.
std::vector<File> export_files(const Design& design, std::string_view name,
                               std::span<const std::filesystem::path> libraries = {});

// The whole folder or nothing: it is written beside its place and then renamed to it. What stood
// there is replaced only if it is empty or all its files are those of an earlier export, as the
// list in it says; else std::invalid_argument names one that is not. std::system_error names the
// path and the reason.
void write_folder(const std::filesystem::path& folder, std::string_view spec,
                  std::span<const File> files);

// Both steps. Returns the paths of the files, the list of them apart.
std::vector<std::filesystem::path> export_design(
    const Design& design, std::string_view name, const std::filesystem::path& folder,
    std::span<const std::filesystem::path> libraries = {});

}  // namespace widthwise::hdl
