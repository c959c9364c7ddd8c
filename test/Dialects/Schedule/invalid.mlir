// RUN: %modelc-opt %s --split-input-file --verify-diagnostics
// Every message of the verifiers, one mistake in each part.

// expected-error @+1 {{expected exactly one loop on workgroups, got 0}}
schedule.kernel @no_grid(%m: index) guard [] {
}

// -----

// expected-error @+1 {{expected a name of letters, digits and '_', no digit first and 200 at most, got 'no"name'}}
schedule.kernel @"no\22name"(%m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

// expected-error @+1 {{expected a name of letters, digits and '_', no digit first and 200 at most, got 'a b'}}
schedule.kernel @name(%m: index) guard [] attributes {op_name = "a b"} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

// expected-error @+1 {{no digit first and 200 at most, got '0'}}
schedule.kernel @name(%0: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%0) on workgroups {
  }
}

// -----

// expected-error @+1 {{expected arguments of different names, got 'm' twice}}
schedule.kernel @name(%m: index, %n: index) guard [] attributes {arg_names = ["m", "m"]} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

// expected-error @+1 {{expected an argument of the kernel in the guard, got 'n'}}
schedule.kernel @guard_names_nothing(%m: index) guard [#schedule.range<"n", 1 to 4>] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

// expected-error @+1 {{attribute 'guard' failed to satisfy constraint: ranges of size arguments}}
schedule.kernel @guard_is_number(%m: index) guard [3] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

// expected-error @+1 {{expected one name for each of the 1 arguments, got 2}}
schedule.kernel @names(%m: index) guard [] attributes {arg_names = ["a", "b"]} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

func.func @loop_kind(%m: index) {
  // expected-error @+1 {{expected 'sequence' or 'workgroups', got 'waves'}}
  schedule.loop (%i) = (%m) to (%m) on waves {
  }
}

// -----

func.func @loop_bounds(%m: index) {
  // expected-error @+1 {{expected as many lower bounds and steps as upper bounds, 2}}
  schedule.loop (%i, %j) = (%m) to (%m, %m) on workgroups {
  }
}

// -----

func.func @sequence_of_two(%m: index) {
  // expected-error @+1 {{expected one index in a sequence, got 2}}
  schedule.loop (%i, %j) = (%m, %m) to (%m, %m) on sequence {
  }
}

// -----

func.func @grid_carries(%m: index) {
  // expected-error @+1 {{expected no carried values on a loop over workgroups}}
  %r = schedule.loop (%i) = (%m) to (%m) on workgroups carry(%x = %m) : index {
    schedule.yield %x : index
  }
}

// -----

func.func @yield_type(%m: index, %z: i32) {
  // expected-error @+1 {{expected to yield the types that are carried}}
  %r = schedule.loop (%i) = (%m) to (%m) on sequence carry(%x = %m) : index {
    schedule.yield %z : i32
  }
}

// -----

schedule.kernel @bound_on_device(%n: !schedule.buffer<4xindex>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %count = schedule.load %n[%c0] : !schedule.buffer<4xindex> -> index
    // expected-error @+1 {{expected 'expect': the bound lives on the device}}
    schedule.loop (%j) = (%c0) to (%count) on sequence {
    }
  }
}

// -----

func.func @offsets(%a: !schedule.buffer<?x64xf32>, %m: index) {
  // expected-error @+1 {{expected one offset for each of the 2 dimensions of the buffer, got 1}}
  %x = schedule.load %a[%m] : !schedule.buffer<?x64xf32> -> !schedule.tile<4x4xf32>
  return
}

// -----

func.func @expected_tile(%a: !schedule.buffer<?x64xf32>, %m: index) {
  // expected-error @+1 {{expected a scalar beside 'expect', got '!schedule.tile<4x4xf32>'}}
  %x = schedule.load %a[%m, %m] {expect = "m"} : !schedule.buffer<?x64xf32> -> !schedule.tile<4x4xf32>
  return
}

// -----

