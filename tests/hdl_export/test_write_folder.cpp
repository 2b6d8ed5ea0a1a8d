#include <doctest/doctest.h>

#include <set>
#include <stdexcept>

#include "tools.hpp"
#include "widthwise/hdl/export.hpp"

namespace fs = std::filesystem;
using namespace tests;
using widthwise::hdl::File;
using widthwise::hdl::write_folder;

namespace {

const std::vector<File> two_files{{"a.vh", "A\n"}, {"b.h", "B\n"}};

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

const std::set<std::string> all_three{"a.vh", "b.h", "widthwise_export.txt"};

}  // namespace

TEST_CASE("write_folder: the folder holds the files and their list, and nothing is beside it") {
  const Scratch scratch;
  for (int again = 0; again < 2; ++again) {
    write_folder(scratch / "deep" / "hw", "mac(e5m10)", two_files);
    CHECK(names_in(scratch / "deep" / "hw") == all_three);
    CHECK(names_in(scratch / "deep") == std::set<std::string>{"hw"});
  }
  CHECK(read(scratch / "deep" / "hw" / "b.h") == "B\n");
  CHECK(read(scratch / "deep" / "hw" / "widthwise_export.txt") ==
        "Widthwise export of mac(e5m10)\na.vh\nb.h\n");
}

TEST_CASE("write_folder: a later export takes the place of an earlier one, whole") {
  const Scratch scratch;
  write_folder(scratch / "hw", "mac(e5m10)", two_files);
  write_folder((scratch / "hw").string() + "/", "mac(e5m2)", std::vector<File>{{"c.vh", "C\n"}});
  CHECK(names_in(scratch / "hw") == std::set<std::string>{"c.vh", "widthwise_export.txt"});
  fs::create_directory(scratch / "empty");
  write_folder(scratch / "empty", "mac(e5m10)", two_files);
  CHECK(names_in(scratch / "empty") == all_three);
}

TEST_CASE("write_folder: a folder with a file of somebody else's is left alone") {
  const Scratch scratch;
  write_folder(scratch / "hw", "mac(e5m10)", two_files);
  write(scratch / "hw" / "notes.txt", "mine");
  write(scratch / "hw" / "a.vh", "changed");
  const std::string error =
      "directory = " + (scratch / "hw").string() +
      ": it holds notes.txt, which no export has written; name another folder, or empty this one "
      "(`make clean` takes away what its Makefile has made)";
  CHECK_THROWS_WITH_AS(write_folder(scratch / "hw", "x", two_files), error.c_str(),
                       std::invalid_argument);
  CHECK(read(scratch / "hw" / "notes.txt") == "mine");
  CHECK(read(scratch / "hw" / "a.vh") == "changed");
  fs::create_directory(scratch / "other");
  write(scratch / "other" / "a.vh", "theirs");
  CHECK_THROWS_WITH_AS(write_folder(scratch / "other", "x", two_files),
                       doctest::Contains("it holds a.vh, which no export"), std::invalid_argument);
  // A folder of a listed name is nobody's file.
  write_folder(scratch / "deep", "x", two_files);
  fs::remove(scratch / "deep" / "a.vh");
  fs::create_directory(scratch / "deep" / "a.vh");
  CHECK_THROWS_AS(write_folder(scratch / "deep", "x", two_files), std::invalid_argument);
  CHECK(names_in(scratch.path()) == std::set<std::string>{"deep", "hw", "other"});
}

TEST_CASE("write_folder: files may lie in folders of their own, which are theirs alone") {
  const Scratch scratch;
  const std::vector<File> deep{{"rtl/a.v", "A\n"}, {"b.h", "B\n"}};
  for (int again = 0; again < 2; ++again) write_folder(scratch / "hw", "x", deep);
  CHECK(read(scratch / "hw" / "rtl" / "a.v") == "A\n");
  write(scratch / "hw" / "rtl" / "mine.v", "mine");
  CHECK_THROWS_WITH_AS(write_folder(scratch / "hw", "x", deep),
                       doctest::Contains("it holds rtl/mine.v"), std::invalid_argument);
  fs::remove(scratch / "hw" / "rtl" / "mine.v");
  fs::create_directory(scratch / "hw" / "build");
  CHECK_THROWS_WITH_AS(write_folder(scratch / "hw", "x", deep), doctest::Contains("it holds build"),
                       std::invalid_argument);
}

TEST_CASE("write_folder: the current folder is not replaced under our feet") {
  CHECK_THROWS_WITH_AS(write_folder(".", "x", two_files), doctest::Contains("name a folder in it"),
                       std::invalid_argument);
}

TEST_CASE("write_folder: a place that cannot be written leaves nothing") {
  const Scratch scratch;
  write(scratch / "file", "text");
  CHECK_THROWS_AS(write_folder(scratch / "file", "x", two_files), std::system_error);
  CHECK_THROWS_AS(write_folder(scratch / "file" / "hw", "x", two_files), std::system_error);
  CHECK_THROWS_AS(write_folder(scratch / "hw", "x", std::vector<File>{{"a", ""}, {"a/b", ""}}),
                  std::system_error);
  CHECK(names_in(scratch.path()) == std::set<std::string>{"file"});
}

TEST_CASE("names that some language does not take are refused before anything is written") {
  using widthwise::hdl::check_export_name;
  CHECK_NOTHROW(check_export_name("mac_unit2"));
  struct Bad {
    const char *name, *reason;
  };
  for (const Bad& bad : {Bad{"a$b", "it has a $"}, Bad{"_a", "it begins with _"},
                         Bad{"a_", "it ends in _"}, Bad{"a__b", "it has two _ in a row"}}) {
    const std::string error =
        std::string("unit name '") + bad.name + "' is no VHDL identifier: " + bad.reason +
        "; take a letter, then letters, digits and single _ between them, as mac_unit";
    CHECK_THROWS_WITH_AS(check_export_name(bad.name), error.c_str(), std::invalid_argument);
  }
  const Scratch scratch;
  const widthwise::Design design = widthwise::parse_design("add(e4m3fn)");
  for (const char* name : {"module", "a__b", "3x", ""})
    CHECK_THROWS_AS(widthwise::hdl::export_design(design, name, scratch / "hw"),
                    std::invalid_argument);
  CHECK(names_in(scratch.path()).empty());
}
