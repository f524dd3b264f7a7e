// The same program in C++.
#include "cache_vol.c"
