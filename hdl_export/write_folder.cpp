#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "widthwise/hdl/export.hpp"
#include "widthwise/hdl/write_file.hpp"

namespace widthwise::hdl {
namespace {

namespace fs = std::filesystem;

// By this an export is known again: what made it, then the names of its other files.
constexpr std::string_view list_name = "widthwise_export.txt";
constexpr std::string_view list_title = "Widthwise export of ";

// A name beside a folder that nobody has.
fs::path beside(const fs::path& folder) {
  static std::atomic<unsigned> count{0};
  fs::path path;
  do path = fmt::format("{}.{}-{}.part", folder.string(), getpid(), count++);
  while (fs::exists(fs::symlink_status(path)));
  return path;
}

// A folder under another name, gone with the object.
class Aside {
 public:
  explicit Aside(fs::path path) : path_(std::move(path)) {}
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  ~Aside() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> listed(const fs::path& folder) {
  std::ifstream file(folder / list_name);
  std::vector<std::string> names;
  std::string line;
  if (!std::getline(file, line) || !line.starts_with(list_title)) return names;
  while (std::getline(file, line)) names.push_back(line);
  names.emplace_back(list_name);
  return names;
}

// A folder inside is ours where a file of ours is to be in it.
bool is_ours(const fs::directory_entry& entry, const std::string& name,
             const std::vector<std::string>& ours) {
  if (entry.is_directory())
    return std::ranges::any_of(ours,
                               [&](const auto& file) { return file.starts_with(name + "/"); });
  return entry.is_regular_file() && std::ranges::find(ours, name) != ours.end();
}

void check_ours(const fs::path& folder) {
  const std::vector<std::string> ours = listed(folder);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    if (!is_ours(entry, name, ours))
      throw std::invalid_argument(fmt::format(
          "directory = {}: it holds {}, which no export has written; name another folder, or empty "
          "this one (`make clean` takes away what its Makefile has made)",
          folder.string(), name));
  }
}

void check_replaceable(const fs::path& folder) {
  if (!fs::exists(folder)) return;
  if (!fs::is_directory(folder))
    throw fs::filesystem_error("cannot make the folder", folder,
                               std::make_error_code(std::errc::not_a_directory));
  if (fs::equivalent(folder, fs::current_path()))
    throw std::invalid_argument(fmt::format(
        "directory = {}: an export replaces its folder, and this is the current one; name a folder "
        "in it",
        folder.string()));
  check_ours(folder);
}

std::string list_of(std::string_view spec, std::span<const File> files) {
  std::string list = fmt::format("{}{}\n", list_title, spec);
  for (const File& file : files) list += file.name + "\n";
  return list;
}

// Out of the way first, for a rename replaces no folder that holds something.
void put_in_place(const fs::path& made, const fs::path& folder) {
  if (!fs::exists(folder)) return fs::rename(made, folder);
  const fs::path old = beside(folder);
  fs::rename(folder, old);
  std::error_code why, ignored;
  fs::rename(made, folder, why);
  if (why) {
    fs::rename(old, folder);
    throw fs::filesystem_error("cannot replace the folder", folder, why);
  }
  fs::remove_all(old, ignored);
}

}  // namespace

void write_folder(const fs::path& folder, std::string_view spec, std::span<const File> files) {
  fs::path target = fs::weakly_canonical(folder);
  if (!target.has_filename()) target = target.parent_path();
  check_replaceable(target);
  fs::create_directories(target.parent_path());
  const Aside made(beside(target));
  fs::create_directory(made.path());
  for (const File& file : files) {
    fs::create_directories((made.path() / file.name).parent_path());
    write_file(made.path() / file.name, file.text);
  }
  write_file(made.path() / list_name, list_of(spec, files));
  put_in_place(made.path(), target);
}

}  // namespace widthwise::hdl
