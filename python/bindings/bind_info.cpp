#include <fmt/core.h>

#include <boost/version.hpp>

#include "bind.hpp"
#include "widthwise/sim/engine.hpp"
#ifdef WIDTHWISE_CUDA
#include "widthwise/cuda/gpu.hpp"
#endif

using namespace widthwise;

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

void bind_info(py::module_& m) {
  m.def("build_info", &build_info);
  // (engine, why it cannot be used here).
  m.def("unusable_engines", &unusable_engines);
#ifdef WIDTHWISE_CUDA
  cuda::offer_engine();
  m.def("gpus", [] {
    const cuda::Gpus& found = cuda::gpus();
    return found.why_none.empty() ? found.names : std::vector<std::string>();
  });
#else
  add_engines([] {
    const char* why = "this build has no CUDA engine, as there was no nvcc";
    return std::vector<Engine>{{"cuda", true, false, {}, {}, why}};
  });
  m.def("gpus", [] { return std::vector<std::string>(); });
#endif
}
