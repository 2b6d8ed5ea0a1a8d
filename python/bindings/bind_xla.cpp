#include "bind.hpp"
#include "xla_handlers.hpp"

using namespace widthwise;

namespace {

PyObject* functions = nullptr;  // Python's dict of those that XLA may call, never given back

// A buffer's bytes where they lie, and its shape.
py::tuple seen(const XlaBuffer& x) {
  const auto bytes = static_cast<py::ssize_t>(x.bytes);
  const py::capsule nobody(x.data != nullptr ? x.data : &functions, [](void*) {});
  return py::make_tuple(
      py::array_t<std::uint8_t>(bytes, static_cast<const std::uint8_t*>(x.data), nobody),
      py::tuple(py::cast(x.shape)));
}

std::string call(std::string_view name, std::span<const XlaBuffer> arguments,
                 const XlaBuffer& result) {
  const py::gil_scoped_acquire lock;
  try {
    py::list given;
    for (const XlaBuffer& x : arguments) given.append(seen(x));
    const py::handle known(functions);
    known[py::str(name.data(), name.size())](given, seen(result));
    return {};
  } catch (const std::exception& why) {
    return why.what();
  }
}

// A capsule a handler, as jax.ffi.register_ffi_target takes it; none where there were no headers.
py::dict handlers(const py::dict& of_names) {
  functions = of_names.inc_ref().ptr();
  py::dict found;
  for (const XlaHandler& handler : xla_handlers(&call))
    found[py::str(handler.name)] = py::capsule(handler.call);
  return found;
}

}  // namespace

void bind_xla(py::module_& m) { m.def("xla_handlers", &handlers); }
