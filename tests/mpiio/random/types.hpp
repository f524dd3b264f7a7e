// Random datatypes: nested, with gaps, of every constructor.
#pragma once

#include <mpi.h>

#include <memory>

#include "dice.hpp"

// Committed; freed with the last copy of the pointer.
using Type = std::shared_ptr<MPI_Datatype>;

// A few bytes: what a view counts in.
Type random_etype(Dice& dice);

// Made of `element`s. `ordered`: as a file's type must be, never going back.
Type random_type(Dice& dice, const Type& element, int depth, bool ordered);

// The same with that extent.
Type resized(const Type& type, MPI_Aint extent);

// `count` of them at `place`, for MPI_BOTTOM.
Type by_address(void* place, int count, const Type& type);

MPI_Aint extent_of(const Type& type);
MPI_Aint size_of(const Type& type);
