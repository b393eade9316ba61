#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/plan.h"
#include "ir/sequence.h"

namespace cellfuse {

/// A program on its way through the levels. A lower level, once there, is the program.
struct Program {
  std::string name;  ///< `inference`, `forward` or `backward`
  Cell cell;
  std::optional<Sequence> sequence;
  std::optional<Plan> plan;
};

/// The lowest level that is there.
std::string print(const Program& program);
void verify(const Program& program);

/// Looking at the passes at work.
struct PassManagerOptions {
  std::vector<std::string> print_after;         ///< names of passes, or `all`
  bool print_changed = false;                   ///< print after each pass that changed something
  std::function<void(std::string_view)> print;  ///< where to; nowhere when empty
  std::optional<bool> verify;                   ///< after each pass; default: in debug builds
  std::string reproducer_folder;                ///< where a failing pass leaves its input; empty: nowhere
};

struct PassTime {
  std::string program;
  std::string pass;
  double seconds = 0;
};

/// Runs passes: times them, prints and verifies what they made, and keeps what a failing one was given.
class PassManager {
 public:
  explicit PassManager(PassManagerOptions options);

  /// Runs `action`, the pass, on the programs that `programs` gives before and after it (a pass may make new ones).
  /// Errors of the user go through as they are; all others become an InternalError that names the pass and the file
  /// with its input.
  void run(std::string_view pass, const std::function<std::span<Program>()>& programs,
           const std::function<void()>& action);

  const std::vector<PassTime>& times() const { return times_; }

 private:
  bool prints_after(std::string_view pass) const;
  void show(std::string_view pass, std::span<const Program> programs,
            const std::map<std::string, std::string>& before) const;
  /// Writes the input of a pass and returns a sentence that says where it is.
  std::string keep_input(std::string_view pass, std::span<const Program> programs) const;

  PassManagerOptions options_;
  std::vector<PassTime> times_;
};

}  // namespace cellfuse
