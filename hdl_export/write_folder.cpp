#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include "folder_swap.hpp"
#include "manifest.hpp"
#include "widthwise/hdl/export.hpp"
#include "widthwise/hdl/write_file.hpp"

namespace widthwise::hdl {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path way = path.lexically_relative(folder);
  return !way.empty() && *way.begin() != "..";
}

void check_replaceable(const fs::path& folder) {
  if (!fs::is_directory(folder))
    throw fs::filesystem_error("cannot make the folder", folder,
                               std::make_error_code(std::errc::not_a_directory));
  if (is_inside(fs::current_path(), folder))
    throw std::invalid_argument(fmt::format(
        "directory = {}: an export replaces its folder, and this is the current one or around it; "
        "name a folder in it",
        folder.string()));
}

// What an earlier export has left there; nothing in an empty folder.
Manifest known_files(const fs::path& folder, bool force) {
  const std::optional<Manifest> known = read_manifest(folder);
  if (!known && !fs::is_empty(folder))
    throw std::invalid_argument(fmt::format(
        "directory = {}: it holds {}, and no {} of an earlier export; name another folder, or "
        "empty this one",
        folder.string(), fs::directory_iterator(folder)->path().filename().string(),
        manifest_name));
  const bool no_hash =
      known && std::ranges::any_of(*known, [](const auto& file) { return file.second == 0; });
  if (no_hash && !force)
    throw std::invalid_argument(fmt::format(
        "directory = {}: its {} has no hashes, so what you have changed there is not known; name "
        "another folder, or set options.force, which writes all files anew",
        folder.string(), manifest_name));
  return known.value_or(Manifest{});
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The folder that stands there, and what of it is to stay.
class Earlier {
 public:
  Earlier(fs::path folder, std::span<const File> files, bool force)
      : folder_(std::move(folder)), files_(files), force_(force) {
    if (!fs::exists(folder_)) return;
    check_replaceable(folder_);
    known_ = known_files(folder_, force);
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) add(entry);
    std::ranges::sort(kept_);
  }

  // Files of the user's own, or changed: they stay as they are.
  const std::vector<std::string>& staying() const { return staying_; }
  // Those of them that the export would have written otherwise, or taken away.
  const std::vector<std::string>& kept() const { return kept_; }
  const std::vector<std::string>& folders() const { return own_folders_; }

 private:
  const File* wanted(const std::string& name) const {
    const auto found = std::ranges::find(files_, name, &File::name);
    return found == files_.end() ? nullptr : &*found;
  }

  void add(const fs::directory_entry& entry) {
    const std::string name = entry.path().lexically_relative(folder_).generic_string();
    if (name == manifest_name) return;
    if (entry.is_directory() && !entry.is_symlink()) return add_folder(name);
    const bool is_known = known_.contains(name);
    if (is_known && is_unchanged(entry, name)) return;
    if (!is_known && !wanted(name)) return staying_.push_back(name);
    if (force_ || is_as_wanted(entry, name)) return;
    staying_.push_back(name);
    kept_.push_back(name);
  }

  void add_folder(const std::string& name) {
    if (wanted(name))
      throw std::invalid_argument(
          fmt::format("directory = {}: the export has a file {}, which is a folder there; name "
                      "another directory, or move that folder",
                      folder_.string(), name));
    const bool is_ours = std::ranges::any_of(
        known_, [&](const auto& file) { return file.first.starts_with(name + "/"); });
    if (!is_ours) own_folders_.push_back(name);
  }

  bool is_unchanged(const fs::directory_entry& entry, const std::string& name) const {
    return !entry.is_symlink() && file_hash(name, text_of(entry.path())) == known_.at(name);
  }
  bool is_as_wanted(const fs::directory_entry& entry, const std::string& name) const {
    const File* file = wanted(name);
    return file && !entry.is_symlink() && text_of(entry.path()) == file->text;
  }

  fs::path folder_;
  std::span<const File> files_;
  Manifest known_;
  std::vector<std::string> staying_, kept_, own_folders_;
  bool force_;
};

// The same file in both folders, or a copy where a file system has no such links.
void link_into(const fs::path& from, const fs::path& to) {
  fs::create_directories(to.parent_path());
  std::error_code why;
  if (!fs::is_symlink(fs::symlink_status(from))) fs::create_hard_link(from, to, why);
  if (why || !fs::exists(fs::symlink_status(to)))
    fs::copy(from, to, fs::copy_options::copy_symlinks);
}

void write_files(const fs::path& folder, std::string_view spec, std::span<const File> files,
                 const std::vector<std::string>& staying) {
  write_file(folder / manifest_name, manifest_text(spec, files));
  for (const File& file : files) {
    if (std::ranges::find(staying, file.name) != staying.end()) continue;
    fs::create_directories((folder / file.name).parent_path());
    write_file(folder / file.name, file.text);
  }
}

}  // namespace

std::vector<std::string> write_folder(const fs::path& folder, std::string_view spec,
                                      std::span<const File> files, bool force) {
  fs::path target = fs::weakly_canonical(fs::absolute(folder));
  if (!target.has_filename()) target = target.parent_path();
  fs::create_directories(target.parent_path());
  FolderSwap swap(target);
  const Earlier earlier(target, files, force);
  fs::create_directory(swap.made());
  write_files(swap.made(), spec, files, earlier.staying());
  for (const std::string& name : earlier.folders()) fs::create_directories(swap.made() / name);
  for (const std::string& name : earlier.staying()) link_into(target / name, swap.made() / name);
  for (const std::string& name : earlier.folders())
    fs::permissions(swap.made() / name, fs::status(target / name).permissions());
  if (fs::exists(target)) fs::permissions(swap.made(), fs::status(target).permissions());
  swap.put_in_place();
  return earlier.kept();
}

}  // namespace widthwise::hdl
