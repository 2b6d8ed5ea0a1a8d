#include <optional>
#include <system_error>

#include "bind.hpp"
#include "multiplier.hpp"
#include "widthwise/hdl/export.hpp"
#include "widthwise/hdl/write_file.hpp"

using namespace widthwise;

namespace {

// Python's OSError: its class tells a full disk from a missing folder.
void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::system_error& e) {
    const py::object error =
        py::module_::import("builtins").attr("OSError")(e.code().value(), e.what());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  }
}

}  // namespace

void bind_export(py::module_& m) {
  py::register_exception_translator(&translate);
  // What a text names, in its canonical form.
  m.def("design_text", [](const std::string& text) { return to_string(parse_design(text)); });
  m.def("design_text_of_unit", [](const Unit& u) { return to_string(Design(u)); });
  m.def("export_design",
        [](const std::string& text, const std::string& name, const std::string& folder,
           std::optional<bool> rtl, bool rounding_port, int lanes, const py::object& product,
           const hdl::RtlPipeline& pipeline, bool accumulate, bool generator, std::size_t vectors,
           std::uint64_t seed, const std::vector<std::string>& libraries, bool force) {
          const hdl::ExportOptions options{.asked = text,
                                           .rtl = rtl,
                                           .rounding_port = rounding_port,
                                           .lanes = lanes,
                                           .multiply = multiplier(product),
                                           .pipeline = pipeline,
                                           .accumulate = accumulate,
                                           .generator = generator,
                                           .vectors = vectors,
                                           .seed = seed,
                                           .libraries = {libraries.begin(), libraries.end()},
                                           .force = force};
          std::optional<py::gil_scoped_release> free;  // a function of Python is copied, and called
          if (!calls_python(product)) free.emplace();
          std::vector<std::string> paths;
          const hdl::Exported made = hdl::export_design(parse_design(text), name, folder, options);
          for (const auto& path : made.files) paths.push_back(path.string());
          return std::tuple(std::move(paths), made.kept, made.no_rtl);
        });
  m.def("write_file", [](const std::string& path, const py::bytes& text) {
    const std::string_view view = text;
    const py::gil_scoped_release free;
    hdl::write_file(path, view);
  });
}
