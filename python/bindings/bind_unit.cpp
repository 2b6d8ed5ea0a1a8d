#include "bind.hpp"
#include "widthwise/sim/presets.hpp"
#include "widthwise/sim/unit_text.hpp"
#include "widthwise/sim/widths.hpp"

using namespace widthwise;

namespace {

py::tuple range(const ExponentRange& r) { return py::make_tuple(r.min, r.max); }

void add_sum(py::dict& d, const std::string& name, const SumWidths& s) {
  const auto set = [&](const char* key, const auto& value) {
    d[py::str(name + "." + key)] = value;
  };
  set("terms", s.terms);
  set("fraction", s.fraction);
  set("magnitude", s.magnitude);
  set("carry", s.carry());
  set("needed", s.needed);
  set("width", s.width);
  set("can_overflow", s.can_overflow());
  set("exponent", range(s.exponent));
}

py::dict widths(const Unit& u, std::int64_t k) {
  const Widths w = derive_widths(u, k);
  py::dict d;
  d["significand_a"] = w.significand_a;
  d["significand_b"] = w.significand_b;
  d["product_significand"] = w.product_significand;
  d["product_fraction"] = w.product_fraction;
  d["product_exponent"] = range(w.product_exponent);
  d["product_lsb"] = w.product_lsb;
  d["products"] = w.products;
  add_sum(d, "group_sum", w.group_sum);
  if (w.block_sum) add_sum(d, "block_sum", *w.block_sum);
  if (w.c_sum) add_sum(d, "c_sum", *w.c_sum);
  if (w.compensation_sum) add_sum(d, "compensation_sum", *w.compensation_sum);
  if (w.promote_sum) add_sum(d, "promote_sum", *w.promote_sum);
  if (w.last_sum) add_sum(d, "last_sum", *w.last_sum);
  d["exponent"] = range(w.exponent);
  d["exponent_width"] = w.exponent.width();
  d["accumulator_width"] = w.accumulator().width;
  return d;
}

py::list preset_list() {
  py::list list;
  for (const Preset& p : presets())
    list.append(py::make_tuple(std::string(p.name), p.unit, std::string(to_string(p.evidence)),
                               std::string(p.source)));
  return list;
}

py::dict renamed_list() {
  py::dict names;
  for (const RenamedPreset& r : renamed_presets())
    names[py::str(std::string(r.old_name))] = std::string(r.name);
  return names;
}

// Equal units have equal ones; most others differ. Of a text it would take a thousand times as
// long.
std::size_t hash(const Unit& u) {
  std::size_t h = 0;
  const auto mix = [&](std::int64_t x) {
    h = (h ^ static_cast<std::size_t>(x)) * 0x9e3779b97f4a7c15;
  };
  for (const Format& f :
       {u.a.fmt, u.b.fmt, u.c.fmt, u.out.fmt, u.product.round ? u.product.round->fmt : u.out.fmt})
    mix(f.exp_bits), mix(f.frac_bits), mix(f.bias);
  mix(u.lanes), mix(u.out.rm.random_bits), mix(static_cast<int>(u.out.rm.mode));
  mix(u.group_sum.align.frac_bits), mix(u.product.round.has_value());
  return h;
}

}  // namespace

void bind_unit(py::module_& m) {
  py::class_<Unit>(m, "Unit")
      .def(py::init([](const std::string& text) { return parse_unit(text); }))
      .def_static("from_toml", [](const std::string& text) { return unit_from_toml(text); })
      .def("to_toml", [](const Unit& u, const std::string& name) { return to_toml(u, name); })
      .def("__str__", [](const Unit& u) { return to_string(u); })
      .def("__eq__", [](const Unit& u, const Unit& v) { return u == v; })
      .def("__hash__", &hash)
      .def_property_readonly("a", [](const Unit& u) { return u.a.fmt; })
      .def_property_readonly("b", [](const Unit& u) { return u.b.fmt; })
      .def_property_readonly("c", [](const Unit& u) { return u.c.fmt; })
      .def_property_readonly("result", [](const Unit& u) { return result_round(u).fmt; })
      .def_property_readonly("a_keeps", [](const Unit& u) { return u.a.keep_frac; })
      .def_property_readonly("b_keeps", [](const Unit& u) { return u.b.keep_frac; })
      .def_property_readonly("c_keeps", [](const Unit& u) { return u.c.keep_frac; })
      .def_readonly("lanes", &Unit::lanes)
      .def_property_readonly("scale",
                             [](const Unit& u) -> py::object {
                               if (!u.scale) return py::none();
                               return py::make_tuple(u.scale->fmt, u.scale->block);
                             })
      .def("widths", &widths);
  m.def("presets", &preset_list);
  m.def("renamed_presets", &renamed_list);
  m.attr("longest_dot") = longest_dot;
}
