#pragma once

#include <set>
#include <string>
#include <string_view>

namespace cellfuse::cuda {

/// A name of the user or of the plan as a C++ identifier that hides nothing of the prelude; `h'` is `h_new`.
std::string identifier(std::string_view name);

/// Names of one scope of the emitted code.
class Names {
 public:
  /// `hint` as an identifier, with a number where it is taken: `gate`, `gate_2`.
  std::string unique(std::string_view hint);
  void reserve(const std::string& name) { taken_.insert(name); }

 private:
  std::set<std::string> taken_;
};

}  // namespace cellfuse::cuda
