#include "nvrtc.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <mutex>

#include "driver.hpp"

namespace widthwise::cuda {
namespace {

using Program = struct ProgramOfNvrtc*;
constexpr int success = 0;

// Types and numbers are those of the NVRTC manual.
struct Compiler {
  int (*version)(int* major, int* minor);
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const*,
                const char* const*);
  int (*compile)(Program, int options, const char* const*);
  int (*ptx_bytes)(Program, std::size_t*);
  int (*ptx)(Program, char*);
  int (*log_bytes)(Program, std::size_t*);
  int (*log)(Program, char*);
  int (*destroy)(Program*);
  const char* (*error)(int);
};

constexpr const char* way_out =
    "pip install 'nvidia-cuda-nvrtc==13.0.*' brings one; engine = 'auto' computes the same on the "
    "CPU";

struct Search {
  Compiler compiler{};
  std::string why_not;

  Search() { why_not = find(); }

 private:
  // Empty, or why there is none. Any of the last two majors does: a driver reads older PTX.
  std::string find() {
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      if ((library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
    if (!library_)
      return fmt::format("NVRTC, which compiles a text for a GPU, is not there: {}; {}", dlerror(),
                         way_out);
    if (!resolve()) return fmt::format("NVRTC is too old; {}", way_out);
    int major = 0, minor = 0, known = 0;
    compiler.version(&major, &minor);
    driver()->version(&known);
    if (major * 1000 + minor * 10 <= known) return {};
    return fmt::format("NVRTC {}.{} writes what this driver, of CUDA {}.{}, does not read; {}",
                       major, minor, known / 1000, known % 1000 / 10, way_out);
  }

  template <class F>
  bool found(F*& function, const char* name) {
    return (function = reinterpret_cast<F*>(dlsym(library_, name)));
  }
  bool resolve() {
    return found(compiler.version, "nvrtcVersion") &&
           found(compiler.create, "nvrtcCreateProgram") &&
           found(compiler.compile, "nvrtcCompileProgram") &&
           found(compiler.ptx_bytes, "nvrtcGetPTXSize") && found(compiler.ptx, "nvrtcGetPTX") &&
           found(compiler.log_bytes, "nvrtcGetProgramLogSize") &&
           found(compiler.log, "nvrtcGetProgramLog") &&
           found(compiler.destroy, "nvrtcDestroyProgram") &&
           found(compiler.error, "nvrtcGetErrorString");
  }

  void* library_ = nullptr;
};

// What a pair of functions has to say, whose size counts the NUL at its end.
std::string text_of(Program program, int (*bytes)(Program, std::size_t*),
                    int (*get)(Program, char*)) {
  std::size_t size = 0;
  if (bytes(program, &size) != success || size == 0) return {};
  std::string text(size - 1, ' ');
  get(program, text.data());
  return text;
}

Ptx compiled(const std::string& source) {
  static const Search search;
  if (!search.why_not.empty()) return {{}, search.why_not};
  const Compiler& nvrtc = search.compiler;
  Program program = nullptr;
  if (const int error = nvrtc.create(&program, source.c_str(), "product", 0, nullptr, nullptr))
    return {{}, fmt::format("NVRTC does not start: {}; {}", nvrtc.error(error), way_out)};
  // As the kernels are compiled for the oldest of their GPUs; floats as IEEE 754 has them.
  const char* const options[] = {"--gpu-architecture=compute_80",
                                 "--relocatable-device-code=true",
                                 "--std=c++17",
                                 "--device-int128",
                                 "--disable-warnings",
                                 "--fmad=false"};
  const int error = nvrtc.compile(program, std::size(options), options);
  Ptx result;
  if (error == success)
    result.ptx = text_of(program, nvrtc.ptx_bytes, nvrtc.ptx);
  else
    result.why_not = fmt::format("NVRTC does not compile the product ({}):\n{}", nvrtc.error(error),
                                 text_of(program, nvrtc.log_bytes, nvrtc.log));
  nvrtc.destroy(&program);
  return result;
}

}  // namespace

const Ptx& ptx_of(const std::string& source) {
  static std::mutex mutex;
  static std::map<std::string, Ptx> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(source);
  return found != known.end() ? found->second
                              : known.emplace(source, compiled(source)).first->second;
}

}  // namespace widthwise::cuda
