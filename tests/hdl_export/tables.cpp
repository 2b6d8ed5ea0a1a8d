#include "tables.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "widthwise/hdl/design.hpp"

namespace tests {
namespace {

template <class T>
T value(const ConstantTable& table, std::string_view name) {
  const Constant* found = find(table, name);
  const T* held = found ? std::get_if<T>(&found->value) : nullptr;
  INFO(name);
  CHECK_MESSAGE(held != nullptr, "no constant of this name and kind");
  return held ? *held : T{};
}

}  // namespace

const std::vector<std::string>& units() {
  static const std::vector<std::string> all{
      "mac(e4m3fn)",
      "fma(e5m2, sum=e5m2)",
      "fma(bfloat16, sum=bfloat16)",
      "mac(binary16)",
      "fma(binary32, sum=binary32)",
      "mac(e6m9)",
      "fma(e8m15, sum=e8m15)",
      "fma(e15m112, sum=e15m112)",
      "mac(e20m49)",
      "fma(e31m3, sum=e31m3)",
      "fma(e62m1, sum=e62m1)",
      "mac(e62m4095)",
      "dot(e2m1fn, c=e8m23, lanes=4)",
      "mac(ue5m3)",
      "mac(e8m0fnu)",
      "fma(binary8p1uf, sum=binary8p1uf)",
      "mac(e5m10;sub=no;nan=none;inf=no;overflow=max)",
      "mac(e5m10, sum=e8m13:sr8:half)",
      "tree(e4m3fn, fan=4, product=e5m7:rtz, node=e5m10, sum=e8m13:raz)",
      "hopper.e4m3.f32",
      "hopper.f16.f32",
      "hopper.e4m3.promote128",
      "blackwell.mxfp8",
      "blackwell.nvfp4",
      "lowered.e4m3.f32",
      "cdna2.f16",
      "cdna3.fp8",
      "mac.bf16.f32.bf16",
      "kulisch.f32",
      "fix24.sat",
  };
  return all;
}

const std::vector<std::string>& operations() {
  static const std::vector<std::string> all{
      "add(e4m3fn)",
      "multiply(e5m2, b=e4m3fn, out=e5m10:rtz, tininess=before)",
      "fma(bfloat16, c=binary32, out=binary32)",
      "divide(binary16)",
      "sqrt(binary32, out=binary32:raz)",
      "convert(binary32, out=e4m3fn;overflow=max:sr8:half)",
      "add(e6m9)",
      "multiply(e5m2, b=e4m3fn, nan=x86)",
      "fma(e8m15;daz;ftz)",
      "multiply(e15m112)",
      "add(e20m49)",
      "multiply(e62m1)",
      "add(e62m4095)",
      "minimum_number(binary8p3sf)",
      "negate(ue5m3)",
      "round_to_integral(e2m1fn)",
  };
  return all;
}

std::vector<std::string> designs() {
  std::vector<std::string> all = units();
  all.insert(all.end(), operations().begin(), operations().end());
  return all;
}

ConstantTable table_of(const std::string& design) {
  return widthwise::hdl::design_constants(widthwise::parse_design(design), "mac_unit");
}

const Constant* find(const ConstantTable& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Constant::name);
  return found == table.end() ? nullptr : &*found;
}

std::int64_t integer(const ConstantTable& table, std::string_view name) {
  return value<std::int64_t>(table, name);
}

bool flag(const ConstantTable& table, std::string_view name) { return value<bool>(table, name); }

Code code(const ConstantTable& table, std::string_view name) {
  const auto pattern = value<widthwise::hdl::Pattern>(table, name);
  CHECK(pattern.limbs.size() == static_cast<std::size_t>(pattern.width + 63) / 64);
  Code code;
  std::ranges::copy(pattern.limbs, code.limb);
  return code;
}

std::string text(const ConstantTable& table, std::string_view name) {
  return value<std::string>(table, name);
}

}  // namespace tests
