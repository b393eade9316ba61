// The arithmetic of elements: what the op table says, and random numbers.

#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <array>

#include "codegen/cpu/elements.h"
#include "codegen/cpu/math.h"
#include "codegen/cpu/philox.h"
#include "codegen/cpu/storage.h"
#include "ir/diagnostic.h"
#include "ir/expr.h"
#include "ir/philox.h"

namespace cellfuse::cpu {

namespace {

using Operands = std::array<llvm::Value*, 3>;

llvm::CmpInst::Predicate predicate(std::string_view spelling) {
  using P = llvm::CmpInst;
  static constexpr std::pair<std::string_view, llvm::CmpInst::Predicate> kNames[] = {
      {"cmp.olt", P::FCMP_OLT}, {"cmp.ole", P::FCMP_OLE}, {"cmp.ogt", P::FCMP_OGT},
      {"cmp.oge", P::FCMP_OGE}, {"cmp.oeq", P::FCMP_OEQ}, {"cmp.une", P::FCMP_UNE}};
  for (const auto& [name, value] : kNames) {
    if (name == spelling) return value;
  }
  throw InternalError("codegen/cpu", "unknown comparison " + std::string(spelling));
}

llvm::Value* intrinsic(Builder& b, std::string_view spelling, const Operands& x) {
  if (spelling == "llvm.minimum") return emit_minimum(b, x[0], x[1]);
  if (spelling == "llvm.maximum") return emit_maximum(b, x[0], x[1]);
  if (spelling == "llvm.fabs") return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x[0]);
  if (spelling == "llvm.floor") return b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, x[0]);
  if (spelling == "llvm.sqrt") return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]);
  throw InternalError("codegen/cpu", "unknown intrinsic " + std::string(spelling));
}

llvm::Value* instruction(const Unit& unit, Builder& b, const ElementwiseInfo& info, const Operands& x) {
  const std::string_view spelling = info.cpu;
  if (spelling == "fneg") return b.CreateFNeg(x[0]);
  if (spelling == "fadd") return b.CreateFAdd(x[0], x[1]);
  if (spelling == "fsub") return b.CreateFSub(x[0], x[1]);
  if (spelling == "fmul") return b.CreateFMul(x[0], x[1]);
  if (spelling == "fdiv") return b.CreateFDiv(x[0], x[1]);
  if (spelling.starts_with("llvm.")) return intrinsic(b, spelling, x);
  if (spelling.starts_with("math.")) {
    return emit_math(unit, b, spelling.substr(5), std::span(x.data(), static_cast<std::size_t>(info.arity)));
  }
  throw InternalError("codegen/cpu", "unknown instruction " + std::string(spelling));
}

}  // namespace

NodeId Elements::expanded(NodeId id, const ElementwiseInfo& info) {
  auto [it, is_new] = expansions_.try_emplace(id, kNoNode);
  if (is_new) {
    const std::vector<NodeId> operands = unit_.graph[id].operands;
    std::array<Expr, 3> arguments{};
    for (std::size_t i = 0; i < operands.size(); ++i) arguments[i] = {&unit_.graph, operands[i]};
    it->second = info.expand(arguments[0], arguments[1], arguments[2]).id;
  }
  return it->second;
}

bool Elements::is_comparison(NodeId node) const {
  const Op op = unit_.graph[node].op;
  return is_elementwise(op) && elementwise(op).cpu.starts_with("cmp.") && source(node) == nullptr;
}

Element Elements::primitive(const ElementwiseInfo& info, NodeId id, IndexId index) {
  const std::vector<NodeId> ids = unit_.graph[id].operands;
  if (is_comparison(id)) {
    const Element flag = condition(id, index);
    llvm::Type* type = flag.vector ? static_cast<llvm::Type*>(unit_.vector(unit_.real)) : unit_.real;
    llvm::Value* number =
        scopes_.at(flag.scope).CreateSelect(flag.value, real_constant(type, 1), real_constant(type, 0));
    return {number, flag.scope, flag.vector};
  }
  std::array<Element, 3> operands{};
  const bool selects = info.cpu == "select";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    operands[i] = selects && i == 0 ? condition(ids[0], index) : get(ids[i], index);
  }
  const int scope = unify(std::span(operands.data(), ids.size()));
  const Operands x{operands[0].value, operands[1].value, operands[2].value};
  Builder& builder = scopes_.at(scope);
  llvm::Value* result = selects ? builder.CreateSelect(x[0], x[1], x[2]) : instruction(unit_, builder, info, x);
  return {result, scope, operands[0].vector};
}

