#pragma once
#include <functional>
#include <span>

#include "rtl_vectors.hpp"
#include "turns.hpp"

// The operations and units whose RTL is tested, with their vectors.
namespace tests {

std::vector<Dut> small_duts();         // on all operands there are
std::vector<Dut> small_system_duts();  // the same of other systems than floats
std::vector<Dut> wide_system_duts(int count);
std::vector<Dut> system_unit_duts(int count);
std::vector<Dut> clocked_system_duts(int count);  // registers, and running sums
std::vector<Dut> wide_duts(int count);            // on so many aimed ones, and named codes squared
std::vector<Dut> unit_duts(int count);            // blocks of units
std::vector<Dut> all_duts(int count);             // the latter two
std::vector<Dut> preset_duts(int count);          // a block, or a dot product, of every preset
std::vector<Dut> multiplier_duts(int count);      // with multipliers that are not exact

// Of those whose million vectors are wanted.
inline constexpr std::size_t named_units = 11;
Dut named_unit_dut(std::size_t which, int count, Random& random);

// Small formats whose triples are too many for every run.
std::vector<Dut> fma_duts(int count);
inline constexpr const char* small_fma_formats[] = {"e4m3fn", "e5m2", "e4m3fnuz"};
const std::vector<std::string>& wide_operations();

// Units that nobody thought of, those apart that are refused; each turned into another if need be.
using Turn = std::function<void(widthwise::Unit&, Random&)>;
std::vector<Dut> random_duts(std::uint64_t seed, std::size_t units, int count,
                             const Turn& turn = {});
void turn_to_other_systems(widthwise::Unit& u, Random& random);

// With a register behind every stage.
Dut pipelined(const std::string& name, TestedOperation op, std::size_t count, Random& random);
Dut pipelined(const std::string& name, const widthwise::Unit& unit,
              widthwise::hdl::RtlOptions options, int count, Random& random);

struct Change {
  std::string file, from, to;
};
// Each change alone makes the vectors fail.
void check_caught(const Dut& right, std::span<const Change> changes);

// So many of its vectors, or few more, from all over.
Dut thinned(Dut d, std::size_t count);

}  // namespace tests
