#include "manifest.hpp"

#include <fmt/core.h>

#include <charconv>
#include <fstream>

#include "shared_constants.hpp"

namespace widthwise::hdl {
namespace {

constexpr std::string_view title = "Widthwise export of ";
constexpr std::size_t digits = 16;

std::string without_area(std::string_view text) {
  const std::size_t begin = text.find("\nArea: ");
  if (begin == text.npos) return std::string(text);
  const std::size_t end = text.find('\n', begin + 1);
  return fmt::format("{}{}", text.substr(0, begin), text.substr(std::min(end, text.size())));
}

// "0123456789abcdef  rtl/add.v", or the name alone.
void add_line(const std::string& line, Manifest& files) {
  std::uint64_t hash = 0;
  const char* const end = line.data() + std::min(digits, line.size());
  const bool has_hash = std::from_chars(line.data(), end, hash, 16).ptr == line.data() + digits &&
                        line.compare(digits, 2, "  ") == 0;
  if (has_hash)
    files[line.substr(digits + 2)] = hash;
  else
    files[line] = 0;
}

}  // namespace

std::uint64_t file_hash(std::string_view name, std::string_view text) {
  return text_hash(name == "README.md" ? without_area(text) : std::string(text));
}

std::string manifest_text(std::string_view spec, std::span<const File> files) {
  std::string text = fmt::format("{}{}\n", title, spec);
  for (const File& file : files)
    text += fmt::format("{:016x}  {}\n", file_hash(file.name, file.text), file.name);
  return text;
}

std::optional<Manifest> read_manifest(const std::filesystem::path& folder) {
  std::ifstream file(folder / manifest_name);
  std::string line;
  if (!std::getline(file, line) || !line.starts_with(title)) return std::nullopt;
  Manifest files;
  while (std::getline(file, line)) add_line(line, files);
  return files;
}

}  // namespace widthwise::hdl
