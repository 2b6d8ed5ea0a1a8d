#include <fmt/core.h>

#include <boost/version.hpp>

#include "bind.hpp"

namespace {

py::dict build_info() {
  py::dict info;
  info["version"] = WIDTHWISE_VERSION;
  info["compiler"] = WIDTHWISE_COMPILER;
  info["build"] = WIDTHWISE_BUILD;
  info["architecture"] = WIDTHWISE_ARCHITECTURE;
  info["fmt"] =
      fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
  info["boost"] = BOOST_LIB_VERSION;
  info["pybind11"] = fmt::format("{}.{}.{}", PYBIND11_VERSION_MAJOR, PYBIND11_VERSION_MINOR,
                                 PYBIND11_VERSION_MICRO);
  return info;
}

}  // namespace

void bind_info(py::module_& m) { m.def("build_info", &build_info); }