func.func @loaded_ahead_of_a_place(%a: !schedule.tile<4x4xf32, shared, slots = 2>, %m: index) {
  // expected-error @+1 {{expected a trip or more as 'ahead', of a tile of a buffer, got 2 of '!schedule.tile<4x4xf32>' from}}
  %x = schedule.load %a[%m] {ahead = 2 : i64} : !schedule.tile<4x4xf32, shared, slots = 2> -> !schedule.tile<4x4xf32>
  return
}

// -----

func.func @ring_offsets(%a: !schedule.tile<4x4xf32, shared, slots = 2>, %m: index) {
  // expected-error @+1 {{expected at most one offset, the logical trip of a ring, got 2}}
  %x = schedule.load %a[%m, %m] : !schedule.tile<4x4xf32, shared, slots = 2> -> !schedule.tile<4x4xf32>
  return
}

// -----

func.func @page_size(%a: !schedule.buffer<?x64xf32>, %p: !schedule.buffer<?x?xi32>, %m: index) {
  // expected-error @+1 {{expected 'page_size' beside 'pages'}}
  %x = schedule.load %a[%m, %m] pages(%p, %m : !schedule.buffer<?x?xi32>) : !schedule.buffer<?x64xf32> -> !schedule.tile<4x4xf32>
  return
}

// -----

func.func @valid(%a: !schedule.buffer<?x64xf32>, %m: index) {
  // expected-error @+1 {{expected limits for rows and columns at most}}
  %x = schedule.load %a[%m, %m] valid(%m, %m, %m) : !schedule.buffer<?x64xf32> -> !schedule.tile<4x4xf32>
  return
}

// -----

func.func @dims(%a: !schedule.buffer<?x64xf32>, %m: index) {
  // expected-error @+1 {{expected two dimensions in 'dims', those that rows and columns walk}}
  %x = schedule.load %a[%m, %m] {dims = array<i64: 0>} : !schedule.buffer<?x64xf32> -> !schedule.tile<4x4xf32>
  return
}

// -----

func.func @dims_of_no_buffer(%a: !schedule.buffer<?x64xf32>, %m: index) {
  // expected-error @+1 {{expected dimensions of the buffer in 'dims', 0 to 1, got 100}}
  %x = schedule.load %a[%m, %m] valid(%m) {dims = array<i64: 100, 1>} : !schedule.buffer<?x64xf32> -> !schedule.tile<4x4xf32>
  return
}

// -----

func.func @no_page(%a: !schedule.buffer<?x64xf32>, %p: !schedule.buffer<?x?xi32>, %m: index) {
  // expected-error @+1 {{expected a row or more as 'page_size', got 0}}
  %x = schedule.load %a[%m, %m] pages(%p, %m : !schedule.buffer<?x?xi32>) valid(%m) {page_size = 0 : i64} : !schedule.buffer<?x64xf32> -> !schedule.tile<4x4xf32>
  return
}

// -----

func.func @place_extents(%a: !schedule.tile<4x8xf32, shared>) {
  // expected-error @+1 {{expected a value of the extents of the place, got}}
  %x = schedule.load %a[] : !schedule.tile<4x8xf32, shared> -> !schedule.tile<8x4xf32>
  return
}

// -----

func.func @place_width(%a: !schedule.tile<4x8xf32, shared>) {
  // expected-error @+1 {{expected equal element widths, got}}
  %x = schedule.load %a[] : !schedule.tile<4x8xf32, shared> -> !schedule.tile<4x8xbf16>
  return
}

// -----

func.func @copy_into_value(%a: !schedule.buffer<?x64xf32>, %x: !schedule.tile<4x4xf32>, %m: index) {
  // expected-error @+1 {{expected a shared or tensor tile as destination, got}}
  %t = schedule.copy %a[%m, %m] to %x[] : !schedule.buffer<?x64xf32>, !schedule.tile<4x4xf32>
  return
}

// -----

