#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "frontend/builder/var.h"
#include "frontend/language/language.h"

namespace cellfuse::build {

/// A value carried from step to step; as a Var, its value before the step.
class State : public Var {
 public:
  using Var::Var;
  /// Gives the state its value after the step: `h' = value`. Once for each state.
  void next(const Argument& value);
  /// The value after the step, once it is given.
  Var next() const;
};

/// A cell written in C++:
///
///     CellBuilder cell("rnn");
///     const Var I = cell.dim("I"), H = cell.dim("H");
///     const Var x = cell.input("x", {I});
///     State h = cell.state("h", {H});
///     const Var W = cell.param("W", {H, I}), U = cell.param("U", {H, H}), b = cell.param("b", {H});
///     h.next(tanh(W * x + U * h + b));
///     cell.output(h);
///     Cell built = cell.build({.dims = {{"I", 32}, {"H", 64}}});
///
/// It records the same tree as the parser of the language makes, so all rules and messages are those of the language.
/// The Vars of a builder may outlive it; use one from a single thread at a time.
class CellBuilder {
 public:
  using Location = std::source_location;

  explicit CellBuilder(const std::string& name, Location where = Location::current());

  /// A dimension, for shapes and as a number.
  Var dim(const std::string& name, std::optional<std::int64_t> default_value = std::nullopt,
          Location where = Location::current());
  /// A real constant, bound when the cell is compiled.
  Var constant(const std::string& name, double default_value, Location where = Location::current());

  /// Given at each step. Without a shape: a scalar.
  Var input(const std::string& name, std::initializer_list<Argument> shape = {}, Location where = Location::current());
  /// Trained, shared by all steps.
  Var param(const std::string& name, std::initializer_list<Argument> shape = {}, Location where = Location::current());
  /// Given by the caller, not trained.
  Var buffer(const std::string& name, std::initializer_list<Argument> shape = {}, Location where = Location::current());
  /// Carried from step to step; `start` is its value before the first step when the caller gives none: a number, or a
  /// param or buffer (a learned start).
  State state(const std::string& name, std::initializer_list<Argument> shape = {}, const Argument& start = 0,
              Location where = Location::current());

  /// The value after the step of a state, under the state's name.
  void output(const State& state, Location where = Location::current());
  void output(const std::string& name, const Argument& value, Location where = Location::current());

  /// The index of the step (`t` of the language).
  Var step_index();
  /// A number as a Var: `zeros(cell.number(4))`.
  Var number(const Argument& value);

  /// Repeats `body` for k from `begin` to `end` - 1; both may be dimensions. `body` takes k and the value carried so
  /// far and returns the next one; the last one is the result.
  Var repeat(const Argument& begin, const Argument& end, const Argument& initial,
             const std::function<Var(const Var& k, const Var& carried)>& body);

  /// `value(arguments)` with derivatives of its own: `gradients` takes the arguments and the incoming gradient and
  /// returns the gradient of each argument.
  Var with_gradient(const std::vector<Argument>& arguments,
                    const std::function<Var(const std::vector<Var>& arguments)>& value,
                    const std::function<std::vector<Var>(const std::vector<Var>& arguments, const Var& g)>& gradients,
                    Location where = Location::current());

  /// The recorded cell, as the language has it after reading a text. Its check and build report mistakes at the lines
  /// of the caller.
  ParsedFile file() const;
  /// The cell for these values of its dimensions and constants. Throws CompileError with everything that is wrong.
  Cell build(const Binding& binding) const;

 private:
  std::shared_ptr<Recorder> recorder_;
};

}  // namespace cellfuse::build
