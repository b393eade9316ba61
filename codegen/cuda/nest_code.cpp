#include "codegen/cuda/nest_code.h"

#include <fmt/format.h>

namespace cellfuse::cuda {

void NestCode::define_value(Writer& out) const {
  if (body_.lanes > 1) out.line(fmt::format("using Value = Lanes<Real, {}>;", body_.lanes));
}

void NestCode::declare(Writer& out, int scope) {
  statements_.declare(out, [scope](const Element& element) { return element.scope <= scope; });
}

bool NestCode::is_vector(const StoredElement& stored) const {
  return body_.lanes > 1 && body_.indices.is_vector(stored.at);
}

std::string NestCode::as_stored(const StoredElement& stored, const std::string& total, bool vector) const {
  if (stored.element < 0) return total;
  const std::string text = statements_.text(stored.element);
  return vector && !body_.elements[stored.element].vector ? "Value(" + text + ")" : text;
}

void NestCode::store(Writer& out, const std::vector<StoredElement>& stores, const std::string& total) {
  for (const StoredElement& stored : stores) {
    const Store& store = *stored.store;
    const bool vector = is_vector(stored);
    std::string value = as_stored(stored, total, vector);
    if (store.mode == StoreMode::Add) {
      add(out, stored, value, vector);
      continue;
    }
    if (store.when_masked == WhenMasked::Zero)
      value = fmt::format("live ? {} : {}(0)", value, statements_.type(vector));
    if (store.when_masked == WhenMasked::Hold) value = fmt::format("live ? {} : {}", value, held(stored, vector));
    out.line(statements_.store(store.buffer, stored.at, value, vector));
  }
}

std::string NestCode::held(const StoredElement& stored, bool vector) const {
  if (stored.hold >= 0) return statements_.text(stored.hold);
  return statements_.load(stored.store->hold, stored.at, vector);
}

void NestCode::add(Writer& out, const StoredElement& stored, const std::string& value, bool vector) const {
  const std::string condition = stored.store->when_masked == WhenMasked::Zero ? "if (live) " : "";
  auto it = sums_.find(&stored);
  if (it != sums_.end()) {
    out.line(fmt::format("{}{} = {} + {};", condition, it->second, it->second, value));
    return;
  }
  const int buffer = stored.store->buffer;
  const std::string sum = fmt::format("{} + {}", statements_.load(buffer, stored.at, vector), value);
  out.line(condition + statements_.store(buffer, stored.at, sum, vector));
}

}  // namespace cellfuse::cuda
