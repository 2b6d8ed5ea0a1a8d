#include <cstring>

#include "bind.hpp"

// DLPack's exchange of arrays (its specification, "C API (dlpack.h)"): the structures of version 0,
// which every consumer reads.
namespace {

struct DlDevice {
  std::int32_t type, id;
};
struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t axes;
  struct {
    std::uint8_t code, bits;
    std::uint16_t lanes;
  } dtype;
  std::int64_t *shape, *strides;  // strides in items; null of dense rows
  std::uint64_t byte_offset;
};
struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};

constexpr const char *fresh = "dltensor", *used = "used_dltensor";
constexpr std::uint8_t integer = 0, unsigned_integer = 1, floating = 2, brain = 4;

// Whatever a consumer may not outlive.
struct Shared {
  py::object owner;
  std::vector<std::int64_t> shape, strides;
  DlManagedTensor managed;
};

void release(DlManagedTensor* managed) {
  const py::gil_scoped_acquire lock;
  delete static_cast<Shared*>(managed->context);
}

void forget(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, fresh)) return;  // a consumer has it
  auto* managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, fresh));
  managed->deleter(managed);
}

// Unsigned integers of so many bits at an address of a device, alive as long as their owner.
py::object to_dlpack(std::pair<int, int> device, std::uintptr_t address, int bits,
                     std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                     py::object owner) {
  auto shared = std::make_unique<Shared>();
  shared->owner = std::move(owner);
  shared->shape = std::move(shape), shared->strides = std::move(strides);
  shared->managed = {{reinterpret_cast<void*>(address),
                      {device.first, device.second},
                      static_cast<std::int32_t>(shared->shape.size()),
                      {unsigned_integer, static_cast<std::uint8_t>(bits), 1},
                      shared->shape.data(),
                      shared->strides.data(),
                      0},
                     shared.get(),
                     &release};
  PyObject* capsule = PyCapsule_New(&shared->managed, fresh, &forget);
  if (!capsule) throw py::error_already_set();
  shared.release();
  return py::reinterpret_steal<py::object>(capsule);
}

std::string type_name(const DlTensor& x) {
  const std::string bits = std::to_string(x.dtype.bits);
  if (x.dtype.lanes != 1) return "vectors";
  switch (x.dtype.code) {
    case integer: return "int" + bits;
    case unsigned_integer: return "uint" + bits;
    case floating: return "float" + bits;
    case brain: return "bfloat" + bits;
    case 10: return "float8_e4m3fn";
    case 11: return "float8_e4m3fnuz";
    case 12: return "float8_e5m2";
    case 13: return "float8_e5m2fnuz";
    case 14: return "float8_e8m0fnu";
    default: return "type " + std::to_string(x.dtype.code) + " of " + bits + " bits";
  }
}

// (device, address, dtype, shape, strides in bytes or None, what keeps it alive).
py::tuple from_dlpack(py::capsule capsule) {
  if (std::strcmp(capsule.name() ? capsule.name() : "", fresh) != 0)
    throw py::value_error("a DLPack capsule can be taken once, and this one has been");
  auto* managed = capsule.get_pointer<DlManagedTensor>();
  capsule.set_name(used);
  const DlTensor& x = managed->tensor;
  const std::vector<std::int64_t> shape(x.shape, x.shape + x.axes);
  py::object strides = py::none();
  if (x.strides) {
    std::vector<std::int64_t> bytes(x.strides, x.strides + x.axes);
    for (std::int64_t& stride : bytes) stride *= x.dtype.bits / 8;
    strides = py::cast(bytes);
  }
  py::capsule owner(managed, [](void* taken) {
    auto* there = static_cast<DlManagedTensor*>(taken);
    if (there->deleter) there->deleter(there);
  });
  return py::make_tuple(std::pair(x.device.type, x.device.id),
                        reinterpret_cast<std::uintptr_t>(x.data) + x.byte_offset, type_name(x),
                        shape, strides, owner);
}

}  // namespace

void bind_dlpack(py::module_& m) {
  m.def("to_dlpack", &to_dlpack);
  m.def("from_dlpack", &from_dlpack);
}
