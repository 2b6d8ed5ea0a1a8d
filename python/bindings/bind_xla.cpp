#include "bind.hpp"
#include "xla_handlers.hpp"

using namespace widthwise;

namespace {

// A capsule a handler, as jax.ffi.register_ffi_target takes it; none where there were no headers.
py::dict handlers() {
  py::dict found;
  for (const XlaHandler& handler : xla_handlers())
    found[py::str(handler.name)] = py::capsule(handler.call);
  return found;
}

}  // namespace

void bind_xla(py::module_& m) { m.def("xla_handlers", &handlers); }
