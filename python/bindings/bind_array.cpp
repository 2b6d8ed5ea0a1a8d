#include "codes.hpp"
#include "slices.hpp"
#include "trace_rows.hpp"
#include "widthwise/sim/operation_text.hpp"
#include "widthwise/sim/rounded_values.hpp"
#include "widthwise/sim/trace_operation.hpp"

using namespace widthwise;

namespace {

std::vector<CodeArray> code_arrays(const CodedOperands& operands) {
  std::vector<CodeArray> arrays;
  for (const auto& [f, codes] : operands) arrays.push_back(code_array(f, codes));
  return arrays;
}

CodeArray from(const CodeArray& a, std::size_t first) {
  return {a.format, static_cast<const std::byte*>(a.data) +
                        first * static_cast<std::size_t>(item_bytes(a.format.width()))};
}

std::uint8_t* from(std::uint8_t* flags, std::size_t first) {
  return flags ? flags + first : nullptr;
}

IntegerType integer_type(int width, bool is_signed) { return {width, is_signed}; }

void compute(const std::string& op, const Format& to, const Env& env, const CodedOperands& operands,
             py::array result, py::object flags, const py::object& random) {
  const auto arrays = code_arrays(operands);
  const std::size_t count = code_count(to, result),
                    bytes = static_cast<std::size_t>(item_bytes(to.width()));
  std::byte* at = place(to, result, count);
  std::uint8_t* raised = flags_place(flags, count);
  const RandomSource source = random_source(random, count);
  std::vector<Format> formats;
  for (const CodeArray& a : arrays) formats.push_back(a.format);
  const Elementwise operation(parse_operation(op), to, env, formats, raised != nullptr, count);
  in_slices(count, operation.quick() ? quick_slice : element_slice,
            [&](std::size_t first, std::size_t n) {
              std::vector<const void*> part;
              for (const CodeArray& a : arrays) part.push_back(from(a, first).data);
              operation.run(part, n, at + first * bytes, from(raised, first), source.from(first));
            });
}

// Rounds floats to codes of a format until some are met that it has not; whether there were none.
bool round_held(const Format& own, const py::array& x, const Format& to, const Env& env,
                py::array result, const py::object& random) {
  const CodeArray numbers = code_array(own, x);
  const std::size_t count = code_count(to, result),
                    bytes = static_cast<std::size_t>(item_bytes(to.width()));
  std::byte* at = place(to, result, count);
  const RandomSource source = random_source(random, count);
  const Elementwise operation(Operation::convert, to, env, std::span(&own, 1), false, count);
  bool held = true;
  in_slices(count, operation.quick() ? looking_slice : element_slice,
            [&](std::size_t first, std::size_t n) {
              if (!held) return;
              const void* some = from(numbers, first).data;
              operation.run(std::span(&some, 1), n, at + first * bytes, nullptr,
                            source.from(first));
              held = unheld(own, to, some, n) == Unheld::nothing;
            });
  return held;
}

using Powers = py::array_t<std::int64_t, py::array::c_style>;
void scale(const Format& to, const Env& env, const Format& f, const py::array& a, const Powers& n,
           py::array result, py::object flags, const py::object& random) {
  const CodeArray codes = code_array(f, a);
  const auto count = static_cast<std::size_t>(n.size()),
             bytes = static_cast<std::size_t>(item_bytes(to.width()));
  std::byte* at = place(to, result, count);
  std::uint8_t* raised = flags_place(flags, count);
  const RandomSource source = random_source(random, count);
  in_slices(count, element_slice, [&](std::size_t first, std::size_t part) {
    scaleb(to, env, from(codes, first), n.data() + first, part, at + first * bytes,
           from(raised, first), source.from(first));
  });
}

using Truths = py::array_t<bool, py::array::c_style>;
void compare_codes(const std::string& how, const Format& fa, const py::array& a, const Format& fb,
                   const py::array& b, Truths result, py::object flags) {
  const Comparison what = parse_comparison(how);
  const CodeArray x = code_array(fa, a), y = code_array(fb, b);
  const std::size_t count = code_count(fa, a);
  auto* at = reinterpret_cast<std::uint8_t*>(result.mutable_data());
  std::uint8_t* raised = flags_place(flags, count);
  in_slices(count, element_slice, [&](std::size_t first, std::size_t n) {
    compare(what, from(x, first), from(y, first), n, at + first, from(raised, first));
  });
}

using Words = py::array_t<std::uint64_t, py::array::c_style>;
void integers_of(int width, bool is_signed, const std::string& invalid, const Env& env,
                 const Format& f, const py::array& a, Words result, py::object flags,
                 const py::object& random) {
  const IntegerType type{width, is_signed, parse_invalid_integer(invalid)};
  const CodeArray codes = code_array(f, a);
  const std::size_t count = code_count(f, a);
  std::uint64_t* at = result.mutable_data();
  std::uint8_t* raised = flags_place(flags, count);
  const RandomSource source = random_source(random, count);
  in_slices(count, element_slice, [&](std::size_t first, std::size_t n) {
    to_integers(type, env, from(codes, first), n, at + first, from(raised, first),
                source.from(first));
  });
}

void codes_of_integers(int width, bool is_signed, const Format& to, const Env& env, const Words& a,
                       py::array result, py::object flags, const py::object& random) {
  const auto count = static_cast<std::size_t>(a.size()),
             bytes = static_cast<std::size_t>(item_bytes(to.width()));
  std::byte* at = place(to, result, count);
  std::uint8_t* raised = flags_place(flags, count);
  const RandomSource source = random_source(random, count);
  in_slices(count, element_slice, [&](std::size_t first, std::size_t n) {
    from_integers(integer_type(width, is_signed), to, env, a.data() + first, n, at + first * bytes,
                  from(raised, first), source.from(first));
  });
}

py::array_t<std::uint8_t> classes(const Format& f, const py::array& a) {
  const CodeArray codes = code_array(f, a);
  py::array_t<std::uint8_t> result(static_cast<py::ssize_t>(code_count(f, a)));
  std::uint8_t* at = result.mutable_data();
  in_slices(code_count(f, a), element_slice,
            [&](std::size_t first, std::size_t n) { classify(from(codes, first), n, at + first); });
  return result;
}

py::list class_names() {
  py::list names;
  for (int i = 0; i <= static_cast<int>(NumberClass::positive_infinity); ++i)
    names.append(std::string(to_string(static_cast<NumberClass>(i))));
  return names;
}

// The first element whose code has a bit past the format's width, or -1.
py::ssize_t first_stray(const Format& f, const py::array& a) {
  const std::size_t count = code_count(f, a);
  const int bytes = item_bytes(f.width()), last = bytes > 8 ? 8 : bytes;
  const int spare = 8 * bytes - f.width();
  if (spare == 0) return -1;
  const auto* at = static_cast<const std::byte*>(a.data()) + (bytes - last);
  for (std::size_t i = 0; i < count; ++i, at += bytes)
    if (load_code<std::uint64_t>(at, last) >> (8 * last - spare))
      return static_cast<py::ssize_t>(i);
  return -1;
}

py::list trace(const std::string& op, const Format& to, const Env& env,
               const CodedOperands& operands, const py::object& random) {
  return trace_rows(trace_operation(parse_operation(op), to, env, code_arrays(operands),
                                    random_source(random, 1)));
}

}  // namespace

void bind_array(py::module_& m) {
  m.def("elementwise", &compute);
  m.def("round_held", &round_held);
  m.def("scaleb", &scale);
  m.def("compare", &compare_codes);
  m.def("to_integers", &integers_of);
  m.def("from_integers", &codes_of_integers);
  m.def("classify", &classes);
  m.def("number_classes", &class_names);
  m.def("first_stray", &first_stray);
  m.def("trace_operation", &trace);
  m.def("arity", [](const std::string& op) { return arity(parse_operation(op)); });
  m.def("operation_name",
        [](const std::string& op) { return std::string(to_string(parse_operation(op))); });
}
