// How fast homes are, as this process has seen: one record for each file system.
//
// Thread-safe. What `forebay profile` measured of a home speaks for the files below it until there is more.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "config/profile.hpp"
#include "policy/admission.hpp"

namespace forebay {

class HomeSpeeds {
 public:
  explicit HomeSpeeds(Profile profile) : profile_(std::move(profile)) {}

  // Of the home on `device`, of which `path` is a file.
  [[nodiscard]] std::shared_ptr<WriteAdmission> of(std::uint64_t device, const std::string& path) {
    const std::scoped_lock lock(mutex_);
    auto& speed = speeds_[device];
    if (speed != nullptr) return speed;
    const Figures* nearest = nullptr;
    for (const auto& home : profile_.homes) {
      const bool above = path.starts_with(home.path.ends_with('/') ? home.path : home.path + "/");
      if (above && (nearest == nullptr || home.path.size() > nearest->path.size())) nearest = &home;
    }
    speed = nearest == nullptr
                ? std::make_shared<WriteAdmission>()
                : std::make_shared<WriteAdmission>(nearest->bandwidth,
                                                   static_cast<std::uint64_t>(nearest->latency.count()));
    return speed;
  }

 private:
  const Profile profile_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<WriteAdmission>> speeds_;  // guarded by mutex_
};

}  // namespace forebay
