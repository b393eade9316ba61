#pragma once

#include <algorithm>
#include <string>

namespace cellfuse {

/// `name`, or `name_2`, `name_3`, ... where a declaration of one of the `lists` is called so.
template <typename... Lists>
std::string unused_name(const std::string& name, const Lists&... lists) {
  auto among = [](const auto& list, const std::string& candidate) {
    return std::ranges::any_of(list, [&candidate](const auto& declaration) { return declaration.name == candidate; });
  };
  std::string candidate = name;
  for (int number = 2; (among(lists, candidate) || ...); ++number) candidate = name + "_" + std::to_string(number);
  return candidate;
}

}  // namespace cellfuse
