#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Vector files, read without a line of the code that they judge.
namespace oracle {

using Row = std::map<std::string, std::string>;

// The rows of a file with a header line. Fields may stand in double quotes.
std::vector<Row> read_csv(const std::string& path);

// Concatenated hexadecimal codes, lane 0 first, each in as many digits as its width needs, as
// limbs of 64 bits: one a code.
std::vector<std::uint64_t> codes(const std::string& hex, int width);
std::string hexadecimal(std::uint64_t code, int width);

}  // namespace oracle