func.func @silent_box(%a: !schedule.buffer<?x64xf32>, %x: !schedule.tile<4x4xf32, shared>, %m: index) {
  // expected-error @+1 {{expected the barrier that a box copy signals}}
  %t = schedule.copy %a[%m, %m] to %x[] {box} : !schedule.buffer<?x64xf32>, !schedule.tile<4x4xf32, shared>
  return
}

// -----

schedule.kernel @lonely_workgroup(%m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %c = schedule.map () {
    ^bb0(%row: index, %column: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<16x16xf32>)
    %part = schedule.map () {
    ^bb0(%row: index, %column: index):
      %z = arith.constant 0.0 : f32
      schedule.yield %z : f32
    } : () -> (!schedule.tile<8x16xf32>)
    // expected-error @+1 {{expected workgroups of one cluster together, got 2 of a cluster of 1}}
    %r = schedule.mma %c, %c, %part {workgroups = 2 : i64} : !schedule.tile<16x16xf32>, !schedule.tile<16x16xf32>, !schedule.tile<8x16xf32> -> !schedule.tile<16x16xf32>
  }
}

// -----

func.func @inner_sizes(%c: !schedule.tile<16x16xf32>, %a: !schedule.tile<16x32xbf16>, %b: !schedule.tile<16x64xbf16>) {
  // expected-error @+1 {{inner sizes differ: expected M x K, N x K and M x N, got a = 16x32, b = 16x64, accumulator = 16x16}}
  %r = schedule.mma %c, %a, %b : !schedule.tile<16x16xf32>, !schedule.tile<16x32xbf16>, !schedule.tile<16x64xbf16> -> !schedule.tile<16x16xf32>
  return
}

// -----

func.func @scales_in_rows(%c: !schedule.tile<16x16xf32>, %a: !schedule.tile<16x64xvector<2xf4E2M1FN>>, %s: !schedule.tile<16x4xf8E8M0FNU>) {
  // expected-error @+1 {{expected the scales of a in words of 4, a column for each of its 16 rows, got '!schedule.tile<16x4xf8E8M0FNU>'}}
  %d = schedule.mma %c, %a, %a scaled(%s, %s : !schedule.tile<16x4xf8E8M0FNU>, !schedule.tile<16x4xf8E8M0FNU>) : !schedule.tile<16x16xf32>, !schedule.tile<16x64xvector<2xf4E2M1FN>>, !schedule.tile<16x64xvector<2xf4E2M1FN>> -> !schedule.tile<16x16xf32>
  return
}

// -----

func.func @words_differ(%c: !schedule.tile<16x16xf32>, %a: !schedule.tile<16x128xvector<2xf4E2M1FN>>, %s: !schedule.tile<2x16xvector<4xf8E8M0FNU>>, %t: !schedule.tile<1x16xvector<4xf8E8M0FNU>>) {
  // expected-error @+1 {{expected as many words of scales of a as of b}}
  %d = schedule.mma %c, %a, %a scaled(%s, %t : !schedule.tile<2x16xvector<4xf8E8M0FNU>>, !schedule.tile<1x16xvector<4xf8E8M0FNU>>) : !schedule.tile<16x16xf32>, !schedule.tile<16x128xvector<2xf4E2M1FN>>, !schedule.tile<16x128xvector<2xf4E2M1FN>> -> !schedule.tile<16x16xf32>
  return
}

// -----

func.func @map_shape(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected inputs of the result's extents or 1, got}}
  %r = schedule.map (%c) {
  ^bb0(%v: f32, %row: index, %column: index):
    schedule.yield %v : f32
  } : (!schedule.tile<16x16xf32>) -> !schedule.tile<32x16xf32>
  return
}

// -----

func.func @map_arguments(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected a scalar for each input, then row and column}}
  %r = schedule.map (%c) {
  ^bb0(%v: f32):
    schedule.yield %v : f32
  } : (!schedule.tile<16x16xf32>) -> !schedule.tile<16x16xf32>
  return
}

// -----

