#include "tests/support/hand_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/tensor.h"

#if CELLFUSE_CPU_JIT

namespace cellfuse::testing {

namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

HandPlan::HandPlan(DType dtype, int vector_bytes) {
  plan.name = "hand";
  plan.dtype = dtype;
  plan.target = cpu::host_target();
  if (vector_bytes != 0) plan.target.vector_bytes = std::min(vector_bytes, plan.target.vector_bytes);
}

int HandPlan::buffer(Space space, const Shape& shape, DType dtype, bool time, bool batch) {
  Buffer buffer;
  const auto id = static_cast<int>(plan.buffers.size());
  buffer.name = std::string(name(space)) + std::to_string(id);
  buffer.space = space;
  buffer.dtype = dtype;
  buffer.time = time;
  buffer.batch = batch;
  buffer.shape = shape;
  plan.buffers.push_back(buffer);
  return id;
}

Expr HandPlan::given(Kernel& kernel, const Shape& shape, bool time, bool batch) {
  const Expr value = leaf(graph(), Op::Input, inputs_++, shape);
  kernel.loads.push_back({value.id, buffer(Space::Input, shape, plan.dtype, time, batch)});
  return value;
}

int HandPlan::buffer_of(const Kernel& kernel, Expr given) const {
  return std::ranges::find(kernel.loads, given.id, &Load::node)->buffer;
}

int HandPlan::kept(Kernel& kernel, Expr value, std::optional<DType> dtype) {
  Store store;
  store.node = value.id;
  store.buffer = buffer(Space::Output, value.shape(), dtype.value_or(plan.dtype), true, true);
  kernel.stores.push_back(store);
  return store.buffer;
}

std::int64_t HandPlan::elements_bytes(int id) const {
  const Buffer& buffer = plan.buffers[at(id)];
  switch (buffer.space) {
    case Space::Live:
    case Space::Reset: return 1;
    case Space::StepIndex: return 4;
    default: return buffer.bytes();
  }
}

std::int64_t HandPlan::count(int id) const {
  const Buffer& buffer = plan.buffers[at(id)];
  return buffer.elements() * (buffer.time ? steps_ : 1) * (buffer.batch ? samples_ : 1);
}

void HandPlan::allocate(std::int64_t steps, std::int64_t samples) {
  steps_ = steps;
  samples_ = samples;
  memory_.clear();
  data_.clear();
  time_stride_.clear();
  batch_stride_.clear();
  for (int id = 0; id < static_cast<int>(plan.buffers.size()); ++id) {
    const Buffer& buffer = plan.buffers[at(id)];
    const std::int64_t unit = elements_bytes(id);
    const std::int64_t units = (buffer.time ? steps : 1) * (buffer.batch ? samples : 1);
    memory_.emplace_back(static_cast<std::size_t>(unit * units), std::byte{0});
    data_.push_back(memory_.back().data());
    batch_stride_.push_back(buffer.batch ? unit : 0);
    time_stride_.push_back(buffer.time ? unit * (buffer.batch ? samples : 1) : 0);
  }
  frame_ = {};
  frame_.data = data_.data();
  frame_.time_stride = time_stride_.data();
  frame_.batch_stride = batch_stride_.data();
  frame_.steps = steps;
  frame_.samples = samples;
}

void HandPlan::set(int id, const std::vector<double>& values) {
  const Buffer& buffer = plan.buffers[at(id)];
  std::byte* data = memory_[at(id)].data();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (buffer.space == Space::Live || buffer.space == Space::Reset) {
      data[i] = values[i] != 0 ? std::byte{1} : std::byte{0};
    } else if (buffer.space == Space::StepIndex) {
      const auto number = static_cast<std::int32_t>(values[i]);
      std::memcpy(data + 4 * i, &number, 4);
    }
  }
  if (buffer.space == Space::Live || buffer.space == Space::Reset || buffer.space == Space::StepIndex) return;
  convert(values.data(), DType::Float64, data, buffer.dtype, static_cast<std::int64_t>(values.size()));
}

std::vector<double> HandPlan::get(int id) const {
  std::vector<double> values(static_cast<std::size_t>(count(id)));
  // States change places; other buffers lie from the start of their memory, in whatever order they are walked.
  const Buffer& buffer = plan.buffers[at(id)];
  const std::byte* data = buffer.space == Space::State ? data_[at(id)] : memory_[at(id)].data();
  convert(data, buffer.dtype, values.data(), DType::Float64, count(id));
  return values;
}

void HandPlan::reverse_time(int id) {
  data_[at(id)] += (steps_ - 1) * time_stride_[at(id)];
  time_stride_[at(id)] = -time_stride_[at(id)];
}

const cpu::CompiledPlan& HandPlan::code() {
  if (code_ == nullptr) code_ = std::make_unique<cpu::CompiledPlan>(plan);
  return *code_;
}

std::vector<double> numbers(std::mt19937& random, std::int64_t count, double low, double high) {
  std::uniform_real_distribution<double> distribution(low, high);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = distribution(random);
  return values;
}

std::vector<double> rounded(const std::vector<double>& values, DType dtype) {
  const auto count = static_cast<std::int64_t>(values.size());
  std::vector<std::byte> stored(values.size() * info(dtype).bytes);
  std::vector<double> result(values.size());
  convert(values.data(), DType::Float64, stored.data(), dtype, count);
  convert(stored.data(), dtype, result.data(), DType::Float64, count);
  return result;
}

std::vector<double> meaning(const Graph& graph, NodeId id, const std::map<NodeId, std::vector<double>>& given,
                            const StepPoint& point) {
  if (auto it = given.find(id); it != given.end()) return it->second;
  const Node& node = graph[id];
  std::vector<std::vector<double>> values;
  std::vector<OperandView> operands;
  for (NodeId operand : node.operands) values.push_back(meaning(graph, operand, given, point));
  for (std::size_t i = 0; i < values.size(); ++i)
    operands.push_back({values[i].data(), &graph[node.operands[i]].shape});
  std::vector<double> result(static_cast<std::size_t>(node.shape.count()));
  evaluate(node, operands, point, result.data());
  return result;
}

double worst_error(const std::vector<double>& got, const std::vector<double>& want) {
  if (got.size() != want.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if ((std::isnan(got[i]) && std::isnan(want[i])) || got[i] == want[i]) continue;
    const double error = std::fabs(got[i] - want[i]) / (1 + std::fabs(want[i]));
    if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
  return worst;
}

double operation_tolerance(DType dtype) {
  switch (dtype) {
    case DType::Float64: return 1e-14;
    case DType::Float32: return 2e-6;
    case DType::Float16: return 1e-3;
    case DType::BFloat16: return 8e-3;
  }
  return 0;
}

}  // namespace cellfuse::testing

#endif
