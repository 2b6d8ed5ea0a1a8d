#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
  const std::string list = read(scratch / "deep" / "hw" / "widthwise_export.txt");
  // FNV-1a of "A\n" and "B\n", as another program has them.
  CHECK(list == "Widthwise export of mac(e5m10)\n09089c07b5a14cd2  a.vh\n0912de07b5aa117d  b.h\n");
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

TEST_CASE("write_folder: files that no export has written stay, whatever they are") {
  const Scratch scratch;
  const std::vector<File> deep{{"rtl/a.v", "A\n"}, {"b.h", "B\n"}};
  write_folder(scratch / "hw", "x", deep);
  write(scratch / "hw" / "results.xml", "cocotb's");
  write(scratch / "hw" / "rtl" / "mine.v", "mine");
  fs::create_directories(scratch / "hw" / "build" / "empty");
  write(scratch / "hw" / "build" / "log", "long");
  fs::create_symlink("nowhere", scratch / "hw" / "link");
  for (const bool force : {false, true}) {
    CHECK(write_folder(scratch / "hw", "y", std::vector<File>{{"c.h", "C\n"}}, force).empty());
    CHECK(names_in(scratch / "hw") == std::set<std::string>{"build", "c.h", "link", "results.xml",
                                                            "rtl", "widthwise_export.txt"});
    CHECK(names_in(scratch / "hw" / "rtl") == std::set<std::string>{"mine.v"});
    CHECK(read(scratch / "hw" / "rtl" / "mine.v") == "mine");
    CHECK(read(scratch / "hw" / "build" / "log") == "long");
    CHECK(fs::is_directory(scratch / "hw" / "build" / "empty"));
    CHECK(fs::read_symlink(scratch / "hw" / "link") == "nowhere");
  }
}

TEST_CASE("write_folder: what was changed is kept and named, and written anew by force") {
  using Names = std::vector<std::string>;
  const Scratch scratch;
  const std::vector<File> later{{"a.vh", "A2\n"}, {"b.h", "B2\n"}, {"c.h", "C\n"}};
  write_folder(scratch / "hw", "x", two_files);
  write(scratch / "hw" / "a.vh", "changed");
  write(scratch / "hw" / "c.h", "mine, before there was one");
  for (int again = 0; again < 2; ++again) {
    CHECK(write_folder(scratch / "hw", "x", later) == Names{"a.vh", "c.h"});
    CHECK(read(scratch / "hw" / "a.vh") == "changed");
    CHECK(read(scratch / "hw" / "b.h") == "B2\n");
    CHECK(read(scratch / "hw" / "c.h") == "mine, before there was one");
  }
  // Of an export that has no such file any more, it is kept once, and then the user's own.
  CHECK(write_folder(scratch / "hw", "x", std::vector<File>{{"d.h", "D\n"}}) ==
        Names{"a.vh", "c.h"});
  CHECK(write_folder(scratch / "hw", "x", std::vector<File>{{"d.h", "D\n"}}).empty());
  CHECK(read(scratch / "hw" / "a.vh") == "changed");
  CHECK(write_folder(scratch / "hw", "x", later, true).empty());
  CHECK(read(scratch / "hw" / "a.vh") == "A2\n");
  CHECK(read(scratch / "hw" / "c.h") == "C\n");
  // What was taken away comes again, and what reads as it should is no change.
  fs::remove(scratch / "hw" / "a.vh");
  write(scratch / "hw" / "c.h", "C3\n");
  CHECK(write_folder(scratch / "hw", "x", std::vector<File>{{"a.vh", "A\n"}, {"c.h", "C3\n"}})
            .empty());
  CHECK(read(scratch / "hw" / "a.vh") == "A\n");
}

TEST_CASE("write_folder: a link in a file's place is a change, and is not followed") {
  const Scratch scratch;
  write(scratch / "own.v", "mine");
  write_folder(scratch / "hw", "x", two_files);
  fs::remove(scratch / "hw" / "a.vh");
  fs::create_symlink(scratch / "own.v", scratch / "hw" / "a.vh");
  CHECK(write_folder(scratch / "hw", "x", two_files) == std::vector<std::string>{"a.vh"});
  CHECK(fs::is_symlink(fs::symlink_status(scratch / "hw" / "a.vh")));
  CHECK(write_folder(scratch / "hw", "x", two_files, true).empty());
  CHECK(read(scratch / "hw" / "a.vh") == "A\n");
  CHECK(read(scratch / "own.v") == "mine");
}

TEST_CASE("write_folder: the line on area that `make yosys` writes is no change") {
  const Scratch scratch;
  const std::vector<File> readme{{"README.md", "# x\nArea: not known\nmore\n"}};
  write_folder(scratch / "hw", "x", readme);
  write(scratch / "hw" / "README.md", "# x\nArea: 12 LUT4\nmore\n");
  CHECK(write_folder(scratch / "hw", "x", readme).empty());
  CHECK(read(scratch / "hw" / "README.md") == readme[0].text);
  write(scratch / "hw" / "README.md", "# x\nArea: not known\nmore of it\n");
  CHECK(write_folder(scratch / "hw", "x", readme).size() == 1);
}

