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

// Refuses what some language of the files does not take as a name, and what an export has itself:
// ports, modules, files.
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
  bool force = false;  // write anew what was changed in the folder since the last export
};

// What an export holds, made before anything is written: headers, the golden model's sources, and
// the modules in rtl/.
struct ExportFiles {
  std::vector<File> files;
  std::string no_rtl;  // as in Exported
};
ExportFiles export_files(const Design& design, std::string_view name,
                         const ExportOptions& options = {});

// The whole folder or nothing: it is written beside its place and takes it in one step. A folder
// that stands there has to be empty or hold the list of an earlier export; else
// std::invalid_argument. Files that the list does not know stay as they are; so do those that have
// been changed since, whose names are returned, unless `force` has them written anew.
// std::system_error names the path and the reason.
std::vector<std::string> write_folder(const std::filesystem::path& folder, std::string_view spec,
                                      std::span<const File> files, bool force = false);

struct Exported {
  std::vector<std::filesystem::path> files;  // all that belong to it, the list of them apart
  std::vector<std::string> kept;             // those of them, or of the last one, that were changed
  std::string no_rtl;                        // why there is none, and so no vectors; empty else
};

// Both steps.
Exported export_design(const Design& design, std::string_view name,
                       const std::filesystem::path& folder, const ExportOptions& options = {});

}  // namespace widthwise::hdl
