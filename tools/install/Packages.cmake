# Debian packages: modelc (the tools) and libmodelc-dev (the libraries).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME modelc)
set(CPACK_PACKAGE_VENDOR modelc)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tools development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "modelc maintainers <modelc@localhost>"
  CACHE STRING "Who a package names as its maintainer")

set(CPACK_COMPONENT_TOOLS_DESCRIPTION
  "compiler of large language models for GPUs
It turns the graph of a large language model into GPU kernels that can be
deployed, and estimates tokens per second, energy and cost, each explained
down to its source.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME modelc)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
# What the tools are linked to is read from them.
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
# The compilers of emitted kernels (--emit=binary); the other vendor's is no
# package of Debian in its newest version.
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS
  "clang-${LLVM_VERSION_MAJOR}, lld-${LLVM_VERSION_MAJOR}")

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
  "compiler of large language models for GPUs, libraries
Headers and static libraries with which a program builds a model in C++,
compiles it and reads its estimate.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmodelc-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "modelc (= ${PROJECT_VERSION}), libmlir-${LLVM_VERSION_MAJOR}-dev, llvm-${LLVM_VERSION_MAJOR}-dev, libzstd-dev, zlib1g-dev")
include(CPack)
