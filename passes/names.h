#pragma once

#include <string>
#include <vector>

namespace cellfuse {

/// `name`, or `name_2`, `name_3`, ... where a declaration of `list` is called so.
template <typename Declaration>
std::string unused_name(const std::vector<Declaration>& list, const std::string& name) {
  auto taken = [&list](const std::string& candidate) {
    for (const Declaration& declaration : list) {
      if (declaration.name == candidate) return true;
    }
    return false;
  };
  std::string candidate = name;
  for (int number = 2; taken(candidate); ++number) candidate = name + "_" + std::to_string(number);
  return candidate;
}

}  // namespace cellfuse
