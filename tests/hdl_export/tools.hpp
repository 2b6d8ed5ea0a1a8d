#pragma once
#include <filesystem>
#include <string>

// What the tests need of the machine around them.
namespace tests {

// An empty folder, gone with the object.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  const std::filesystem::path& path() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

struct Ran {
  int status;
  std::string output;  // what went to stdout and stderr
};

// A shell command, run inside a folder.
Ran run(const std::filesystem::path& folder, const std::string& command);

// Whether a program is there; if not, says that the test is skipped.
bool have(const std::string& program);

// Whether this run is to take its time; if not, says that the test is skipped.
bool long_run();

std::string read(const std::filesystem::path& path);
void write(const std::filesystem::path& path, const std::string& text);

}  // namespace tests
