#include "tools.hpp"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "turns.hpp"

namespace tests {

Scratch::Scratch() {
  std::string name = (std::filesystem::temp_directory_path() / "widthwise-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make the folder " + name);
  folder_ = name;
}

Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Ran run(const std::filesystem::path& folder, const std::string& command) {
  const std::string line = "cd '" + folder.string() + "' && { " + command + "; } 2>&1";
  FILE* pipe = popen(line.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string output;
  for (int c; (c = std::fgetc(pipe)) != EOF;) output += static_cast<char>(c);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

bool have(const std::string& program) {
  if (run(".", "command -v " + program).status == 0) return true;
  std::printf("SKIPPED: %s was not found\n", program.c_str());
  return false;
}

bool long_run() {
  if (is_long()) return true;
  std::printf("SKIPPED: --long was not given\n");
  return false;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace tests
