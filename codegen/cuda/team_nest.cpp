#include "codegen/cuda/team_nest.h"

#include <fmt/format.h>

#include <algorithm>

namespace cellfuse::cuda {

namespace {

constexpr std::int64_t kWarp = 32;
constexpr std::int64_t kShortestGroup = 8;

std::int64_t power_of_two_from(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

}  // namespace

void TeamNest::emit() {
  code_.define_value(out_);
  if (body_.nest.space.count() == 0) return;
  name_totals();
  if (needs_partials()) out_.line(fmt::format("Real* const partials = reinterpret_cast<Real*>({});", partials_));
  switch (body_.pattern) {
    case Pattern::Each: return each();
    case Pattern::ReduceAll: return reduce_all();
    case Pattern::ReduceLines: return reduce_lines();
    case Pattern::ReduceSlices: return reduce_slices();
    case Pattern::SumLines: return sum_lines();
    case Pattern::SumTogether: return sum_together();
  }
}

bool TeamNest::needs_partials() const {
  const bool together = body_.pattern == Pattern::ReduceAll || body_.pattern == Pattern::SumTogether;
  return body_.pattern == Pattern::ReduceSlices || (together && team() > kWarp);
}

std::vector<StoredElement> TeamNest::select(const std::vector<StoredElement>& stores, Which which) const {
  std::vector<StoredElement> selected;
  for (const StoredElement& stored : stores) {
    const bool of_every_thread = frame_.uniforms.contains(stored.store->buffer);
    if (which == Which::All || of_every_thread == (which == Which::OfEveryThread)) selected.push_back(stored);
  }
  return selected;
}

std::string TeamNest::loop(const char* name, const std::string& first, std::int64_t end, std::int64_t step) const {
  const std::string next = step == 1 ? fmt::format("++{}", name) : fmt::format("{} += {}", name, step);
  return fmt::format("for ({0} {1} = {2}; {1} < {3}; {4})", frame_.index_type(), name, first, end, next);
}

std::string TeamNest::index(const char* name, const std::string& value) const {
  return fmt::format("const {} {} = {};", frame_.index_type(), name, value);
}

void TeamNest::open_units() {
  const std::int64_t count = body_.nest.space.count();
  const std::string first = body_.lanes > 1 ? fmt::format("thread * {}", body_.lanes) : "thread";
  code_.declare(out_, 0);
  if (count == body_.lanes) {
    out_.open("if (thread == 0)");
  } else if (count <= team() * body_.lanes) {
    out_.open(fmt::format("if (const {} unit = {}; unit < {})", frame_.index_type(), first, count));
  } else {
    out_.open(loop("unit", first, count, team() * body_.lanes));
  }
}

void TeamNest::each() {
  if (body_.nest.space.count() > 1) {
    open_units();
    code_.declare(out_, 1);
    code_.store(out_, body_.stores);
    out_.close();
    return;
  }
  code_.declare(out_, 1);
  code_.store(out_, select(body_.stores, Which::OfEveryThread));
  const std::vector<StoredElement> rest = select(body_.stores, Which::InMemory);
  if (rest.empty()) return;
  out_.open("if (thread == 0)");
  code_.store(out_, rest);
  out_.close();
}

std::string TeamNest::operation(const Total& total) const {
  switch (frame_.unit.graph[total.root].op) {
    case Op::Prod: return "Prod";
    case Op::AMax: return "AMax";
    case Op::AMin: return "AMin";
    default: return "Sum";
  }
}

void TeamNest::name_totals() {
  for (const Total& total : body_.totals) {
    const std::string& user = frame_.unit.graph.name(total.root);
    const std::string op(name(frame_.unit.graph[total.root].op));
    totals_.push_back(code_.statements().names().unique(user.empty() ? op : user));
  }
}

void TeamNest::declare_totals(const std::string& type) {
  for (std::size_t i = 0; i < body_.totals.size(); ++i) {
    out_.line(fmt::format("{} {}({}::nothing<Real>());", type, totals_[i], operation(body_.totals[i])));
  }
}

void TeamNest::accumulate() {
  for (std::size_t i = 0; i < body_.totals.size(); ++i) {
    const Total& total = body_.totals[i];
    std::string value = code_.statements().text(total.element);
    if (body_.lanes > 1 && !body_.elements[total.element].vector) value = "Value(" + value + ")";
    if (operation(total) == "Sum") {
      out_.line(fmt::format("{} = {} + {};", totals_[i], totals_[i], value));
    } else {
      out_.line(fmt::format("{} = {}::of({}, {});", totals_[i], operation(total), totals_[i], value));
    }
  }
}

void TeamNest::store_totals(Which which) {
  for (std::size_t i = 0; i < body_.totals.size(); ++i) {
    code_.store(out_, select(body_.totals[i].stores, which), totals_[i]);
  }
}

std::string TeamNest::partials(std::size_t total, std::int64_t room) const {
  if (!needs_partials()) return "static_cast<Real*>(nullptr)";
  return total == 0 ? "partials" : fmt::format("partials + {}", static_cast<std::int64_t>(total) * room);
}

void TeamNest::reduce_all() {
  std::vector<std::string> totals = totals_;
  for (std::string& total : totals_) total = code_.statements().names().unique(total + "_part");
  declare_totals(code_.statements().type(body_.lanes > 1));
  open_units();
  code_.declare(out_, 1);
  accumulate();
  code_.store(out_, body_.stores);
  out_.close();
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const std::string value =
        fmt::format("team::reduce<{}>({}, {})", operation(body_.totals[i]), totals_[i], partials(i, team() / kWarp));
    const auto kept = select(body_.totals[i].stores, Which::OfEveryThread);
    if (kept.empty()) {
      out_.line(fmt::format("const Real {} = {};", totals[i], value));
    } else {
      totals[i] = frame_.uniforms.at(kept[0].store->buffer);
      code_.store(out_, kept, value);
    }
  }
  totals_ = totals;
  const bool in_memory = std::ranges::any_of(
      body_.totals, [&](const Total& total) { return !select(total.stores, Which::InMemory).empty(); });
  if (!in_memory) return;
  out_.open("if (thread == 0)");
  store_totals(Which::InMemory);
  out_.close();
}

/// Groups of neighbouring threads, each with a line; all threads take part in each round.
void TeamNest::reduce_lines() {
  std::int64_t group = std::min(kWarp, power_of_two_from(body_.length));
  while (body_.lines * group > 4 * team() && group > kShortestGroup) group /= 2;
  const bool contiguous = body_.nest.axis == body_.nest.space.rank() - 1;
  if (!contiguous) group = 1;
  code_.declare(out_, 0);
  const std::string limit = fmt::format("line < {}", body_.lines);
  if (group == 1) {
    out_.open(loop("line", "thread", body_.lines, team()));
  } else {
    out_.open(loop("first", "0", body_.lines, team() / group));
    out_.line(index("line", fmt::format("first + thread / {}", group)));
  }
  declare_totals("Real");
  if (group > 1) out_.open(fmt::format("if ({})", limit));
  code_.declare(out_, 1);
  out_.open(loop("along", group == 1 ? "0" : fmt::format("thread % {}", group), body_.length, group));
  code_.declare(out_, 2);
  accumulate();
  code_.store(out_, body_.stores);
  out_.close();
  if (group > 1) {
    out_.close();
    for (std::size_t i = 0; i < body_.totals.size(); ++i) {
      out_.line(
          fmt::format("{} = across_group<{}, {}>({});", totals_[i], operation(body_.totals[i]), group, totals_[i]));
    }
    out_.open(fmt::format("if ({} && thread % {} == 0)", limit, group));
  }
  store_totals();
  if (group > 1) out_.close();
  out_.close();
}

/// Every thread takes a part of a line, then one thread a line adds up the parts.
void TeamNest::reduce_slices() {
  const std::int64_t parts = std::min(team() / body_.lines, body_.length);
  code_.declare(out_, 0);
  out_.open(fmt::format("if (thread < {})", parts * body_.lines));
  out_.line(index("line", fmt::format("thread % {}", body_.lines)));
  out_.line(fmt::format("const int part = thread / {};", body_.lines));
  declare_totals("Real");
  code_.declare(out_, 1);
  out_.open(loop("along", "part", body_.length, parts));
  code_.declare(out_, 2);
  accumulate();
  code_.store(out_, body_.stores);
  out_.close();
  for (std::size_t i = 0; i < body_.totals.size(); ++i) {
    out_.line(fmt::format("store({} + thread, {});", partials(i, team()), totals_[i]));
  }
  out_.close();
  out_.line("team::sync();");
  out_.open(fmt::format("if (thread < {})", body_.lines));
  out_.line(index("line", "thread"));
  for (std::size_t i = 0; i < body_.totals.size(); ++i) {
    const std::string memory = partials(i, team());
    const std::string op = operation(body_.totals[i]);
    out_.line(fmt::format("Real {} = read<Real>({} + line);", totals_[i], memory));
    out_.open(fmt::format("for (int part = 1; part < {}; ++part)", parts));
    out_.line(fmt::format("{} = {}::of({}, read<Real>({} + part * {} + line));", totals_[i], op, totals_[i], memory,
                          body_.lines));
    out_.close();
  }
  store_totals();
  out_.close();
}

void TeamNest::sum_lines() {
  code_.declare(out_, 0);
  out_.open(body_.lines == 1 ? "if (thread == 0)" : loop("line", "thread", body_.lines, team()));
  code_.declare(out_, 1);
  declare_totals("Real");
  const bool from_the_end = frame_.unit.graph[body_.totals[0].root].flag;
  out_.open(from_the_end
                ? fmt::format("for ({} along = {}; along >= 0; --along)", frame_.index_type(), body_.length - 1)
                : loop("along", "0", body_.length, 1));
  code_.declare(out_, 2);
  accumulate();
  code_.store(out_, body_.stores);
  store_totals();
  out_.close();
  out_.close();
}

void TeamNest::sum_together() {
  code_.declare(out_, 0);
  const bool from_the_end = frame_.unit.graph[body_.totals[0].root].flag;
  if (body_.lines > 1) out_.open(loop("line", "0", body_.lines, 1));
  code_.declare(out_, 1);
  std::vector<std::string> carries;
  for (const std::string& total : totals_) {
    carries.push_back(code_.statements().names().unique(total + "_carry"));
    out_.line(fmt::format("Real {}(0);", carries.back()));
  }
  out_.open(loop("first", "0", body_.length, team()));
  const std::string along =
      from_the_end ? fmt::format("{} - first - thread", body_.length - 1) : std::string("first + thread");
  out_.line(index("along", along));
  const std::string inside = from_the_end ? "along >= 0" : fmt::format("along < {}", body_.length);
  declare_totals("Real");
  out_.open(fmt::format("if ({})", inside));
  code_.declare(out_, 2);
  accumulate();
  code_.store(out_, body_.stores);
  out_.close();
  for (std::size_t i = 0; i < totals_.size(); ++i) {
    out_.line(fmt::format("{} = team::running_sum({}, {}, {});", totals_[i], totals_[i], carries[i],
                          partials(i, team() / kWarp)));
  }
  out_.open(fmt::format("if ({})", inside));
  store_totals();
  out_.close();
  out_.close();
  if (body_.lines > 1) out_.close();
}

}  // namespace cellfuse::cuda
