#pragma once
// cpp-httplib as Debian compiles it (its pkg-config file says so): without these definitions its
// classes have another layout here than in the library.

#define CPPHTTPLIB_OPENSSL_SUPPORT
#define CPPHTTPLIB_ZLIB_SUPPORT
#define CPPHTTPLIB_BROTLI_SUPPORT
#include <httplib.h>
