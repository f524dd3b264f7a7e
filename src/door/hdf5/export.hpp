// What the plugins take from the door's library.
#pragma once

#define FOREBAY_HDF5_EXPORT __attribute__((visibility("default")))
