#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "codegen/cuda/nest_body.h"
#include "codegen/cuda/statements.h"

namespace cellfuse::cuda {

/// The code of one nest under construction.
class NestCode {
 public:
  NestCode(const KernelFrame& frame, const NestBody& body, const Names& names)
      : frame_(frame), body_(body), statements_(frame, body.elements, body.variables, names) {}

  const NestBody& body() const { return body_; }
  Statements& statements() { return statements_; }

  /// `using Value = ...;` where the nest has lanes.
  void define_value(Writer& out) const;
  /// Variables of the elements that depend on loops up to `scope` deep.
  void declare(Writer& out, int scope);
  /// Stores of values, or of a total that `total` holds.
  void store(Writer& out, const std::vector<StoredElement>& stores, const std::string& total = {});
  /// Sums over the steps are kept in these variables instead, by position in NestBody::stores.
  void keep_sums(std::map<const StoredElement*, std::string> sums) { sums_ = std::move(sums); }

  /// Whether the store has lanes.
  bool is_vector(const StoredElement& stored) const;

 private:
  std::string as_stored(const StoredElement& stored, const std::string& total, bool vector) const;
  std::string held(const StoredElement& stored, bool vector) const;
  void add(Writer& out, const StoredElement& stored, const std::string& value, bool vector) const;

  const KernelFrame& frame_;
  const NestBody& body_;
  Statements statements_;
  std::map<const StoredElement*, std::string> sums_;
};

}  // namespace cellfuse::cuda
