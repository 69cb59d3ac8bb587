# Turns files into a C++ source of constants: cmake -DOUT=FILE.cpp -DFILES="a.html;b.js" -P embed.cmake
# A file of the name a.b-c becomes cpl::page_files::a_b_c().
set(source "// Made by cmake/embed.cmake; do not edit.\n#include \"cplearn/report/page_files.h\"\n\nnamespace cpl::page_files {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" name ${name})
  file(READ ${file} text)
  string(FIND "${text}" ")embedded\"" taken)
  if(NOT taken EQUAL -1)
    message(FATAL_ERROR "${file} holds the mark that ends a constant")
  endif()
  string(APPEND source "\nconst std::string& ${name}() {\n  static const std::string text = R\"embedded(${text})embedded\";\n  return text;\n}\n")
endforeach()
file(WRITE ${OUT} "${source}\n}  // namespace cpl::page_files\n")
