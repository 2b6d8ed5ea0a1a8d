#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "widthwise/hdl/dialects.hpp"

// The list that lies in an exported folder: what made it, and each file's name with a hash of its
// text, by which a later export knows what has been changed since.
namespace widthwise::hdl {

inline constexpr std::string_view manifest_name = "widthwise_export.txt";

// Of each file the hash of what was written; 0 where a list of names alone was left by an earlier
// version, which no text has.
using Manifest = std::map<std::string, std::uint64_t>;

std::string manifest_text(std::string_view spec, std::span<const File> files);

// That of a folder; absent where no export has written it.
std::optional<Manifest> read_manifest(const std::filesystem::path& folder);

// A file's, which does not see the line on area that `make yosys` writes into README.md.
std::uint64_t file_hash(std::string_view name, std::string_view text);

}  // namespace widthwise::hdl
