#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cellfuse {

struct Expr;

/// Every operation of the IR. Elementwise ones come from `elementwise.def`; the others are few and are listed here.
enum class Op : std::uint8_t {
#define ELEMENTWISE(name, ...) name,
#include "ir/elementwise.def"
#undef ELEMENTWISE

  // Leaves.
  Constant,      ///< `value` in every element
  Iota,          ///< the index along `axis`
  Input,         ///< input `index` of the cell at this step
  State,         ///< state `index` before this step
  Param,         ///< param `index`
  Initial,       ///< the caller's value of state `index` before the first step; past the states: of a sample input
  InitialGiven,  ///< scalar: 1 when the caller gave `Initial`, else 0
  Final,         ///< state `index` after the last step
  StepIndex,     ///< scalar: `t` of the language
  Training,      ///< scalar: 1 in a training call, else 0; bound before lowering
  Random,        ///< uniform in [0, 1), multiples of 2^-24, from call site `index`; `flag`: one draw for the sequence
  Placeholder,   ///< stands for the incoming gradient in a user's `grad` expression; `index` numbers the call

  // Views: the same elements in other places.
  Slice,      ///< elements [begin, end) along `axis`
  Concat,     ///< operands side by side along `axis`
  Reshape,    ///< row-major reinterpretation
  Transpose,  ///< of a matrix
  Broadcast,  ///< operand axis i becomes result axis axes[i]; sizes equal or 1

  // Along an axis.
  Sum,     ///< reduces `axis` away
  Prod,    ///< reduces `axis` away
  AMax,    ///< reduces `axis` away; NaN wins
  AMin,    ///< reduces `axis` away; NaN wins
  CumSum,  ///< running sum along `axis`; `flag`: from the end

  // Contractions.
  MatMul,  ///< matrix-vector, vector-matrix, matrix-matrix, as `@`
  Outer,   ///< [n], [m] -> [n, m]

  // The user's own derivative: operands (value, argument 1.., gradient 1..); its value is the first operand.
  WithGrad,

  // Across steps and samples (they appear in derivatives).
  // Their sum runs over all that the domain `begin` has and the node's own domain has not, also where an operand is the
  // same at each of those steps and samples; masked steps are left out.
  Accumulate,       ///< sum over the steps (domain Sample) or over steps and samples (domain Once) of the operand
  AccumulateOuter,  ///< sum over steps and samples of outer(a, b) for rank 1; of transpose(a) @ b for rank 2

  // A product with a matrix shared by the batch; what becomes a GEMM. Operands (x, W); the last axis of x is contracted
  // with axis 1 of W (y = W x), or with axis 0 when `flag` (y = x W).
  Linear,
};

/// How much arithmetic an element of the result costs.
enum class Cost : std::uint8_t { Free, Cheap, Costly, Transcendental };

/// One row of `elementwise.def`.
struct ElementwiseInfo {
  Op op;
  std::string_view spelling;   ///< name in the language, or starting with '.' where users cannot call it by name
  std::string_view arguments;  ///< "x, a=1"
  int arity;
  Cost cost;
  double (*evaluate)(double a, double b, double c);
  /// Gradients of the arguments, given the incoming gradient, the arguments and the result. An Expr without a graph
  /// stands for zero. Null where `expand` is to be differentiated instead.
  std::vector<Expr> (*derivatives)(Expr g, Expr a, Expr b, Expr c, Expr y);
  bool zero_times_anything;                ///< see elementwise.def
  Expr (*expand)(Expr a, Expr b, Expr c);  ///< null for primitives
  std::string_view cpu;                    ///< see elementwise.def; empty unless primitive
};

std::span<const ElementwiseInfo> elementwise_ops();
bool is_elementwise(Op op);
/// Row of an elementwise operation. Throws InternalError for any other.
const ElementwiseInfo& elementwise(Op op);
/// The row users call `name`, if there is one.
const ElementwiseInfo* find_elementwise(std::string_view name);

/// Name of any operation as the printers show it.
std::string_view name(Op op);
bool is_leaf(Op op);
bool is_view(Op op);
bool is_reduction(Op op);  ///< Sum, Prod, AMax, AMin
/// Arithmetic an element of the result costs; reductions and contractions count per element read.
Cost cost(Op op);

}  // namespace cellfuse
