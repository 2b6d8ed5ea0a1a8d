#ifndef __SANITIZE_ADDRESS__  // which is to see every block
#include <gmp.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

// GMP and MPFR ask for a few words for every number, which is a third of the time of tests that
// compute little with many. Blocks of one size are kept here and handed on.
namespace {

constexpr std::size_t block = 64;
struct Kept {
  Kept* next;
};
thread_local Kept* kept = nullptr;

void* take(std::size_t size) {
  if (size <= block && kept) {
    Kept* const first = kept;
    kept = first->next;
    return first;
  }
  void* const z = std::malloc(size < block ? block : size);
  if (!z) std::abort();  // C, which calls this, knows no exceptions
  return z;
}

void give_back(void* x, std::size_t size) {
  if (size > block) return std::free(x);
  kept = new (x) Kept{kept};
}

void* resized(void* x, std::size_t before, std::size_t now) {
  if (before <= block && now <= block) return x;
  void* const z = take(now);
  std::memcpy(z, x, before < now ? before : now);
  give_back(x, before);
  return z;
}

// Before this program's static numbers are made: no smaller block may be handed on.
[[gnu::constructor(101)]] void install() { mp_set_memory_functions(&take, &resized, &give_back); }

}  // namespace
#endif
