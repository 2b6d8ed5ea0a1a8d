#include "bind.hpp"
#include "codes.hpp"
#include "widthwise/sim/said.hpp"
#include "widthwise/sim/tables.hpp"
#include "widthwise/sim/text.hpp"
#include "widthwise/sim/values.hpp"

using namespace widthwise;

namespace {

py::dict codes_by_name(const Format& f) {
  py::dict codes;
  for (const NamedCode which : named_codes)
    if (const auto code = find_code(f, which))
      codes[py::str(std::string(to_string(which)))] = to_int(*code);
  return codes;
}

py::list names() {
  py::list list;
  for (const NamedFormat& n : named_formats())
    list.append(py::make_tuple(std::string(n.name), n.format, std::string(n.source)));
  return list;
}

py::list tables() {
  py::list list;
  for (const ShippedTable& t : shipped_tables())
    list.append(py::make_tuple(find_table(t.name), std::string(t.source)));
  return list;
}

std::string text_of(const char* name, const char* example, const py::object& given) {
  if (py::isinstance<py::str>(given)) return py::cast<std::string>(given);
  throw py::type_error(std::string(name) + " = " + std::string(py::repr(given)) +
                       ": a text is wanted, as '" + example + "'");
}

Env make_env(const py::object& rounding, const py::object& tininess, const py::object& nan) {
  return {parse_rounding(text_of("rounding", "rne", rounding)),
          parse_tininess(text_of("tininess", "after", tininess)),
          parse_nan_result(text_of("nan", "canonical", nan))};
}

}  // namespace

void bind_format(py::module_& m) {
  py::class_<Format>(m, "Format")
      .def(py::init([](const std::string& text) { return parse_format(text); }))
      .def("__str__", [](const Format& f) { return to_string(f); })
      .def("__eq__", [](const Format& f, const Format& g) { return f == g; })
      .def_property_readonly("width", &Format::width)
      .def_property_readonly("system",
                             [](const Format& f) {
                               return f.is_float()   ? "float"
                                      : f.is_fixed() ? "fixed"
                                      : f.is_table() ? "table"
                                      : f.is_posit() ? "posit"
                                                     : "takum";
                             })
      .def_property_readonly("digits", &Format::digits)
      .def_property_readonly("least_digit", &Format::least_digit)
      .def_readonly("exp_bits", &Format::exp_bits)
      .def_readonly("frac_bits", &Format::frac_bits)
      .def_readonly("bias", &Format::bias)
      .def_property_readonly("is_signed", &Format::is_signed)
      .def_readonly("subnormals", &Format::subnormals)
      .def_readonly("zero", &Format::zero)
      .def_readonly("daz", &Format::daz)
      .def_readonly("ftz", &Format::ftz)
      .def_property_readonly("overflow", &overflow_text)
      .def_property_readonly("precision", &Format::precision)
      .def_property_readonly("emin", &Format::emin)
      .def_property_readonly("emax", &Format::emax)
      .def_property_readonly("has_inf", &Format::has_inf)
      .def_property_readonly("has_nan", &Format::has_nan)
      .def_property_readonly("limbs", &limbs)
      .def_property_readonly("item_bytes", [](const Format& f) { return item_bytes(f.width()); })
      .def_property_readonly("codes", codes_by_name);
  py::class_<Env>(m, "Env")
      .def(py::init(&make_env), py::arg("rounding") = "rne", py::arg("tininess") = "after",
           py::arg("nan") = "canonical")
      .def_property_readonly("random_bits", [](const Env& env) { return env.rounding.random_bits; })
      .def_property_readonly("stochastic",
                             [](const Env& env) { return env.rounding.stochastic(); });
  m.def("named_formats", &names);
  m.def("shipped_tables", &tables);
  m.def("table_of", [](const std::string& name, const std::vector<double>& values) {
    return table_of(name, values);
  });
  m.def("table_name", &table_name);
  m.def("table_values", [](const Format& f) {
    const auto values = table_values(f);
    return std::vector<double>(values.begin(), values.end());
  });
  m.def("said", [](std::string_view text) { return said(text); });
  m.attr("precision_limit") = max_precision;
}
