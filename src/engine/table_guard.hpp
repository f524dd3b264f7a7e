// Ends a hold on the file table.
#pragma once

#include "engine/peers.hpp"

namespace forebay {

class TableGuard {
 public:
  TableGuard(const Peers& peers, Word& word) : peers_(peers), word_(word) {}
  TableGuard(const TableGuard&) = delete;
  TableGuard& operator=(const TableGuard&) = delete;
  ~TableGuard() { peers_.unlock(word_); }

 private:
  const Peers& peers_;
  Word& word_;
};

}  // namespace forebay
