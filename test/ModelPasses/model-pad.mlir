// RUN: modelc-opt %s --model-pad | FileCheck %s
// RUN: modelc-opt %s --model-pad=tp=3 --model-shard=tp=3 | FileCheck %s --check-prefix=THREE
// RUN: modelc-opt %s --model-pad --model-pad | FileCheck %s
// RUN: not modelc-opt %s --model-shard=tp=3 2>&1 | FileCheck %s --check-prefix=NONE

// A vocabulary is a multiple of 64, and of the ranks; words that were added are
// never sampled. A table that the embedding reads too stays as it is there.

// NONE: error: tp=3 does not divide 310 words of the vocabulary; try 1, 2, 5, 10
// CHECK-LABEL: model.graph @tied
// CHECK: model.embed %{{.*}}, %{{.*}} : tensor<?xi32>, tensor<310x64xbf16>
// CHECK: %[[W:.*]] = model.weight ["table" padded 10] : tensor<320x64xbf16>
// CHECK: %[[B:.*]] = model.weight ["bias" padded 10] : tensor<320xbf16>
// CHECK: %[[Y:.*]] = model.linear %{{.*}}, %[[W]] bias %[[B]] role vocabulary : {{.*}} -> tensor<?x320xbf16>
// CHECK: model.sample %[[Y]], %{{.*}} greedy words 310 : tensor<?x320xbf16>
// THREE: model.weight ["table" padded 74 split 0 of 3] : tensor<128x64xbf16>
// THREE: %[[Y:.*]] = model.all_gather %{{.*}} over tp : tensor<?x128xbf16> -> tensor<?x384xbf16>
// THREE: model.sample %[[Y]], %{{.*}} greedy words 310
model.graph @tied(%tokens: tensor<?xi32>, %batch: !model.batch) -> tensor<?xi32> {
  %table = model.weight ["table"] : tensor<310x64xbf16>
  %x = model.embed %tokens, %table : tensor<?xi32>, tensor<310x64xbf16> -> tensor<?x64xbf16>
  %b = model.weight ["bias"] : tensor<310xbf16>
  %y = model.linear %x, %table bias %b role vocabulary
      : tensor<?x64xbf16>, tensor<310x64xbf16>, tensor<310xbf16> -> tensor<?x310xbf16>
  %t = model.sample %y, %batch greedy : tensor<?x310xbf16> -> tensor<?xi32>
  model.return %t : tensor<?xi32>
}
