#include "fatbins.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>

namespace widthwise::cuda {
namespace {

using Find = const unsigned char*(const char* source, std::size_t* bytes);

// Beside the program or the package: their run paths say where (tests/meson.build,
// python/meson.build).
struct Search {
  Find* find = nullptr;
  std::string why_not;

  Search() {
    if (void* const library = dlopen("libwidthwise_kernels.so", RTLD_NOW | RTLD_LOCAL))
      find = reinterpret_cast<Find*>(dlsym(library, "widthwise_fatbin"));
    if (!find)
      why_not = fmt::format("the kernels for a GPU were not compiled, './dev build' does so: {}",
                            dlerror());
  }
};

const Search& search() {
  static const Search found;
  return found;
}

}  // namespace

const std::string& why_no_kernels() { return search().why_not; }

std::span<const unsigned char> fatbin(std::string_view source) {
  std::size_t bytes = 0;
  const unsigned char* const at = search().find(std::string(source).c_str(), &bytes);
  if (!at) throw std::logic_error(fmt::format("no kernels of {}", source));
  return {at, bytes};
}

}  // namespace widthwise::cuda
