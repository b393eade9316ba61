#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/elements.h"
#include "codegen/cuda/identifiers.h"
#include "codegen/cuda/spelling.h"
#include "codegen/cuda/writer.h"

namespace cellfuse::cuda {

/// Prints the elements of a nest: a variable for each value that has a name or is read more than once, the others where
/// they are read.
class Statements {
 public:
  /// `variables`: what the index variables are called, by number; divisions of them are spelled out.
  Statements(const KernelFrame& frame, const Elements& elements, std::vector<std::string> variables, Names names);

  /// The variables of the elements for which `wanted` holds.
  void declare(Writer& out, const std::function<bool(const Element&)>& wanted);
  /// An element where it is read.
  Expression use(int element) const;
  std::string text(int element) const { return use(element).text; }

  /// Stores `value`, an expression of an element's kind, to `at` in the row of `buffer`.
  std::string store(int buffer, const codegen::Linear& at, const std::string& value, bool vector) const;
  /// `buffer` at `at`, as a value.
  std::string load(int buffer, const codegen::Linear& at, bool vector) const;
  /// Without the number of the lane.
  std::string index(const codegen::Linear& at) const;
  /// `Value` or `Real`.
  std::string type(bool vector) const { return vector ? "Value" : "Real"; }

  /// A read that comes ahead of its time is replaced by a variable.
  void replace(int element, const std::string& variable) { replaced_[static_cast<std::size_t>(element)] = variable; }

  Names& names() { return names_; }

 private:
  bool needs_variable(const Element& element) const;
  Expression definition(int element) const;
  Expression memory(int element) const;
  Expression random(const Element& element) const;
  std::string address(int buffer, const codegen::Linear& at) const;
  std::string access(int buffer, const codegen::Linear& at) const;
  bool is_aligned(int buffer, const codegen::Linear& at) const;
  Expression variable(int id) const;

  const KernelFrame& frame_;
  const Elements& elements_;
  std::vector<std::string> variables_;
  Names names_;
  std::vector<std::string> bound_;     ///< by element: its variable, or empty
  std::vector<std::string> replaced_;  ///< by element
};

}  // namespace cellfuse::cuda
