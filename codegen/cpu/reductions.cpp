// Nests that sum, multiply or compare along an axis.

#include <algorithm>
#include <limits>

#include "codegen/cpu/kernel.h"
#include "codegen/cpu/math.h"
#include "codegen/cpu/storage.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

double neutral(Op op) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case Op::Sum: return 0;
    case Op::Prod: return 1;
    case Op::AMax: return -kInfinity;
    case Op::AMin: return kInfinity;
    default: throw InternalError("codegen/cpu", "not a reduction: " + std::string(name(op)));
  }
}

llvm::Value* combine(Builder& b, Op op, llvm::Value* a, llvm::Value* x) {
  switch (op) {
    case Op::Sum: return b.CreateFAdd(a, x);
    case Op::Prod: return b.CreateFMul(a, x);
    case Op::AMax: return emit_maximum(b, a, x);
    case Op::AMin: return emit_minimum(b, a, x);
    default: throw InternalError("codegen/cpu", "not a reduction: " + std::string(name(op)));
  }
}

/// All lanes into one number: halves upon halves, always in the same order.
llvm::Value* across_lanes(Builder& b, Op op, llvm::Value* vector) {
  auto width = static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  while (width > 1) {
    width /= 2;
    std::vector<int> low;
    std::vector<int> high;
    for (int lane = 0; lane < width; ++lane) {
      low.push_back(lane);
      high.push_back(lane + width);
    }
    vector = combine(b, op, b.CreateShuffleVector(vector, low), b.CreateShuffleVector(vector, high));
  }
  return b.CreateExtractElement(vector, std::uint64_t{0});
}

/// Lanes moved by `distance` towards the higher ones (or, reversed, the lower), zeros moving in.
llvm::Value* shift_lanes(Builder& b, llvm::Value* vector, int distance, bool reversed) {
  const auto width = static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  std::vector<int> lanes;
  for (int lane = 0; lane < width; ++lane) {
    const int from = reversed ? lane + distance : lane - distance;
    lanes.push_back(from >= 0 && from < width ? from : width);
  }
  return b.CreateShuffleVector(vector, llvm::Constant::getNullValue(vector->getType()), lanes);
}

}  // namespace

void KernelEmitter::reduce(const Nest& nest) {
  if (nest.axis == nest.space.rank() - 1) {
    reduce_last_axis(nest);
  } else {
    reduce_outer_axis(nest);
  }
}

void KernelEmitter::reduce_last_axis(const Nest& nest) {
  const std::size_t count = nest.roots.size();
  const std::int64_t size = nest.space[nest.axis].size;
  const std::int64_t lanes = unit_.lanes;
  const std::int64_t whole = size / lanes * lanes;
  llvm::Type* vector = unit_.vector(unit_.real);
  over_space(nest.space, nest.axis, [&](bool) {
    std::vector<llvm::Value*> sums(count, nullptr);
    auto add = [&](const Linear& position, bool as_vector) {
      index_.back() = position;
      for (std::size_t i = 0; i < count; ++i) {
        const Node& root = unit_.graph[nest.roots[i]];
        const Op op = root.op;
        llvm::Value* term = elements_.value(root.operands[0], index_here(), as_vector);
        Builder& b = scopes_.here();
        if (llvm::Value* mask = indices_.mask(position)) {
          term = b.CreateSelect(mask, term, real_constant(vector, neutral(op)));
        }
        sums[i] = sums[i] == nullptr ? term : combine(b, op, sums[i], term);
      }
      for (NodeId node : nest.also) store_all(node, elements_.at(node, index_here()), index_, as_vector);
    };
    if (size == 1) {
      add(Linear(), false);
    } else {
      if (whole == lanes) {
        add(indices_.lane_variable(unit_.lanes), true);
      } else if (whole > lanes) {
        OpenLoop loop = scopes_.open(unit_.number(0), unit_.number(whole), lanes, "vector");
        std::vector<std::pair<llvm::PHINode*, llvm::Value*>> carried;
        for (std::size_t i = 0; i < count; ++i) {
          sums[i] = scopes_.carry(loop, real_constant(vector, neutral(unit_.graph[nest.roots[i]].op)), "sum");
          carried.emplace_back(llvm::cast<llvm::PHINode>(sums[i]), nullptr);
        }
        const Linear first = indices_.loop_variable(loop.index, scopes_.innermost(), whole - lanes, lanes);
        add(first + indices_.lane_variable(unit_.lanes), true);
        for (std::size_t i = 0; i < count; ++i) carried[i].second = sums[i];
        scopes_.close(loop, carried);
      }
      if (whole < size) add(Linear(whole) + indices_.lane_variable(static_cast<int>(size - whole)), true);
    }
    const IndexId at = index_without(nest.axis);
    for (std::size_t i = 0; i < count; ++i) {
      const NodeId root = nest.roots[i];
      if (size > 1) sums[i] = across_lanes(scopes_.here(), unit_.graph[root].op, sums[i]);
      const Element result{sums[i], scopes_.innermost(), false};
      elements_.set(root, at, result);
      store_all(root, result, Index(indices_[at]), false);
    }
  });
}

