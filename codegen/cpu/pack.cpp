// Copies of matrices into another layout and the compute type.

#include "codegen/cpu/scopes.h"
#include "codegen/cpu/stages.h"
#include "codegen/cpu/storage.h"
#include "ir/diagnostic.h"

namespace cellfuse::cpu {

namespace {

/// The copy as it is made: `k` rows of panels of `width` columns; column n and row k of the target are element
/// n * from_n + k * from_k of the source. Columns past `n` are 0.
struct Copy {
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t width = 0;
  std::int64_t from_n = 1;
  std::int64_t from_k = 1;
};

Copy copy_of(const Buffer& from, const Buffer& to, bool contract_rows) {
  Copy copy;
  if (to.order == Order::RowMajor) {
    copy = {from.shape.count(), 1, from.shape.count(), 1, 0};
  } else if (to.order == Order::Transposed) {
    check_internal(from.shape.rank() == 2, "codegen/cpu", "transposing something else than a matrix");
    const std::int64_t rows = from.shape[0].size;
    const std::int64_t columns = from.shape[1].size;
    copy = {rows, columns, rows, columns, 1};
  } else {
    copy.n = to.shape[0].size;
    copy.k = to.shape[1].size;
    copy.width = to.panel;
    copy.from_n = contract_rows ? 1 : copy.k;
    copy.from_k = contract_rows ? copy.n : 1;
  }
  return copy;
}

class PackEmitter {
 public:
  PackEmitter(Unit& unit, const Buffer& from, const Buffer& to, const Copy& copy, llvm::Function* function)
      : unit_(unit), copy_(copy), from_stored_(stored_as(from)), to_stored_(stored_as(to)), scopes_(unit, function) {}

  void run(const FrameFields& frame, const Pack& pack) {
    from_ = frame.data(scopes_.here(), pack.from);
    to_ = frame.data(scopes_.here(), pack.to);
    const std::int64_t lanes = unit_.lanes;
    const std::int64_t whole = copy_.n / lanes * lanes;
    const std::int64_t end = (copy_.n + copy_.width - 1) / copy_.width * copy_.width;
    if (whole > 0) {
      OpenLoop loop = scopes_.open(unit_.number(0), unit_.number(whole), lanes, "columns");
      columns(loop.index, lanes);
      scopes_.close(loop);
    }
    for (std::int64_t n = whole; n < end; n += lanes) columns(unit_.number(n), std::max<std::int64_t>(0, copy_.n - n));
    scopes_.here().CreateRetVoid();
  }

 private:
  /// `lanes` columns of which `live` exist: blocks that are transposed in registers, and what remains of the rows.
  void columns(llvm::Value* n, std::int64_t live) {
    const std::int64_t lanes = unit_.lanes;
    const bool in_blocks = copy_.from_k == 1 && copy_.from_n > 1 && live == lanes;
    const std::int64_t whole = in_blocks ? copy_.k / lanes * lanes : 0;
    if (whole > 0) {
      OpenLoop loop = scopes_.open(unit_.number(0), unit_.number(whole), lanes, "block");
      block(n, loop.index);
      scopes_.close(loop);
    }
    if (whole == copy_.k) return;
    OpenLoop loop = scopes_.open(unit_.number(whole), unit_.number(copy_.k), 1, "row");
    row(n, loop.index, live);
    scopes_.close(loop);
  }

  llvm::Value* source(llvm::Value* n, llvm::Value* k) {
    Builder& b = scopes_.here();
    llvm::Value* offset =
        b.CreateAdd(b.CreateMul(n, unit_.number(copy_.from_n)), b.CreateMul(k, unit_.number(copy_.from_k)));
    return b.CreateGEP(raw_type(unit_, from_stored_), from_, offset);
  }

  void put(llvm::Value* value, llvm::Value* n, llvm::Value* k, llvm::Value* mask) {
    Builder& b = scopes_.here();
    llvm::Value* panel = b.CreateUDiv(n, unit_.number(copy_.width));
    llvm::Value* lane = b.CreateURem(n, unit_.number(copy_.width));
    llvm::Value* offset = b.CreateMul(panel, unit_.number(copy_.k * copy_.width));
    offset = b.CreateAdd(offset, b.CreateAdd(lane, b.CreateMul(k, unit_.number(copy_.width))));
    llvm::Value* pointer = b.CreateGEP(raw_type(unit_, to_stored_), to_, offset);
    store_vector(unit_, b, narrow(unit_, b, value, to_stored_), pointer, to_stored_, mask);
  }

