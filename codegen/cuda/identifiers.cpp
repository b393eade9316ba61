#include "codegen/cuda/identifiers.h"

#include <algorithm>
#include <cctype>

namespace cellfuse::cuda {

namespace {

/// Words of the language, and what kernels use of the prelude or define themselves.
const std::set<std::string_view>& reserved() {
  static const std::set<std::string_view> words{
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
      "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit",
      "const_cast", "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
      "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
      "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short",
      "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this",
      "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual",
      "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
      // The prelude.
      "DEVICE", "Lanes", "Traits", "Tensor", "Team", "Draw", "Sum", "Prod", "AMax", "AMin", "load", "load_aligned",
      "load_strided", "read", "read_aligned", "read_strided", "store", "store_aligned", "store_strided", "uniform",
      "draw_at", "count_up", "is_live", "flag_of", "index_of_step", "rows_of", "first_of_segment", "math", "accurate",
      "approximate", "infinity", "not_a_number", "across_group", "across_lanes", "shared_memory", "thread_in_block",
      "block_in_grid", "blocks_in_grid", "add_up_slots", "wait_for_previous_kernel", "let_next_kernel_start",
      // Kernels.
      "Real", "Value", "Call", "CallHeader", "call", "table", "iteration", "row", "row_of_block", "sample", "time",
      "unit", "live", "segment", "slot", "step", "team", "line", "along", "part", "thread", "partials", "scratch",
      "block", "element", "carry", "fetch", "ahead", "place", "kAhead", "steps", "linux", "unix"};
  return words;
}

}  // namespace

std::string identifier(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c == '\'') {
      result += "_new";
      continue;
    }
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128;
    result += fits ? c : '_';
  }
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result.front())) != 0) result.insert(0, "v");
  // Names with two underscores, or a leading one, belong to the compiler.
  std::string tidy;
  for (const char c : result) {
    if (c != '_' || (!tidy.empty() && tidy.back() != '_')) tidy += c;
  }
  if (tidy.empty()) tidy = "v";
  if (reserved().contains(tidy)) tidy += '_';
  return tidy;
}

std::string Names::unique(std::string_view hint) {
  const std::string base = identifier(hint);
  std::string candidate = base;
  for (int number = 2; !taken_.insert(candidate).second; ++number) {
    candidate = base + (base.back() == '_' ? "" : "_") + std::to_string(number);
  }
  return candidate;
}

}  // namespace cellfuse::cuda
