#include "widthwise/hdl/write_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

namespace widthwise::hdl {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, std::error_code why) {
  throw std::system_error(
      why, fmt::format("cannot write {} (whatever stood there is unchanged; make room for it, or "
                       "name another file)",
                       path.string()));
}

// A new file beside the target, which disappears unless it is renamed.
class Replacement {
 public:
  explicit Replacement(const fs::path& target) : target_(target) {
    static std::atomic<unsigned> count{0};
    do {  // a process that was killed may have left one of this name
      path_ = fmt::format("{}.{}-{}.part", target.string(), getpid(), count++);
      file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file_ < 0 && errno == EEXIST);
    if (file_ < 0) path_.clear();
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  ~Replacement() {
    if (file_ >= 0) close(file_);
    if (!path_.empty()) unlink(path_.c_str());
  }

  // Each of these leaves the reason for its failure in errno.
  bool is_open() const { return file_ >= 0; }
  bool write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(file_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  // A full disk may show only when the bytes have to arrive there.
  bool finish() {
    if (fsync(file_) != 0) return false;
    return close(std::exchange(file_, -1)) == 0;
  }
  bool replace_target() {
    if (std::rename(path_.c_str(), target_.c_str()) != 0) return false;
    path_.clear();
    return true;
  }

 private:
  fs::path target_;
  std::string path_;
  int file_ = -1;
};

// Where a link leads, for the file is to be replaced and not the link. Devices and folders are
// refused: a rename would put a file in a device's place.
fs::path regular_target(const fs::path& path) {
  std::error_code why;
  const fs::file_type type = fs::status(path, why).type();
  if (type == fs::file_type::directory) fail(path, std::make_error_code(std::errc::is_a_directory));
  if (type != fs::file_type::regular && type != fs::file_type::not_found)
    fail(path, why ? why : std::make_error_code(std::errc::not_supported));
  if (!fs::is_symlink(fs::symlink_status(path, why))) return path;
  const fs::path target = fs::weakly_canonical(path, why);
  if (why) fail(path, why);
  return target;
}

}  // namespace

void write_file(const fs::path& path, std::string_view text) {
  Replacement file(regular_target(path));
  if (!file.is_open() || !file.write(text) || !file.finish() || !file.replace_target())
    fail(path, std::error_code(errno, std::generic_category()));
}

}  // namespace widthwise::hdl