// As `i1`: a comparison, the product of two, or whether a number is not 0.
Element Elements::condition(NodeId id, IndexId index) {
  const Op op = unit_.graph[id].op;
  const std::vector<NodeId> ids = unit_.graph[id].operands;
  if (source(id) == nullptr) {
    if (op == Op::Mul && is_comparison(ids[0]) && is_comparison(ids[1])) {
      std::array<Element, 2> flags{condition(ids[0], index), condition(ids[1], index)};
      const int scope = unify(flags);
      return {scopes_.at(scope).CreateAnd(flags[0].value, flags[1].value), scope, flags[0].vector};
    }
    if (is_comparison(id)) {
      std::array<Element, 2> operands{get(ids[0], index), get(ids[1], index)};
      const int scope = unify(operands);
      llvm::Value* flag =
          scopes_.at(scope).CreateFCmp(predicate(elementwise(op).cpu), operands[0].value, operands[1].value);
      return {flag, scope, operands[0].vector};
    }
  }
  const Element number = get(id, index);
  llvm::Value* zero = llvm::Constant::getNullValue(number.value->getType());
  return {scopes_.at(number.scope).CreateFCmpUNE(number.value, zero), number.scope, number.vector};
}

// The key and the place of the draw belong to the row; each element is a draw of its own.
Element Elements::random(const Node& node, IndexId index) {
  const bool per_sample = node.begin == 0 && node.domain != Domain::Once;
  const Linear element = indices_.flat(node.shape, indices_[index]);
  Builder& entry = scopes_.at(0);
  DrawPlace place;
  llvm::Value* golden = entry.getInt64(0x9E3779B97F4A7C15ULL);
  place.key = entry.CreateAdd(frame_.seed(entry), entry.CreateMul(frame_.offset(entry), golden));
  llvm::Value* bits = entry.CreateShl(frame_.layer(entry), 10);
  bits = entry.CreateAdd(bits, entry.CreateShl(frame_.direction(entry), 20));
  place.place = entry.CreateAdd(bits, entry.getInt32(static_cast<std::uint32_t>(node.index)));
  place.sample = place.step = entry.getInt32(kSharedDraw);

  int scope = indices_.scope(element);
  auto at_place = [&](int row_scope) -> Builder& {
    scope = std::max(scope, row_scope);
    return scopes_.at(row_scope);
  };
  if (per_sample) {
    check_internal(place_.sample != nullptr, "codegen/cpu", "a draw for each sample in a kernel without samples");
    llvm::Value* first = frame_.first_sample(scopes_.at(0));
    Builder& b = at_place(place_.sample_scope);
    place.sample = b.CreateTrunc(b.CreateAdd(place_.sample, first), unit_.i32());
  }
  if (!node.flag && per_sample) {
    int row_scope = 0;
    llvm::Value* pointer = base(buffer_of(Space::StepIndex), row_scope);
    place.step = load_one(unit_, at_place(row_scope), pointer, Stored::Integer32);
  } else if (!node.flag) {
    check_internal(place_.step != nullptr, "codegen/cpu", "a draw for each step in a kernel without steps");
    llvm::Value* first = frame_.first_processed(scopes_.at(0));
    Builder& b = at_place(place_.step_scope);
    place.step = b.CreateTrunc(b.CreateAdd(place_.step, first), unit_.i32());
  }
  llvm::Value* number = indices_.value(element);
  Builder& b = scopes_.at(scope);
  if (!number->getType()->isVectorTy()) number = b.CreateTrunc(number, unit_.i32());
  return {emit_uniform(unit_, b, place, number), scope, number->getType()->isVectorTy()};
}

}  // namespace cellfuse::cpu
