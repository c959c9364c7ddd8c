# How every library and tool of the project is built: fully static, one
# precompiled header, warnings as errors.

include(${CMAKE_CURRENT_LIST_DIR}/StaticLlvm.cmake)
add_compile_definitions(LLVM_BUILD_STATIC)
# Of the libraries that LLVM names, only those that a tool calls.
add_link_options(LINKER:--as-needed)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${LLVM_DEFINITIONS_LIST})
add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter
  -Wno-covered-switch-default)

# One precompiled header for all: everything links MLIRIR because it pulls in
# inline functions of MLIR.
# Written once: configuring again compiles nothing again.
if(NOT EXISTS ${PROJECT_BINARY_DIR}/modelc_pch.cpp)
  file(WRITE ${PROJECT_BINARY_DIR}/modelc_pch.cpp "")
endif()
add_library(modelc_pch OBJECT ${PROJECT_BINARY_DIR}/modelc_pch.cpp)
target_precompile_headers(modelc_pch PRIVATE
  <mlir/IR/Builders.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/OpImplementation.h>
  <mlir/Pass/Pass.h> <llvm/ADT/TypeSwitch.h> <map> <string> <vector>)

# modelc_add_library(Name SOURCES a.cpp ... LINK own libs ... MLIR upstream libs ...
#                    DEPENDS generated targets ...)
function(modelc_add_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "SOURCES;LINK;MLIR;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} ${ARG_MLIR} MLIRIR)
  if(NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM modelc_pch)
  endif()
  foreach(dep IN LISTS ARG_DEPENDS)
    add_dependencies(${name} ${dep})
  endforeach()
  set_property(GLOBAL APPEND PROPERTY MODELC_LIBS ${name})
endfunction()

# modelc_add_tool(name SOURCES ... LINK ... MLIR ...)
function(modelc_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;MLIR" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} ${ARG_MLIR} MLIRIR)
  target_precompile_headers(${name} REUSE_FROM modelc_pch)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set_property(GLOBAL APPEND PROPERTY MODELC_TOOLS ${name})
endfunction()