TEST_CASE("write_folder: a folder of somebody else's, and one without hashes, are left alone") {
  const Scratch scratch;
  fs::create_directory(scratch / "other");
  write(scratch / "other" / "a.vh", "theirs");
  for (const bool force : {false, true})
    CHECK_THROWS_WITH_AS(write_folder(scratch / "other", "x", two_files, force),
                         doctest::Contains("it holds a.vh, and no widthwise_export.txt"),
                         std::invalid_argument);
  CHECK(read(scratch / "other" / "a.vh") == "theirs");
  write(scratch / "other" / "widthwise_export.txt", "Widthwise export of x\na.vh\n");
  CHECK_THROWS_WITH_AS(write_folder(scratch / "other", "x", two_files),
                       doctest::Contains("has no hashes"), std::invalid_argument);
  CHECK(write_folder(scratch / "other", "x", two_files, true).empty());
  CHECK(names_in(scratch / "other") == all_three);
  // A folder of a listed name is nobody's file.
  fs::remove(scratch / "other" / "a.vh");
  fs::create_directory(scratch / "other" / "a.vh");
  CHECK_THROWS_WITH_AS(write_folder(scratch / "other", "x", two_files, true),
                       doctest::Contains("a file a.vh, which is a folder there"),
                       std::invalid_argument);
  CHECK(names_in(scratch.path()) == std::set<std::string>{"other"});
}

TEST_CASE("write_folder: what a killed program has left is found by the next call") {
  const Scratch scratch;
  write_folder(scratch / "hw", "x", two_files);
  write(scratch / "hw" / "mine", "mine");
  fs::rename(scratch / "hw", scratch / "hw.widthwise-old.part");  // between two renames
  write(scratch / "half", "");
  fs::create_directory(scratch / "hw.widthwise-new.part");
  fs::rename(scratch / "half", scratch / "hw.widthwise-new.part" / "a.vh");
  CHECK(write_folder(scratch / "hw", "x", two_files).empty());
  CHECK(read(scratch / "hw" / "mine") == "mine");
  CHECK(names_in(scratch.path()) == std::set<std::string>{"hw"});
}

TEST_CASE("write_folder: what a killed program has left survives what stands in its place since") {
  const Scratch scratch;
  write_folder(scratch / "hw", "x", two_files);
  write(scratch / "hw" / "mine", "mine");
  fs::rename(scratch / "hw", scratch / "hw.widthwise-old.part");
  fs::create_directory(scratch / "hw");
  write(scratch / "hw" / "other", "other");
  CHECK_THROWS_WITH_AS(write_folder(scratch / "hw", "x", two_files),
                       doctest::Contains("widthwise-old.part is what a stopped one left"),
                       std::invalid_argument);
  CHECK(read(scratch / "hw.widthwise-old.part" / "mine") == "mine");
  CHECK(read(scratch / "hw" / "other") == "other");
  fs::remove(scratch / "hw" / "other");
  write_folder(scratch / "hw", "x", two_files);
  CHECK(read(scratch / "hw" / "mine") == "mine");
  CHECK(names_in(scratch.path()) == std::set<std::string>{"hw"});
}

TEST_CASE("write_folder: one's own folders keep their permissions") {
  const Scratch scratch;
  write_folder(scratch / "hw", "x", two_files);
  fs::create_directory(scratch / "hw" / "private");
  fs::permissions(scratch / "hw" / "private", fs::perms::owner_all);
  write_folder(scratch / "hw", "x", two_files);
  CHECK(fs::status(scratch / "hw" / "private").permissions() == fs::perms::owner_all);
}

TEST_CASE("write_folder: killed at any moment, it leaves the old folder or the new one") {
  const Scratch scratch;
  const auto of = [](const std::string& text) {
    std::vector<File> files;
    for (int i = 0; i < 10; ++i) files.push_back({"rtl/" + std::to_string(i), text});
    return files;
  };
  write_folder(scratch / "hw", "x", of("0"));
  write(scratch / "hw" / "mine", "mine");
  int dead = 0;
  for (int i = 0; i < 60; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (char text = '1';; text = text == '9' ? '0' : static_cast<char>(text + 1))
        write_folder(scratch / "hw", "x", of({text}));
    }
    usleep(static_cast<useconds_t>(500 + 997 * i % 20000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    dead += WIFSIGNALED(status);
    const std::string text = read(scratch / "hw" / "rtl" / "0");
    for (int j = 0; j < 10; ++j) CHECK(read(scratch / "hw" / "rtl" / std::to_string(j)) == text);
    CHECK(read(scratch / "hw" / "mine") == "mine");
  }
  CHECK(dead == 60);
  CHECK(write_folder(scratch / "hw", "x", of("last")).empty());
  CHECK(read(scratch / "hw" / "rtl" / "9") == "last");
  CHECK(names_in(scratch.path()) == std::set<std::string>{"hw"});
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
  for (const char* name : {"mac", "my_round", "wwx", "yy", "unit_1", "Adder", "dut", "x"})
    CHECK_NOTHROW(check_export_name(name));
  // A port, modules, the golden model, and words of VHDL, C, C++, Python and of C's headers.
  for (const char* name :
       {"y",        "Y",        "clk",      "out_ready", "scale_a",         "scale",
        "ww_round", "ww_delay", "ww_mine",  "WW_Round",  "widthwise_model", "widthwise",
        "entity",   "Signal",   "typename", "co_await",  "inline",          "lambda",
        "None",     "yield",    "stdint",   "math",      "svdpi",           "fpnew"})
    CHECK_THROWS_WITH_AS(check_export_name(name), doctest::Contains("is taken: "),
                         std::invalid_argument);
  const Scratch scratch;
  const widthwise::Design design = widthwise::parse_design("add(e4m3fn)");
  for (const char* name : {"module", "a__b", "3x", ""})
    CHECK_THROWS_AS(widthwise::hdl::export_design(design, name, scratch / "hw"),
                    std::invalid_argument);
  CHECK(names_in(scratch.path()).empty());
}
