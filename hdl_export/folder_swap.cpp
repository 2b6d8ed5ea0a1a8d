#include "folder_swap.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>

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
  if (lock_ >= 0) flock(lock_, LOCK_EX);
  heal();
}

FolderSwap::~FolderSwap() {
  std::error_code ignored;
  fs::remove_all(made_, ignored);
  if (lock_ >= 0) close(lock_);
}

void FolderSwap::heal() const {
  if (is_there(old_) && !is_there(folder_)) fs::rename(old_, folder_);
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
