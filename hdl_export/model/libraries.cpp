// What the simulator takes from fmt, toml++ and Highway, compiled into the golden model: a folder
// that is handed on works where none of them is installed. The linker leaves a library out whose
// symbols are here.
#include <fmt/format-inl.h>

#undef TOML_SHARED_LIB
#define TOML_IMPLEMENTATION
#include <hwy/targets.h>
#include <toml++/toml.h>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

// Templates of fmt that only its library has.
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl(locale_ref);
template char fmt::detail::decimal_point_impl(locale_ref);
template void fmt::detail::buffer<char>::append(const char*, const char*);

namespace hwy {
namespace {

#if HWY_ARCH_X86
// Instructions that no builtin of every compiler asks for.
bool converts_halves() {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && c >> 29 & 1;
}
bool counts_leading_zeros() {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && c >> 5 & 1;
}

// What Highway asks of a machine for each of its targets.
std::int64_t supported() {
  std::int64_t targets = HWY_ENABLED_BASELINE | HWY_EMU128 | HWY_SCALAR;
  const auto add = [&](std::int64_t target, bool has) {
    if (has) targets |= target;
    return has;
  };
  __builtin_cpu_init();
  if (!add(HWY_SSE4, __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") &&
                         __builtin_cpu_supports("pclmul")))
    return targets;
  if (!add(HWY_AVX2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                         converts_halves() && counts_leading_zeros()))
    return targets;
  add(HWY_AVX3, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd"));
  return targets;
}
#else
std::int64_t supported() { return HWY_ENABLED_BASELINE; }
#endif

}  // namespace

std::int64_t SupportedTargets() {
  static const std::int64_t targets = supported();
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
