// Several processes, each with several threads, that use the same files at the same time. What comes of it is
// not the same twice; what must hold of it in every case is looked at.
#pragma once

namespace model {

// In the current directory. Says what does not hold; 0: all does.
int together(unsigned seed, int processes);

}  // namespace model
