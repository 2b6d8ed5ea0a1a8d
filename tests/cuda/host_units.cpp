#include "cuda/kernels/text_multiplier.hpp"
#include "cuda/kernels/unit_outputs.hpp"
#include "cuda/kernels/unit_running.hpp"
#include "cuda/kernels/unit_trace.hpp"
#include "host_kernels.hpp"

namespace tests {
namespace {

using namespace widthwise;

template <class Multiply>
using Supplied = SuppliedMultiplier<uint128, Multiply>;
template <class Multiply>
using SuppliedWide = SuppliedMultiplier<Wide<12>, Multiply>;

template <class Small, class Medium>
void add_units(const std::string& multiplier, Kernels& all) {
  all["unit_small" + multiplier] = each_thread<cuda::UnitOutputs<uint128, std::uint64_t, Small>>();
  all["unit_medium" + multiplier] = each_thread<cuda::UnitOutputs<Wide<12>, uint128, Medium>>();
}

template <class M, class H>
void add_running(const std::string& size, Kernels& all) {
  all["running_" + size] = each_thread<cuda::UnitRunning<M, H>>();
}

template <class M, class H, class Multiplier = ExactMultiplier<M>>
void add_traces(const std::string& name, Kernels& all) {
  all["trace_" + name] = each_thread<cuda::LaunchArgument<cuda::UnitTrace<M, H, Multiplier>>>();
}
}  // namespace

void add_unit_kernels(Kernels& all) {
  add_units<ExactMultiplier<uint128>, ExactMultiplier<Wide<12>>>("", all);
  add_units<Supplied<NamedMultiplier>, SuppliedWide<NamedMultiplier>>("_named", all);
  add_units<Supplied<cuda::TextMultiplier>, SuppliedWide<cuda::TextMultiplier>>("_text", all);
  add_running<uint128, std::uint64_t>("small", all);
  add_running<Wide<12>, uint128>("medium", all);
  add_traces<uint128, std::uint64_t>("small", all);
  add_traces<Wide<12>, uint128>("medium", all);
  add_traces<Wide<12>, uint128, SuppliedWide<NamedMultiplier>>("medium_named", all);
  add_traces<Wide<12>, uint128, SuppliedWide<cuda::TextMultiplier>>("medium_text", all);
  add_traces<Wide<12>, Wide<12>>("large", all);
}

}  // namespace tests

void widthwise_product(std::uint64_t ma, std::uint64_t mb, widthwise::uint128* mp) {
  tests::host_device().linked(ma, mb, mp);
}
