# What cplearn stands on, found the same way by its own build and by find_package(cplearn).

function(cplearn_need found package)
  if(NOT ${found})
    message(FATAL_ERROR "cplearn needs ${package}, which was not found.\n"
                        "On Debian: sudo apt-get install ${package}   (or run scripts/setup.sh, which installs all of them)")
  endif()
endfunction()

find_package(Torch QUIET)
cplearn_need(Torch_FOUND libtorch-dev)
# Of the libtorch that was found, and not of another one in the system's folders.
find_file(CPLEARN_TORCH_CONFIG ATen/Config.h PATHS ${TORCH_INCLUDE_DIRS} NO_DEFAULT_PATH)
if(CPLEARN_TORCH_CONFIG)
  file(STRINGS ${CPLEARN_TORCH_CONFIG} CPLEARN_TORCH_ONEDNN REGEX "AT_MKLDNN_ENABLED\\(\\) 1")
endif()
find_package(hwy QUIET)
cplearn_need(hwy_FOUND libhwy-dev)
find_package(nlohmann_json QUIET)
cplearn_need(nlohmann_json_FOUND nlohmann-json3-dev)
find_package(CLI11 QUIET)
cplearn_need(CLI11_FOUND libcli11-dev)
# Debian keeps OpenCVConfig.cmake in a package that pulls in all of OpenCV; three modules are enough.
find_package(OpenCV QUIET COMPONENTS core imgproc imgcodecs)
find_path(OpenCV_HEADERS opencv2/imgcodecs.hpp PATH_SUFFIXES opencv4)
foreach(module core imgproc imgcodecs)
  if(NOT TARGET opencv_${module})
    find_library(OpenCV_${module}_LIBRARY opencv_${module})
    cplearn_need(OpenCV_${module}_LIBRARY libopencv-${module}-dev)
    cplearn_need(OpenCV_HEADERS libopencv-imgcodecs-dev)
    add_library(opencv_${module} INTERFACE IMPORTED)
    set_target_properties(opencv_${module} PROPERTIES
                          INTERFACE_LINK_LIBRARIES ${OpenCV_${module}_LIBRARY}
                          INTERFACE_INCLUDE_DIRECTORIES ${OpenCV_HEADERS})
  endif()
endforeach()
find_package(JPEG QUIET)
cplearn_need(JPEG_FOUND libjpeg-dev)
find_package(PNG QUIET)
cplearn_need(PNG_FOUND libpng-dev)
find_path(matio_HEADERS matio.h)
find_library(matio_LIBRARY matio)
cplearn_need(matio_LIBRARY libmatio-dev)
cplearn_need(matio_HEADERS libmatio-dev)
if(NOT TARGET matio)
  add_library(matio INTERFACE IMPORTED)
  set_target_properties(matio PROPERTIES INTERFACE_LINK_LIBRARIES ${matio_LIBRARY}
                                         INTERFACE_INCLUDE_DIRECTORIES ${matio_HEADERS})
endif()
find_path(cpp_httplib_HEADERS httplib.h)
find_library(cpp_httplib_LIBRARY cpp-httplib)
cplearn_need(cpp_httplib_LIBRARY libcpp-httplib-dev)
find_package(OpenSSL QUIET)  # newer versions call it from their header
if(NOT TARGET cpp_httplib)
  add_library(cpp_httplib INTERFACE IMPORTED)
  if(OpenSSL_FOUND)
    target_link_libraries(cpp_httplib INTERFACE OpenSSL::SSL OpenSSL::Crypto)
  endif()
  target_link_libraries(cpp_httplib INTERFACE ${cpp_httplib_LIBRARY})
  set_target_properties(cpp_httplib PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${cpp_httplib_HEADERS})
endif()
# at::parallel_for is a template in libtorch's headers: without OpenMP's flag it is silently serial.
find_package(OpenMP QUIET)
cplearn_need(OpenMP_CXX_FOUND "g++, or with clang++ libomp-dev")
find_package(Threads REQUIRED)
find_package(benchmark QUIET)
find_file(CPLEARN_D3 d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH)  # only to build

# libtorch from 2.14 on requires C++20; before that, C++17 keeps older compilers welcome.
if(Torch_VERSION VERSION_GREATER_EQUAL 2.14)
  set(CPLEARN_CXX_STANDARD 20)
else()
  set(CPLEARN_CXX_STANDARD 17)
endif()
