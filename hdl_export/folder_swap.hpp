#pragma once
#include <filesystem>

// A folder that takes another's place in one step, so that a program killed at any moment leaves
// the old one or the new one; and what it leaves beside them is found by the next call.
namespace widthwise::hdl {

class FolderSwap {
 public:
  // Nobody else swaps in that parent folder while the object lives. What a killed program has left
  // is put back, or cleared away. Throws where neither is right, or the lock is not had in a
  // minute.
  explicit FolderSwap(std::filesystem::path folder);
  FolderSwap(const FolderSwap&) = delete;
  FolderSwap& operator=(const FolderSwap&) = delete;
  ~FolderSwap();

  // Where the new folder is made; gone with the object.
  const std::filesystem::path& made() const { return made_; }
  void put_in_place();

 private:
  void take_turn() const;
  void close_lock() const;
  void heal() const;

  std::filesystem::path folder_, made_, old_;
  int lock_ = -1;
};

}  // namespace widthwise::hdl
