// RUN: modelc-opt %s --verify-diagnostics --model-quantise=weights=mxfp4
// Inputs that are not whole blocks are refused where the linear stands.
model.graph @ragged(%x: tensor<?x80xbf16>) -> tensor<?x96xbf16> {
  %w = model.weight ["w"] : tensor<96x80xbf16>
  // expected-error@+1 {{expected inputs in whole blocks of 32 for such weights, got 80; try other types of weights}}
  %y = model.linear %x, %w : tensor<?x80xbf16>, tensor<96x80xbf16> -> tensor<?x96xbf16>
  model.return %y : tensor<?x96xbf16>
}
