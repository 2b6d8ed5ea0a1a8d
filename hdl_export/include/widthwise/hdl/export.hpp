#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "widthwise/hdl/design.hpp"
#include "widthwise/hdl/dialects.hpp"
#include "widthwise/hdl/rtl.hpp"

// A folder of files for one design.
namespace widthwise::hdl {

// Refuses what some language of the files does not take as a name: VHDL's rules are narrower than
// Verilog's.
void check_export_name(std::string_view name);

struct ExportOptions {
  // The text that was asked for, which SPEC is then; empty: the canonical one.
  std::string asked{};
  // Synthesizable modules, with what checks them. Absent: where they are built, and README.md says
  // why not where they are not; yet an option that is about them wants them.
  std::optional<bool> rtl{};
  bool rounding_port = false;  // the result is rounded as a port `rm` says
  // Products of a whole dot product; needed where a unit takes all of K at once.
  int lanes = 0;
  // In place of a unit's exact product, as RtlOptions::multiply; the golden model has none.
  Multiplier multiply{};
  RtlPipeline pipeline{};   // stages behind which a register stands; absent: no clock
  bool accumulate = false;  // a unit's running sum: RtlOptions::accumulate
  bool generator = false;   // of the random words, in the module: RtlOptions::generator
  // At random, besides the directed ones: results, each of one line, or of a running sum's blocks.
  std::size_t vectors = 1000;
  std::uint64_t seed = 0;
  // Copied: the golden model's, and those that it needs, where a wheel has brought them.
  std::vector<std::filesystem::path> libraries{};
};

// What an export holds, made before anything is written: headers, the golden model's sources, and
// the modules in rtl/.
std::vector<File> export_files(const Design& design, std::string_view name,
                               const ExportOptions& options = {});

// The whole folder or nothing: it is written beside its place and then renamed to it. What stood
// there is replaced only if it is empty or all its files are those of an earlier export, as the
// list in it says; else std::invalid_argument names one that is not. std::system_error names the
// path and the reason.
void write_folder(const std::filesystem::path& folder, std::string_view spec,
                  std::span<const File> files);

// Both steps. Returns the paths of the files, the list of them apart.
std::vector<std::filesystem::path> export_design(const Design& design, std::string_view name,
                                                 const std::filesystem::path& folder,
                                                 const ExportOptions& options = {});

}  // namespace widthwise::hdl
