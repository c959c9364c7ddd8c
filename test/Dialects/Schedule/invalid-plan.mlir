// RUN: %modelc-opt %s --split-input-file --verify-diagnostics
// Every message of a plan and its launches, one mistake in each part.

// expected-note @+1 {{the kernel that is launched}}
schedule.kernel @copy(%x: !schedule.buffer<?x64xf32>, %y: !schedule.buffer<?x64xf32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %v = schedule.load %x[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
    schedule.store %v, %y[%i, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
  }
}
func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  %a = schedule.alloc(%n) as input : !schedule.buffer<?x64xf32>
  %b = schedule.alloc(%n) as output : !schedule.buffer<?x64xf32>
  // expected-error @+1 {{expected a value for 'y' of 'copy', got none}}
  schedule.launch [@copy] (x = %a, m = %n) : !schedule.buffer<?x64xf32>, index
  return
}

// -----

schedule.kernel @copy(%x: !schedule.buffer<?x64xf32>, %y: !schedule.buffer<?x64xf32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %v = schedule.load %x[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
    schedule.store %v, %y[%i, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
  }
}
func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  %a = schedule.alloc(%n) as input : !schedule.buffer<?x64xf32>
  %b = schedule.alloc(%n) as output : !schedule.buffer<?x64xf32>
  // expected-error @+1 {{expected an argument of 'copy', got 'z'; it has ["x", "y", "m"]}}
  schedule.launch [@copy] (x = %a, y = %b, z = %b, m = %n) : !schedule.buffer<?x64xf32>, !schedule.buffer<?x64xf32>, !schedule.buffer<?x64xf32>, index
  return
}

// -----

schedule.kernel @copy(%x: !schedule.buffer<?x64xf32>, %y: !schedule.buffer<?x64xf32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %v = schedule.load %x[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
    schedule.store %v, %y[%i, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
  }
}
func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  %a = schedule.alloc(%n) as input : !schedule.buffer<?x64xf32>
  %b = schedule.alloc(%n) as output : !schedule.buffer<?x64xf32>
  // expected-error @+1 {{expected each argument once, got 'x' twice}}
  schedule.launch [@copy] (x = %a, x = %b, m = %n) : !schedule.buffer<?x64xf32>, !schedule.buffer<?x64xf32>, index
  return
}

// -----

// expected-note @+1 {{the kernel that is launched}}
schedule.kernel @copy(%x: !schedule.buffer<?x64xf32>, %y: !schedule.buffer<?x64xf32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %v = schedule.load %x[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
    schedule.store %v, %y[%i, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
  }
}
func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  %a = schedule.alloc(%n) as input : !schedule.buffer<?x64xf32>
  %b = schedule.alloc(%n) as output : !schedule.buffer<?x32xf32>
  // expected-error @+1 {{expected '!schedule.buffer<?x64xf32>' for 'y' of 'copy', got '!schedule.buffer<?x32xf32>'}}
  schedule.launch [@copy] (x = %a, y = %b, m = %n) : !schedule.buffer<?x64xf32>, !schedule.buffer<?x32xf32>, index
  return
}

// -----

// expected-note @+1 {{the kernel that is launched}}
schedule.kernel @copy(%x: !schedule.buffer<?x64xf32>, %y: !schedule.buffer<?x64xf32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %v = schedule.load %x[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
    schedule.store %v, %y[%i, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
  }
}
func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  %a = schedule.alloc(%n) as input : !schedule.buffer<?x64xf32>
  %b = schedule.alloc(%n) as output : !schedule.buffer<?x64xf32>
  // expected-error @+1 {{expected '!schedule.buffer<?x64xf32>' for 'y' of 'copy', got 'index'}}
  schedule.launch [@copy] (x = %a, y = %n, m = %b) : !schedule.buffer<?x64xf32>, index, !schedule.buffer<?x64xf32>
  return
}

// -----

