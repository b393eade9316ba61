#pragma once

#include <chrono>
#include <cstdint>
#include <string>

/// Shows how far training has come: a bar that moves on a terminal, now and then a line elsewhere.
class Progress {
 public:
  Progress();

  double seconds() const;  ///< since the start
  /// Symbols read from now on count towards the speed.
  void count(std::int64_t symbols) { symbols_ += symbols; }
  double symbols_per_second() const { return static_cast<double>(symbols_) / seconds(); }

  /// `share` of the work is done, from 0 to 1.
  void show(double share, std::int64_t epoch, double bits);
  /// Prints a line for good.
  void line(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool bar_shown_ = false;
  Clock::time_point start_;
  double shown_at_ = 0;
  std::int64_t symbols_ = 0;
};
