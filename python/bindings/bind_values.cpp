#include "codes.hpp"
#include "slices.hpp"
#include "widthwise/sim/values.hpp"

using namespace widthwise;

namespace {

constexpr std::size_t text_slice = 256;  // literals and decimal texts take microseconds each

// f(code) for every code of an array, as a list.
template <class F>
py::list for_codes(const Format& f, const py::array& codes, const F& make) {
  const std::size_t count = code_count(f, codes),
                    bytes = static_cast<std::size_t>(item_bytes(f.width()));
  const auto* at = static_cast<const std::byte*>(codes.data());
  py::list list(count);
  for (std::size_t i = 0; i < count; ++i) {
    list[i] = make(at + i * bytes);
    if (i % text_slice == 0) obey_signals();
  }
  return list;
}

// (kind, negative, significand, exponent)
py::list values(const Format& f, const py::array& codes) {
  return for_codes(f, codes, [&](const std::byte* code) {
    const Value v = value_of(f, code);
    constexpr const char* kinds[] = {"zero", "finite", "infinite", "nan"};
    return py::make_tuple(kinds[static_cast<int>(v.kind)], v.negative, to_int(v.significand),
                          v.exponent);
  });
}

py::list shortest(const Format& f, const py::array& codes) {
  return for_codes(f, codes,
                   [&](const std::byte* code) { return py::str(shortest_decimal(f, code)); });
}

py::list hexadecimals(const Format& f, const py::array& codes) {
  return for_codes(f, codes,
                   [&](const std::byte* code) { return py::str(hexadecimal(value_of(f, code))); });
}

py::list decimals(const Format& f, const py::array& codes, int digits) {
  return for_codes(
      f, codes, [&](const std::byte* code) { return py::str(decimal(value_of(f, code), digits)); });
}

void round_literals(const Format& to, const Env& env, const std::vector<std::string>& texts,
                    py::array result, py::object flags, const py::object& random) {
  std::byte* at = place(to, result, texts.size());
  std::uint8_t* raised = flags_place(flags, texts.size());
  const RandomSource source = random_source(random, texts.size());
  const auto bytes = static_cast<std::size_t>(item_bytes(to.width()));
  in_slices(texts.size(), texts.size() == 1 ? 1 : text_slice,
            [&](std::size_t first, std::size_t count) {
              from_literals(to, env, std::span(texts).subspan(first, count), at + first * bytes,
                            raised ? raised + first : nullptr, source.from(first));
            });
}

}  // namespace

void bind_values(py::module_& m) {
  m.def("values", &values);
  m.def("shortest", &shortest);
  m.def("hexadecimal", &hexadecimals);
  m.def("decimal", &decimals);
  m.def("round_literals", &round_literals);
}