void KernelEmitter::reduce_outer_axis(const Nest& nest) {
  const std::size_t count = nest.roots.size();
  const std::int64_t size = nest.space[nest.axis].size;
  over_space(nest.space, nest.axis, [&](bool vector) {
    llvm::Type* type = vector ? static_cast<llvm::Type*>(unit_.vector(unit_.real)) : unit_.real;
    OpenLoop loop = scopes_.open(unit_.number(0), unit_.number(size), 1, "along");
    index_[static_cast<std::size_t>(nest.axis)] = indices_.loop_variable(loop.index, scopes_.innermost(), size - 1, 1);
    std::vector<std::pair<llvm::PHINode*, llvm::Value*>> carried;
    for (NodeId root : nest.roots) {
      const Op op = unit_.graph[root].op;
      llvm::PHINode* sum = scopes_.carry(loop, real_constant(type, neutral(op)), "sum");
      llvm::Value* term = elements_.value(unit_.graph[root].operands[0], index_here(), vector);
      carried.emplace_back(sum, combine(scopes_.here(), op, sum, term));
    }
    for (NodeId node : nest.also) store_all(node, elements_.at(node, index_here()), index_, vector);
    scopes_.close(loop, carried);
    const IndexId at = index_without(nest.axis);
    for (std::size_t i = 0; i < count; ++i) {
      store_all(nest.roots[i], {carried[i].second, scopes_.innermost(), vector}, Index(indices_[at]), vector);
    }
  });
}

void KernelEmitter::cumsum(const Nest& nest, NodeId root) {
  if (nest.axis == nest.space.rank() - 1) {
    cumsum_last_axis(nest, root);
  } else {
    cumsum_outer_axis(nest, root);
  }
}

// Within a vector by doubling distances; the sum so far is carried in all lanes.
void KernelEmitter::cumsum_last_axis(const Nest& nest, NodeId root) {
  const Node node = unit_.graph[root];
  const std::int64_t size = nest.space[nest.axis].size;
  const std::int64_t lanes = unit_.lanes;
  const std::int64_t whole = size / lanes * lanes;
  llvm::Type* type = unit_.vector(unit_.real);
  over_space(nest.space, nest.axis, [&](bool) {
    llvm::Value* sum = llvm::Constant::getNullValue(type);
    auto step = [&](const Linear& position) {
      index_.back() = position;
      llvm::Value* term = elements_.value(node.operands[0], index_here(), true);
      Builder& b = scopes_.here();
      if (llvm::Value* mask = indices_.mask(position)) {
        term = b.CreateSelect(mask, term, llvm::Constant::getNullValue(type));
      }
      for (int distance = 1; distance < unit_.lanes; distance *= 2) {
        term = b.CreateFAdd(term, shift_lanes(b, term, distance, node.flag));
      }
      term = b.CreateFAdd(term, sum);
      const std::vector<int> last(static_cast<std::size_t>(unit_.lanes), node.flag ? 0 : unit_.lanes - 1);
      sum = b.CreateShuffleVector(term, last);
      store_all(root, {term, scopes_.innermost(), true}, index_, true);
    };
    auto remainder = [&] {
      if (whole < size) step(Linear(whole) + indices_.lane_variable(static_cast<int>(size - whole)));
    };
    if (node.flag) remainder();
    if (whole > 0) {
      OpenLoop loop = scopes_.open(unit_.number(node.flag ? whole - lanes : 0),
                                   unit_.number(node.flag ? -lanes : whole), node.flag ? -lanes : lanes, "vector");
      llvm::PHINode* carried = scopes_.carry(loop, sum, "sum");
      sum = carried;
      step(indices_.loop_variable(loop.index, scopes_.innermost(), whole - lanes, lanes) +
           indices_.lane_variable(unit_.lanes));
      scopes_.close(loop, {{carried, sum}});
    }
    if (!node.flag) remainder();
  });
}

void KernelEmitter::cumsum_outer_axis(const Nest& nest, NodeId root) {
  const Node node = unit_.graph[root];
  const std::int64_t size = nest.space[nest.axis].size;
  over_space(nest.space, nest.axis, [&](bool vector) {
    llvm::Type* type = vector ? static_cast<llvm::Type*>(unit_.vector(unit_.real)) : unit_.real;
    OpenLoop loop = scopes_.open(unit_.number(node.flag ? size - 1 : 0), unit_.number(node.flag ? -1 : size),
                                 node.flag ? -1 : 1, "along");
    index_[static_cast<std::size_t>(nest.axis)] = indices_.loop_variable(loop.index, scopes_.innermost(), size - 1, 1);
    llvm::PHINode* sum = scopes_.carry(loop, llvm::Constant::getNullValue(type), "sum");
    llvm::Value* term = elements_.value(node.operands[0], index_here(), vector);
    llvm::Value* next = scopes_.here().CreateFAdd(sum, term);
    store_all(root, {next, scopes_.innermost(), vector}, index_, vector);
    scopes_.close(loop, {{sum, next}});
  });
}

}  // namespace cellfuse::cpu
