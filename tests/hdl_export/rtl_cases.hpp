#pragma once
#include "rtl_vectors.hpp"

// The operations and units whose RTL is tested, with their vectors.
namespace tests {

std::vector<Dut> small_duts();         // on all operands there are
std::vector<Dut> small_system_duts();  // the same of other systems than floats
std::vector<Dut> wide_system_duts(int count);
std::vector<Dut> system_unit_duts(int count);
std::vector<Dut> wide_duts(int count);        // on so many aimed ones, and named codes squared
std::vector<Dut> unit_duts(int count);        // blocks of units
std::vector<Dut> all_duts(int count);         // the latter two
std::vector<Dut> preset_duts(int count);      // a block, or a dot product, of every preset
std::vector<Dut> multiplier_duts(int count);  // with multipliers that are not exact

// Of those whose million vectors are wanted.
inline constexpr std::size_t named_units = 11;
Dut named_unit_dut(std::size_t which, int count, Random& random);

// Small formats whose triples are too many for every run.
std::vector<Dut> fma_duts(int count);
inline constexpr const char* small_fma_formats[] = {"e4m3fn", "e5m2", "e4m3fnuz"};
const std::vector<std::string>& wide_operations();

// Units that nobody thought of, those apart that are refused.
std::vector<Dut> random_duts(std::uint64_t seed, std::size_t units, int count);

// So many of its vectors, or few more, from all over.
Dut thinned(Dut d, std::size_t count);

}  // namespace tests
