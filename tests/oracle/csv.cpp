#include "csv.hpp"

#include <fstream>
#include <stdexcept>

namespace oracle {
namespace {

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      all.emplace_back();
    else if (c != '\r')
      all.back() += c;
  }
  return all;
}

std::size_t digits(int width) { return static_cast<std::size_t>(width + 3) / 4; }

}  // namespace

std::vector<Row> read_csv(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) throw std::runtime_error(path + ": cannot be read, or is empty");
  const std::vector<std::string> names = fields(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> values = fields(line);
    if (values.size() != names.size())
      throw std::runtime_error(path + ": line " + std::to_string(rows.size() + 2) + " has " +
                               std::to_string(values.size()) + " fields, the header " +
                               std::to_string(names.size()));
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i) row[names[i]] = values[i];
  }
  return rows;
}

std::vector<std::uint64_t> codes(const std::string& hex, int width) {
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < hex.size(); i += digits(width))
    all.push_back(std::stoull(hex.substr(i, digits(width)), nullptr, 16));
  return all;
}

std::string hexadecimal(std::uint64_t code, int width) {
  std::string text(digits(width), '0');
  for (std::size_t i = text.size(); i-- > 0; code >>= 4) text[i] = "0123456789abcdef"[code & 15];
  return text;
}

}  // namespace oracle
