#pragma once
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

// One function a subject; module.cpp calls them in this order. Python's side of each is a file of
// the package, which checks shapes and words errors for its user.
namespace py = pybind11;

void bind_format(py::module_& m);
void bind_unit(py::module_& m);
void bind_values(py::module_& m);
void bind_array(py::module_& m);
void bind_chain(py::module_& m);
void bind_rounded_values(py::module_& m);
void bind_dot(py::module_& m);
void bind_convolution(py::module_& m);
void bind_device(py::module_& m);
void bind_dlpack(py::module_& m);
void bind_vectors(py::module_& m);
void bind_study(py::module_& m);
void bind_verify(py::module_& m);
void bind_export(py::module_& m);
void bind_affine(py::module_& m);
void bind_blocks(py::module_& m);
void bind_info(py::module_& m);
void bind_machine(py::module_& m);
void bind_xla(py::module_& m);