// What two buffers of one type are for tells them apart.
// expected-note @+1 {{the kernel that is launched}}
schedule.kernel @copy(%x: !schedule.buffer<?x64xf32>, %y: !schedule.buffer<?x64xf32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    %v = schedule.load %x[%i, %c0] : !schedule.buffer<?x64xf32> -> !schedule.tile<1x64xf32>
    schedule.store %v, %y[%i, %c0] : !schedule.tile<1x64xf32>, !schedule.buffer<?x64xf32>
  }
}
func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  %a = schedule.alloc(%n) as input : !schedule.buffer<?x64xf32>
  %b = schedule.alloc(%n) as output : !schedule.buffer<?x64xf32>
  // expected-error @+1 {{expected a buffer that may be written for 'y' of 'copy', got one 'as input'}}
  schedule.launch [@copy] (x = %b, y = %a, m = %n) : !schedule.buffer<?x64xf32>, !schedule.buffer<?x64xf32>, index
  return
}

// -----

schedule.kernel @large(%m: index) guard [#schedule.range<"m", 17 to 64>] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}
// expected-note @+1 {{the kernel that is launched}}
schedule.kernel @small(%m: index, %rank: index) guard [#schedule.range<"m", 1 to 16>] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
  }
}
func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  // expected-error @+1 {{expected a value for 'rank' of 'small', got none}}
  schedule.launch [@large, @small] (m = %n) : index
  return
}

// -----

func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  // expected-error @+1 {{expected a kernel of this module, got 'none'}}
  schedule.launch [@none] (m = %n) : index
  return
}

// -----

func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  // expected-error @+1 {{attribute 'kernels' failed to satisfy constraint: flat symbol ref array attribute with at least 1 elements}}
  schedule.launch [] (m = %n) : index
  return
}

// -----

func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  // expected-error @+1 {{expected one name for each of the 1 arguments, got 0}}
  "schedule.launch"(%n) {kernels = [@none], arg_names = []} : (index) -> ()
  return
}

// -----

// expected-note @+1 {{the kernel that is launched}}
schedule.kernel @signal(%flags: !schedule.buffer<?x8xi32>, %m: index) guard [] {
  %c0 = arith.constant 0 : index
  schedule.loop (%i) = (%c0) to (%m) on workgroups {
    schedule.arrive %flags[%i, %c0, %m] peer(%c0) {scope = #schedule<scope system>} : !schedule.buffer<?x8xi32>
  }
}
func.func @plan(%n: index) attributes {schedule.plan, arg_names = ["n"]} {
  %flags = schedule.alloc(%n) as workspace : !schedule.buffer<?x8xi32>
  // expected-error @+1 {{expected a buffer 'as peer', as it is reached on other devices, for 'flags' of 'signal', got one 'as workspace'}}
  schedule.launch [@signal] (flags = %flags, m = %n) : !schedule.buffer<?x8xi32>, index
  return
}

// -----

// expected-error @+1 {{expected 'index' arguments with a name each in 'arg_names', got 2 arguments and 1 names}}
func.func @plan(%n: index, %rank: index) attributes {schedule.plan, arg_names = ["n"]} {
  return
}

// -----

// expected-error @+1 {{expected 'index' arguments with a name each in 'arg_names', got 1 arguments and 1 names}}
func.func @plan(%n: f32) attributes {schedule.plan, arg_names = ["n"]} {
  return
}

// -----

// expected-error @+1 {{expected sizes of different names, got 'n' twice}}
func.func @plan(%n: index, %m: index) attributes {schedule.plan, arg_names = ["n", "n"]} {
  return
}

// -----

// expected-error @+1 {{expected a function as plan}}
module attributes {schedule.plan} {
}

// -----

// expected-error @+1 {{expected the names of sizes in 'arg_names', got ["n", []]}}
func.func @plan(%n: index, %m: index) attributes {schedule.plan, arg_names = ["n", []]} {
  return
}
