#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/cpu/unit.h"

namespace cellfuse::cpu {

/// A value of a kernel's arithmetic: one number, or one for each lane, and the scope in which it is computed.
struct Element {
  llvm::Value* value = nullptr;
  int scope = 0;
  bool vector = false;
};

/// A loop under construction. Its body runs at least once.
struct OpenLoop {
  llvm::BasicBlock* preheader = nullptr;
  llvm::BasicBlock* body = nullptr;
  llvm::PHINode* index = nullptr;
  llvm::Value* end = nullptr;
  std::int64_t step = 1;
};

/// Straight-line code at each depth of a loop nest under construction: 0 is the function's entry, the last the
/// innermost loop's body. Code can be added to every one of them at any time, so that a value is computed in the
/// outermost scope that has what it needs, and once.
class Scopes {
 public:
  /// Values kept by key; a scope's values are forgotten when it closes.
  struct Scope {
    llvm::BasicBlock* block = nullptr;
    std::unordered_map<std::uint64_t, Element> elements;  ///< by node and index
    std::unordered_map<llvm::Value*, llvm::Value*> splats;
    std::unordered_map<int, llvm::Value*> bases;  ///< pointer to the row of a buffer
  };

  Scopes(const Unit& unit, llvm::Function* function);

  int innermost() const { return static_cast<int>(scopes_.size()) - 1; }
  Scope& operator[](int scope) { return scopes_[static_cast<std::size_t>(scope)]; }
  /// The builder, set to where code of this scope goes.
  Builder& at(int scope);
  Builder& here() { return at(innermost()); }

  /// Opens `for (index = begin; index != end; index += step)` in the innermost scope.
  OpenLoop open(llvm::Value* begin, llvm::Value* end, std::int64_t step, const std::string& name);
  /// A value carried around the innermost loop; `close` gives its next value.
  llvm::PHINode* carry(const OpenLoop& loop, llvm::Value* initial, const std::string& name);
  void close(const OpenLoop& loop, const std::vector<std::pair<llvm::PHINode*, llvm::Value*>>& carried = {});

  /// One value in all lanes.
  llvm::Value* splat(const Element& element);
  llvm::Value* splat(llvm::Value* value, int scope);

 private:
  const Unit* unit_;
  llvm::Function* function_;
  Builder builder_;
  std::vector<Scope> scopes_;
};

}  // namespace cellfuse::cpu