func.func @map_element(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected a scalar of the input's element type, got 'bf16' for}}
  %r = schedule.map (%c) {
  ^bb0(%v: bf16, %row: index, %column: index):
    schedule.yield %v : bf16
  } : (!schedule.tile<16x16xf32>) -> !schedule.tile<16x16xbf16>
  return
}

// -----

func.func @map_yield(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected to yield 'bf16', got 'f32'}}
  %r = schedule.map (%c) {
  ^bb0(%v: f32, %row: index, %column: index):
    schedule.yield %v : f32
  } : (!schedule.tile<16x16xf32>) -> !schedule.tile<16x16xbf16>
  return
}

// -----

func.func @map_results(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected one yielded scalar for each of the 1 results, got 2}}
  %r = schedule.map (%c) {
  ^bb0(%v: f32, %row: index, %column: index):
    schedule.yield %v, %v : f32, f32
  } : (!schedule.tile<16x16xf32>) -> !schedule.tile<16x16xf32>
  return
}

// -----

func.func @exponentials_share(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected 'fma_exponentials' from 1 to 8, got 9}}
  %r = schedule.map (%c) {
  ^bb0(%v: f32, %row: index, %column: index):
    %e = math.exp2 %v : f32
    schedule.yield %e : f32
  } {fma_exponentials = 9 : i64} : (!schedule.tile<16x16xf32>) -> !schedule.tile<16x16xf32>
  return
}

// -----

func.func @exponentials_absent(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected a 'math.exp2' beside 'fma_exponentials'}}
  %r = schedule.map (%c) {
  ^bb0(%v: f32, %row: index, %column: index):
    %e = math.exp %v : f32
    schedule.yield %e : f32
  } {fma_exponentials = 2 : i64} : (!schedule.tile<16x16xf32>) -> !schedule.tile<16x16xf32>
  return
}

// -----

func.func @exponentials_type(%c: !schedule.tile<16x16xbf16>) {
  // expected-error @+1 {{expected 'math.exp2' of f32 beside 'fma_exponentials', got 'bf16'}}
  %r = schedule.map (%c) {
  ^bb0(%v: bf16, %row: index, %column: index):
    %e = math.exp2 %v : bf16
    schedule.yield %e : bf16
  } {fma_exponentials = 2 : i64} : (!schedule.tile<16x16xbf16>) -> !schedule.tile<16x16xbf16>
  return
}

// -----

#four = #schedule.layout<(register = [0:1, 0:2], lane = [1:0, 2:0, 4:0, 8:0, 0:4], wave = [0:8]) -> (row = 16, column = 16)>
func.func @exponentials_held(%c: !schedule.tile<16x16xf32, register, #four>) {
  // expected-error @+1 {{expected a multiple of 8 elements in a lane beside 'fma_exponentials', got 4}}
  %r = schedule.map (%c) {
  ^bb0(%v: f32, %row: index, %column: index):
    %e = math.exp2 %v : f32
    schedule.yield %e : f32
  } {fma_exponentials = 2 : i64} : (!schedule.tile<16x16xf32, register, #four>) -> !schedule.tile<16x16xf32, register, #four>
  return
}

// -----

func.func @reduce_dimension(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected dimension 0 or 1, got 2}}
  %r = schedule.reduce add %c along 2 : !schedule.tile<16x16xf32> -> !schedule.tile<16x1xf32>
  return
}

// -----

func.func @reduce_extent(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected extent 1 along the reduced dimension, got}}
  %r = schedule.reduce add %c along 0 : !schedule.tile<16x16xf32> -> !schedule.tile<16x1xf32>
  return
}

// -----

func.func @relayout_elements(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected the same elements, got}}
  %r = schedule.relayout %c : !schedule.tile<16x16xf32> -> !schedule.tile<16x16xbf16>
  return
}

// -----

func.func @relayout_identity(%c: !schedule.tile<16x16xf32>) {
  // expected-error @+1 {{expected another layout; this one changes nothing}}
  %r = schedule.relayout %c : !schedule.tile<16x16xf32> -> !schedule.tile<16x16xf32>
  return
}

