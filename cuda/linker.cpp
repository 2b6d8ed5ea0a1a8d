#include "linker.hpp"

#include <fmt/format.h>

namespace widthwise::cuda {
namespace {

class Linking {
 public:
  explicit Linking(const std::string& doing) : doing_(doing) {
    JitOption options[] = {JitOption::error_log, JitOption::error_log_bytes};
    expect(driver()->link(2, options, values_, &link_), doing_);
  }
  Linking(const Linking&) = delete;
  Linking& operator=(const Linking&) = delete;
  ~Linking() { driver()->link_destroy(link_); }

  void add(LinkInput sort, const void* data, std::size_t bytes, const char* name) {
    succeed(
        driver()->link_add(link_, sort, const_cast<void*>(data), bytes, name, 0, nullptr, nullptr));
  }
  // It lives as long as this does; a module is a copy.
  Module load() {
    void* image = nullptr;
    Module module = nullptr;
    succeed(driver()->link_complete(link_, &image, nullptr));
    succeed(driver()->load_module(&module, image));
    return module;
  }

 private:
  void succeed(Status status) const { expect(status, fmt::format("{}: {}", doing_, words_)); }

  std::string doing_;
  char words_[4096] = "";
  // The driver keeps these, and writes how long its words are.
  void* values_[2] = {words_, reinterpret_cast<void*>(sizeof words_)};
  Link link_ = nullptr;
};

}  // namespace

Module linked(std::span<const unsigned char> kernels, const std::string& ptx,
              const std::string& doing) {
  Linking link(doing);
  link.add(LinkInput::fatbin, kernels.data(), kernels.size(), "kernels");
  link.add(LinkInput::ptx, ptx.c_str(), ptx.size() + 1, "product");
  return link.load();
}

}  // namespace widthwise::cuda
