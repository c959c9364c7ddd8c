// RUN: modelc-opt %s --model-shard="tp=2 dp=4" | FileCheck %s
// RUN: modelc-opt %s --model-shard=tp=2 --model-shard=dp=4 | FileCheck %s
// RUN: modelc-opt %s --model-shard=dp=4 | FileCheck %s --check-prefix=DATA
// RUN: not modelc-opt %s --model-shard=ep=2 2>&1 | FileCheck %s --check-prefix=EXPERTS
// RUN: not modelc-opt %s --model-shard=dp=0 2>&1 | FileCheck %s --check-prefix=ZERO

// Each rank along dp has sequences of its own: nothing is cut, nothing exchanged.
// A linear without a role is on every rank, and reads whole rows.

// EXPERTS: error: expected an op with experts, for ep=2, got none; try ep=1
// ZERO: error: expected dp of at least 1, got 0
// CHECK-LABEL: model.graph @axes
// CHECK-SAME: mesh = #model.mesh<tp = 2, dp = 4>
// CHECK: model.weight ["a" split 0 of 2] : tensor<48x64xbf16>
// CHECK: %[[A:.*]] = model.linear %{{.*}} role column : {{.*}} -> tensor<?x48xbf16>
// CHECK: %[[ALL:.*]] = model.all_gather %[[A]] over tp : tensor<?x48xbf16> -> tensor<?x96xbf16>
// CHECK: %[[B:.*]] = model.weight ["b"] : tensor<96x96xbf16>
// CHECK: model.linear %[[ALL]], %[[B]] : tensor<?x96xbf16>
// CHECK: model.weight ["c" split 0 of 2] : tensor<48x96xbf16>
// CHECK: %[[C:.*]] = model.linear {{.*}} role column : {{.*}} -> tensor<?x48xbf16>
// CHECK: %[[S:.*]] = model.swiglu %[[C]], %[[C]]
// CHECK: %[[D:.*]] = model.linear %[[S]], %{{.*}} role row :
// CHECK: %[[SUM:.*]] = model.all_reduce %[[D]] over tp
// CHECK-NOT: over dp
// CHECK: model.norm %[[SUM]]
// CHECK: model.return
// DATA: mesh = #model.mesh<dp = 4>
// DATA-NOT: split
// DATA-NOT: over
model.graph @axes(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %wa = model.weight ["a"] : tensor<96x64xbf16>
  %a = model.linear %x, %wa role column : tensor<?x64xbf16>, tensor<96x64xbf16> -> tensor<?x96xbf16>
  %wb = model.weight ["b"] : tensor<96x96xbf16>
  %b = model.linear %a, %wb : tensor<?x96xbf16>, tensor<96x96xbf16> -> tensor<?x96xbf16>
  %wc = model.weight ["c"] : tensor<96x96xbf16>
  %c = model.linear %b, %wc role column : tensor<?x96xbf16>, tensor<96x96xbf16> -> tensor<?x96xbf16>
  %s = model.swiglu %c, %c : tensor<?x96xbf16> -> tensor<?x96xbf16>
  %wd = model.weight ["d"] : tensor<64x96xbf16>
  %d = model.linear %s, %wd role row : tensor<?x96xbf16>, tensor<64x96xbf16> -> tensor<?x64xbf16>
  %wn = model.weight ["n"] : tensor<64xbf16>
  %n = model.norm %d, %wn eps 1.0e-5 : tensor<?x64xbf16>, tensor<64xbf16> -> tensor<?x64xbf16>
  model.return %n : tensor<?x64xbf16>
}