// -----

// expected-error @+1 {{expected a tile of rows x columns, got 1 dimensions}}
func.func @tile_rank(%c: !schedule.tile<16xf32>) {
  return
}

// -----

// expected-error @+1 {{expected powers of two as the extents of a tile, or outside of registers multiples of 8, got 20; ragged edges belong to 'valid' of the memory op}}
func.func @tile_extent(%c: !schedule.tile<20x16xf32>) {
  return
}

// -----

// expected-error @+1 {{expected slots only on a shared or tensor tile}}
func.func @tile_slots(%c: !schedule.tile<16x16xf32, register, slots = 2>) {
  return
}

// -----

// expected-error @+2 {{expected a layout of 16 rows and 4 columns, got 16 and 2}}
#l = #schedule.layout<(register = [0:1], lane = [1:0, 2:0, 4:0, 8:0]) -> (row = 16, column = 2)>
func.func @tile_layout(%c: !schedule.tile<16x4xf32, register, #l>) {
  return
}

// -----

// expected-error @+2 {{expected a layout in which every element lives somewhere}}
#l = #schedule.layout<(register = [0:1], lane = [1:0, 2:0, 4:0]) -> (row = 16, column = 2)>
func.func @tile_holes(%c: !schedule.tile<16x2xf32, register, #l>) {
  return
}

// -----

// expected-error @+1 {{expected a power of two as the size of 'row', got 3}}
#l = #schedule.layout<(register = [0:1]) -> (row = 3, column = 2)>

// -----

// expected-error @+1 {{expected one coordinate for each of the 2 outputs in every image of 'register'}}
#l = #schedule.layout<(register = [1]) -> (row = 2, column = 2)>

// -----

// expected-error @+1 {{expected a coordinate below 2 along 'row', got 2}}
#l = #schedule.layout<(register = [2:0]) -> (row = 2, column = 2)>

// -----

func.func @flag_without_value(%flags: !schedule.buffer<?x8xi32>, %i: index) {
  // expected-error @+1 {{expected one trip of a barrier, or coordinates and value of a flag (3), got 2}}
  schedule.wait on %flags[%i, %i] : !schedule.buffer<?x8xi32>
}

// -----

func.func @flag_type(%flags: !schedule.buffer<?xf32>, %i: index) {
  // expected-error @+1 {{expected flags of i32, got '!schedule.buffer<?xf32>'}}
  schedule.arrive %flags[%i, %i] : !schedule.buffer<?xf32>
}

// -----

func.func @product_elsewhere(%c: !schedule.tile<16x16xf32>, %d: !schedule.tile<16x16xbf16>) {
  // expected-error @+1 {{expected a result of the accumulator's type, got}}
  %r = schedule.mma %c, %d, %d : !schedule.tile<16x16xf32>, !schedule.tile<16x16xbf16>, !schedule.tile<16x16xbf16> -> !schedule.tile<16x16xbf16>
  return
}

// -----

schedule.kernel @early_of_vector(%w: !schedule.buffer<64xbf16>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // expected-error @+1 {{expected a matrix whose rows lie straight, got '!schedule.buffer<64xbf16>'}}
    schedule.prefetch %w[%i, %c0] {rows = 16 : i64, columns = 64 : i64} : !schedule.buffer<64xbf16>
  }
}

// -----

schedule.kernel @early_without_column(%w: !schedule.buffer<64x64xbf16>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // expected-error @+1 {{expected a row and a column, got 1 offsets}}
    schedule.prefetch %w[%i] {rows = 16 : i64, columns = 64 : i64} : !schedule.buffer<64x64xbf16>
  }
}

// -----

schedule.kernel @early_part_of_granule(%w: !schedule.buffer<64x64xbf16>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // expected-error @+1 {{expected rows of whole 16 bytes, got 8}}
    schedule.prefetch %w[%i, %c0] {rows = 16 : i64, columns = 4 : i64} : !schedule.buffer<64x64xbf16>
  }
}

