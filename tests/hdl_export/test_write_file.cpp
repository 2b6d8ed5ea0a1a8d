#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <string>
#include <system_error>

#include "tools.hpp"
#include "widthwise/hdl/write_file.hpp"

namespace fs = std::filesystem;
using tests::Scratch;
using widthwise::hdl::write_file;

namespace {

// Files of this process end after so many bytes: writes fail as on a disk that is full.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

std::string error_of(const fs::path& path, const std::string& text) {
  try {
    write_file(path, text);
  } catch (const std::system_error& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal(const fs::path& path, const std::string& reason) {
  return "cannot write " + path.string() +
         " (whatever stood there is unchanged; make room for it, or name another file): " + reason;
}

long files_in(const Scratch& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator{});
}

}  // namespace

TEST_CASE("write_file: the target holds the text, and nothing else is left beside it") {
  const Scratch folder;
  for (const std::string& text : {std::string("one\n"), std::string(300'000, 'x'), std::string()}) {
    write_file(folder / "unit.vh", text);
    CHECK(tests::read(folder / "unit.vh") == text);
  }
  CHECK(files_in(folder) == 1);
}

TEST_CASE("write_file: when the disk fills, the old file stays and the error names it") {
  const Scratch folder;
  write_file(folder / "unit.vh", "old");
  std::string error;
  {
    const SmallDisk disk(4096);
    error = error_of(folder / "unit.vh", std::string(100'000, 'x'));
  }
  CHECK(error == refusal(folder / "unit.vh", "File too large"));
  CHECK(tests::read(folder / "unit.vh") == "old");
  CHECK(files_in(folder) == 1);
}

TEST_CASE("write_file: a place that cannot be written is named with the reason") {
  const Scratch folder;
  write_file(folder / "file", "text");
  CHECK(error_of(folder / "none" / "unit.vh", "x") ==
        refusal(folder / "none" / "unit.vh", "No such file or directory"));
  CHECK(error_of(folder / "file" / "unit.vh", "x") ==
        refusal(folder / "file" / "unit.vh", "Not a directory"));
  CHECK(error_of(folder.path(), "x") == refusal(folder.path(), "Is a directory"));
  CHECK(files_in(folder) == 1);
}

TEST_CASE("write_file: a pipe or device is refused, for a rename would replace it") {
  const Scratch folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0666) == 0);
  CHECK(error_of(folder / "pipe", "x") == refusal(folder / "pipe", "Operation not supported"));
  CHECK(fs::is_fifo(folder / "pipe"));
  CHECK(files_in(folder) == 1);
}

TEST_CASE("write_file: a link stays a link") {
  const Scratch folder;
  write_file(folder / "target.vh", "old");
  fs::create_symlink("target.vh", folder / "link.vh");
  write_file(folder / "link.vh", "new");
  CHECK(fs::is_symlink(folder / "link.vh"));
  CHECK(tests::read(folder / "target.vh") == "new");
}
