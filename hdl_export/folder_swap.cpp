#include "folder_swap.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "manifest.hpp"

namespace widthwise::hdl {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) { return fs::exists(fs::symlink_status(path)); }

fs::path with_ending(fs::path path, const char* ending) { return path += ending; }

// Linux alone has it, and not on every file system.
bool exchange([[maybe_unused]] const fs::path& a, [[maybe_unused]] const fs::path& b) {
#ifdef RENAME_EXCHANGE
  return renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

}  // namespace

FolderSwap::FolderSwap(fs::path folder)
    : folder_(std::move(folder)),
      made_(with_ending(folder_, ".widthwise-new.part")),
      old_(with_ending(folder_, ".widthwise-old.part")) {
  // Without locks, as on some network drives, two exports to one place are their callers' matter.
  lock_ = open(folder_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  try {
    take_turn();
    heal();
  } catch (...) {
    close_lock();
    throw;
  }
}

FolderSwap::~FolderSwap() {
  std::error_code ignored;
  fs::remove_all(made_, ignored);
  close_lock();
}

void FolderSwap::close_lock() const {
  if (lock_ >= 0) close(lock_);
}

void FolderSwap::take_turn() const {
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error(
          fmt::format("directory = {}: another program has locked {} for a minute",
                      folder_.string(), folder_.parent_path().string()));
    std::this_thread::sleep_for(50ms);
  }
}

// The old folder is needless only once the new one, whose mark is its manifest, has its place.
void FolderSwap::heal() const {
  if (is_there(old_) && fs::is_directory(folder_) && fs::is_empty(folder_)) fs::remove(folder_);
  if (is_there(old_) && !is_there(folder_)) fs::rename(old_, folder_);
  if (is_there(old_) && !fs::exists(folder_ / manifest_name))
    throw std::invalid_argument(fmt::format(
        "directory = {}: it is no export, and {} is what a stopped one left of the export "
        "that was there; move one of them away",
        folder_.string(), old_.string()));
  fs::remove_all(old_);
  fs::remove_all(made_);
}

// Where two folders cannot be exchanged the old one goes out of the way first, for a rename
// replaces no folder that holds something.
void FolderSwap::put_in_place() {
  if (!is_there(folder_)) return fs::rename(made_, folder_);
  if (exchange(made_, folder_)) return;
  fs::rename(folder_, old_);
  std::error_code why, ignored;
  fs::rename(made_, folder_, why);
  if (why) {
    fs::rename(old_, folder_);
    throw fs::filesystem_error("cannot replace the folder", folder_, why);
  }
  fs::remove_all(old_, ignored);
}

}  // namespace widthwise::hdl
