#pragma once
#include <string>

namespace tests {

// One instruction of a GPU's tensor cores in every block of 32 threads, d = c + a b of 16 x 8
// outputs: 4, 2, 4 and 4 registers a thread, which lie in memory thread by thread (PTX ISA 9.0,
// 9.7.15.5). $ stands for what the operands are.
inline constexpr const char* tensor_core_ptx = R"ptx(
.version $version
.target $target
.address_size 64
.visible .entry tensor_core(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{
  .reg .b32 %t, %n, %a<4>, %b<2>, %c<4>, %d<4>;
  .reg .b64 %p, %by16, %by8;
  mov.u32 %t, %tid.x;
  mov.u32 %n, %ctaid.x;
  mad.lo.u32 %t, %n, 32, %t;
  mul.wide.u32 %by16, %t, 16;
  mul.wide.u32 %by8, %t, 8;
  ld.param.u64 %p, [a];
  add.u64 %p, %p, %by16;
  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p];
  ld.param.u64 %p, [b];
  add.u64 %p, %p, %by8;
  ld.global.v2.b32 {%b0, %b1}, [%p];
  ld.param.u64 %p, [c];
  add.u64 %p, %p, %by16;
  ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%p];
  mma.sync.aligned.$shape.row.col.f32.$type.$type.f32
    {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
  ld.param.u64 %p, [d];
  add.u64 %p, %p, %by16;
  st.global.v4.b32 [%p], {%d0, %d1, %d2, %d3};
  ret;
}
)ptx";

}  // namespace tests
