#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "frontend/language/value.h"

namespace cellfuse {

/// What a name stands for.
struct Symbol {
  enum class Kind : std::uint8_t { Dim, Constant, Input, State, Param, Buffer, Local, Counter, Argument };
  Kind kind = Kind::Local;
  Value value;
  Span span;
  bool used = false;
};

/// "a dimension", "a state", ...
inline std::string describe(Symbol::Kind kind) {
  switch (kind) {
    case Symbol::Kind::Dim: return "a dimension";
    case Symbol::Kind::Constant: return "a constant";
    case Symbol::Kind::Input: return "an input";
    case Symbol::Kind::State: return "a state";
    case Symbol::Kind::Param: return "a param";
    case Symbol::Kind::Buffer: return "a buffer";
    case Symbol::Kind::Local: return "a value";
    case Symbol::Kind::Counter: return "the counter of a loop";
    case Symbol::Kind::Argument: return "an argument";
  }
  return {};
}

/// Names of a cell or of one call of a function; a function in a cell also sees the names of the cell.
class Scope {
 public:
  explicit Scope(Scope* parent = nullptr) : parent_(parent) {}

  Symbol* find_own(const std::string& name) {
    const auto it = symbols_.find(name);
    return it == symbols_.end() ? nullptr : &it->second;
  }
  Symbol* find(const std::string& name) {
    Symbol* own = find_own(name);
    return own != nullptr || parent_ == nullptr ? own : parent_->find(name);
  }
  /// True when the names of `other` can be used here.
  bool within(const Scope& other) const { return this == &other || (parent_ != nullptr && parent_->within(other)); }
  Symbol& define(const std::string& name, Symbol symbol) { return symbols_[name] = std::move(symbol); }
  void erase(const std::string& name) { symbols_.erase(name); }

  /// Every name that can be used here and could be typed.
  std::vector<std::string> names() const {
    std::vector<std::string> all = parent_ != nullptr ? parent_->names() : std::vector<std::string>();
    for (const auto& [name, symbol] : symbols_) {
      if (!name.starts_with('.')) all.push_back(name);
    }
    return all;
  }
  const std::map<std::string, Symbol>& symbols() const { return symbols_; }

 private:
  Scope* parent_;
  std::map<std::string, Symbol> symbols_;
};

}  // namespace cellfuse