// -----

schedule.kernel @early_behind_load(%w: !schedule.buffer<64x64xbf16>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %x = schedule.load %w[%i, %c0] : !schedule.buffer<64x64xbf16> -> !schedule.tile<1x64xbf16>
    // expected-error @+1 {{expected at the start of a workgroup, before all that waits for earlier kernels, and in no persistent grid}}
    schedule.prefetch %w[%i, %c0] {rows = 16 : i64, columns = 64 : i64} : !schedule.buffer<64x64xbf16>
  }
}

// -----

schedule.kernel @delayed_without_late_product(%m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // expected-error @+1 {{expected a product whose first operand is carried in a 'delayed' loop, got none}}
    schedule.loop (%t) = (%c0) to (%m) on sequence attributes {delayed} {
    }
  }
}

// -----

schedule.kernel @no_chiplet(%m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{attribute 'order' failed to satisfy constraint: i64 dense array attribute whose value is positive}}
  schedule.loop (%i) = (%c0) to (%m) on workgroups attributes {order = array<i64: 0, 4>} {
  }
}

// -----

schedule.kernel @many_in_flight(%m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // expected-error @+1 {{attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 0 whose maximum value is 1024}}
    schedule.wait {queue = #schedule<queue copies>, pending = 100000 : i64}
  }
}

// -----

// expected-error @+1 {{attribute 'waves' failed to satisfy constraint}}
schedule.kernel @no_waves(%m: index) guard [] attributes {waves = 0 : i64} {
}

// -----

// expected-error @+1 {{expected a '?' of a buffer and a size among the arguments, got #schedule.extent<"pages", 0 is "m">}}
schedule.kernel @extent_is_known(%pages: !schedule.buffer<4x?xi32>, %m: index) guard [] attributes {extents = [#schedule.extent<"pages", 0 is "m">]} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

// expected-error @+1 {{expected a '?' of a buffer and a size among the arguments, got #schedule.extent<"pages", 1 is "n">}}
schedule.kernel @extent_of_no_size(%pages: !schedule.buffer<?x?xi32>, %m: index) guard [] attributes {extents = [#schedule.extent<"pages", 1 is "n">]} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

// expected-error @+1 {{expected one extent for dimension 1 of 'pages', got two}}
schedule.kernel @two_extents(%pages: !schedule.buffer<?x?xi32>, %m: index, %n: index) guard [] attributes {extents = [#schedule.extent<"pages", 1 is "m">, #schedule.extent<"pages", 1 is "n">]} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

// expected-error @+1 {{expected an attribute that kernels have, got 'slot'}}
schedule.kernel @misspelt(%m: index) guard [] attributes {slot = 4 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

// expected-error @+1 {{attribute 'slots' failed to satisfy constraint}}
schedule.kernel @no_slots(%m: index) guard [] attributes {slots = 0 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}

// -----

schedule.kernel @distinct_tiles(%a: !schedule.buffer<64x64xbf16>, %m: index) guard [] attributes {waves = 1 : i64} {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    // expected-error @+1 {{expected a scalar of a buffer beside 'distinct', got '!schedule.tile<64x64xbf16>' from '!schedule.buffer<64x64xbf16>'}}
    %x = schedule.load %a[%c0, %c0] {distinct = "4"} : !schedule.buffer<64x64xbf16> -> !schedule.tile<64x64xbf16>
  }
}

// -----

// expected-error@+1 {{'schedule.kernel' op attribute 'tensor_columns' failed to satisfy constraint}}
schedule.kernel @attribute(%m: index) guard [] attributes {waves = 4 : i64, tensor_columns = "4"} {
}

// -----

schedule.kernel @attribute(%m: index) guard [] attributes {waves = 4 : i64} {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'schedule.loop' op attribute 'expect' failed to satisfy constraint}}
  schedule.loop (%i) = (%c0) to (%m) on workgroups attributes {expect = 5} {
  }
}
