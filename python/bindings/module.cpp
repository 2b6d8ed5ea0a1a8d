#include "bind.hpp"

PYBIND11_MODULE(_widthwise, m) {
  bind_format(m);  // types first: then the signatures of the functions below name them
  bind_unit(m);
  bind_values(m);
  bind_array(m);
  bind_chain(m);
  bind_rounded_values(m);
  bind_dot(m);
  bind_convolution(m);
  bind_device(m);
  bind_dlpack(m);
  bind_vectors(m);
  bind_study(m);
  bind_verify(m);
  bind_export(m);
  bind_affine(m);
  bind_blocks(m);
  bind_info(m);
  bind_machine(m);
  bind_xla(m);
}
