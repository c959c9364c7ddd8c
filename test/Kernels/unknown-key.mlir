// RUN: not %modelc-opt %s "--kernels-build=family=norm shape=colums:3" 2>&1 | FileCheck %s
// A key that no struct of the family has.

// CHECK: expected a key of the family's structs, got 'colums'
