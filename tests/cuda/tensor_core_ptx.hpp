#pragma once
#include <string>

namespace tests {

// One instruction of a GPU's tensor cores in every block of threads, d = c + a b of 16 x 8 outputs:
// 4, 2 and $c registers a thread of A, B and both C and D, which lie in memory thread by thread
// (PTX ISA 9.0, 9.7.15.5). Of a warpgroup's four warps, if it takes one, each does the same. $
// stands for what the instruction and its operands are.
inline constexpr const char* tensor_core_ptx = R"ptx(
.version $version
.target $target
.address_size 64
.visible .entry tensor_core(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{
  .reg .b32 %lane, %t, %n, %a<4>, %b<2>, %d<4>;
  .reg .b64 %p, %by16, %by8, %byc, %columns;
  .shared .align 128 .b8 columns[256];
  mov.u32 %lane, %tid.x;
  and.b32 %lane, %lane, 31;
  mov.u32 %n, %ctaid.x;
  mad.lo.u32 %t, %n, 32, %lane;
  mul.wide.u32 %by16, %t, 16;
  mul.wide.u32 %by8, %t, 8;
  mul.wide.u32 %byc, %t, $c_bytes;
  ld.param.u64 %p, [a];
  add.u64 %p, %p, %by16;
  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%p];
  ld.param.u64 %p, [b];
  add.u64 %p, %p, %by8;
  ld.global.v2.b32 {%b0, %b1}, [%p];
  ld.param.u64 %p, [c];
  add.u64 %p, %p, %byc;
  ld.global.v$c_count.b32 {$registers}, [%p];
  $multiply
  ld.param.u64 %p, [d];
  add.u64 %p, %p, %byc;
  st.global.v$c_count.b32 [%p], {$registers};
  ret;
}
)ptx";

// A warp's own instruction, of operands in registers.
inline constexpr const char* warp_ptx =
    "mma.sync.aligned.m16n8k$k.row.col.$sum.$type.$type.$sum\n"
    "    {$registers}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {$registers};";

// A warpgroup's, whose columns of B lie in shared memory: two matrices of 8 columns by 16 bytes of
// k, 128 bytes from one another (PTX ISA 9.0, 9.7.16.5.1).
inline constexpr const char* warpgroup_ptx = R"ptx(
  mov.u32 %n, columns;
  mad.lo.u32 %t, %lane, 4, %n;
  st.shared.b32 [%t], %b0;
  st.shared.b32 [%t+128], %b1;
  fence.proxy.async;
  bar.sync 0;
  shr.u32 %n, %n, 4;
  cvt.u64.u32 %columns, %n;
  or.b64 %columns, %columns, 0x1000080000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k$k.$sum.$type.$type
    {$registers}, {%a0, %a1, %a2, %a3}, %columns, 1, 1, 1$transposed;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;)ptx";

}  // namespace tests
