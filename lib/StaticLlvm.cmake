# The packaged MLIR archives name libLLVM.so as their interface dependency
# ("LLVM"). Replace it by the archives of the components that MLIR uses, so that
# the tools start in milliseconds and need no shared LLVM. Programs that use the
# installed libraries do the same.
set(LLVM_LINK_LLVM_DYLIB OFF)
set(MLIR_LINK_MLIR_DYLIB OFF)
llvm_map_components_to_libnames(MODELC_LLVM_ARCHIVES
  Support Core BinaryFormat Remarks AsmParser BitReader BitWriter TargetParser
  TransformUtils SupportLSP FrontendOpenMP FrontendOffloading)
get_property(_mlir_libs GLOBAL PROPERTY MLIR_ALL_LIBS)
foreach(_lib IN LISTS _mlir_libs)
  if(TARGET ${_lib})
    get_target_property(_deps ${_lib} INTERFACE_LINK_LIBRARIES)
    if(_deps AND "LLVM" IN_LIST _deps)
      list(REMOVE_ITEM _deps LLVM)
      set_target_properties(${_lib} PROPERTIES
        INTERFACE_LINK_LIBRARIES "${_deps};${MODELC_LLVM_ARCHIVES}")
    endif()
  endif()
endforeach()