  llvm::Value* first(std::int64_t live) {
    std::vector<llvm::Constant*> bits;
    for (int lane = 0; lane < unit_.lanes; ++lane) bits.push_back(scopes_.here().getInt1(lane < live));
    return live < unit_.lanes ? llvm::ConstantVector::get(bits) : nullptr;
  }

  void row(llvm::Value* n, llvm::Value* k, std::int64_t live) {
    Builder& b = scopes_.here();
    llvm::Value* value = llvm::Constant::getNullValue(unit_.vector(unit_.real));
    if (live > 0 && copy_.from_n == 1) {
      value = widen(unit_, b, load_vector(unit_, b, source(n, k), from_stored_, first(live)), from_stored_);
    } else if (live > 0) {
      std::vector<llvm::Constant*> offsets;
      for (int lane = 0; lane < unit_.lanes; ++lane) {
        offsets.push_back(llvm::ConstantInt::getSigned(unit_.i64(), lane * copy_.from_n));
      }
      llvm::Value* distances = llvm::ConstantVector::get(offsets);
      value = widen(unit_, b, gather(unit_, b, source(n, k), distances, from_stored_, first(live)), from_stored_);
    }
    // Panels are filled up with zeros; other layouts end where the matrix does.
    const bool padded = copy_.width % unit_.lanes == 0;
    put(value, n, k, padded ? nullptr : first(live));
  }

  /// A square of lanes x lanes: pairs of vectors exchange their halves, then quarters, and so on.
  void block(llvm::Value* n, llvm::Value* k) {
    const auto lanes = static_cast<std::size_t>(unit_.lanes);
    std::vector<llvm::Value*> square;
    for (std::size_t i = 0; i < lanes; ++i) {
      Builder& b = scopes_.here();
      llvm::Value* column = b.CreateAdd(n, unit_.number(static_cast<std::int64_t>(i)));
      llvm::Value* pointer = source(column, k);
      square.push_back(widen(unit_, b, load_vector(unit_, b, pointer, from_stored_, nullptr), from_stored_));
    }
    Builder& b = scopes_.here();
    for (std::size_t half = lanes / 2; half >= 1; half /= 2) {
      std::vector<int> low;
      std::vector<int> high;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const bool second = (lane & half) != 0;
        low.push_back(static_cast<int>(second ? lanes + lane - half : lane));
        high.push_back(static_cast<int>(second ? lanes + lane : lane + half));
      }
      for (std::size_t i = 0; i < lanes; ++i) {
        if ((i & half) != 0) continue;
        llvm::Value* upper = square[i];
        llvm::Value* lower = square[i + half];
        square[i] = b.CreateShuffleVector(upper, lower, low);
        square[i + half] = b.CreateShuffleVector(upper, lower, high);
      }
    }
    for (std::size_t i = 0; i < lanes; ++i) {
      put(square[i], n, scopes_.here().CreateAdd(k, unit_.number(static_cast<std::int64_t>(i))), nullptr);
    }
  }

  Unit& unit_;
  Copy copy_;
  Stored from_stored_;
  Stored to_stored_;
  Scopes scopes_;
  llvm::Value* from_ = nullptr;
  llvm::Value* to_ = nullptr;
};

}  // namespace

llvm::Function* emit_pack(Unit& unit, const Pack& pack, const std::string& name) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(unit.context()), {unit.pointer()}, false);
  llvm::Function* function = unit.function(name, type, true);
  function->getArg(0)->setName("frame");
  const Buffer& from = unit.plan.buffers[static_cast<std::size_t>(pack.from)];
  const Buffer& to = unit.plan.buffers[static_cast<std::size_t>(pack.to)];
  check_internal(to.dtype == unit.compute, "codegen/cpu", "a matrix is packed in the compute type");
  PackEmitter(unit, from, to, copy_of(from, to, pack.contract_rows), function)
      .run(FrameFields(unit, function->getArg(0)), pack);
  return function;
}

}  // namespace cellfuse::cpu
