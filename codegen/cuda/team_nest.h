#pragma once

#include "codegen/cuda/layout.h"
#include "codegen/cuda/nest_code.h"

namespace cellfuse::cuda {

/// The code of a nest whose elements are shared among a team.
class TeamNest {
 public:
  TeamNest(const KernelFrame& frame, const Layout& layout, const NestBody& body, const Names& names, Writer& out)
      : frame_(frame), layout_(layout), body_(body), code_(frame, body, names), out_(out) {}

  /// Whether threads exchange partial totals through memory; then it must be set before `emit`.
  bool needs_partials() const;
  void set_partials(const std::string& memory) { partials_ = memory; }

  void emit();

 private:
  void each();
  void reduce_all();
  void reduce_lines();
  void reduce_slices();
  void sum_lines();
  void sum_together();

  std::string loop(const char* name, const std::string& first, std::int64_t end, std::int64_t step) const;
  std::string index(const char* name, const std::string& value) const;
  /// Opens a loop over the groups of lanes.
  void open_units();
  void name_totals();
  void declare_totals(const std::string& type);
  /// Adds the elements at hand to the totals.
  void accumulate();
  /// `which` says for which buffers.
  enum class Which : std::uint8_t { All, OfEveryThread, InMemory };
  void store_totals(Which which = Which::All);
  std::vector<StoredElement> select(const std::vector<StoredElement>& stores, Which which) const;
  std::string operation(const Total& total) const;
  std::string partials(std::size_t total, std::int64_t room) const;
  std::int64_t team() const { return layout_.team; }

  const KernelFrame& frame_;
  const Layout& layout_;
  const NestBody& body_;
  NestCode code_;
  Writer& out_;
  std::vector<std::string> totals_;  ///< variables, by total
  std::string partials_;             ///< memory for partial totals, as code
};

}  // namespace cellfuse::cuda
