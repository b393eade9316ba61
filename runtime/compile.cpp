#include "runtime/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "ir/diagnostic.h"
#include "runtime/executable_impl.h"
#include "runtime/options.h"

namespace cellfuse {

namespace {

constexpr std::int64_t kDefaultWorkspace = std::int64_t{256} << 20;

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

CompileOptions complete(CompileOptions options, const CellTemplate& cell) {
  const Environment environment = read_environment();
  if (options.threads < 0)
    throw CompileError(fmt::format("threads: expected a number from 1 up, got {}", options.threads));
  if (options.workspace_limit < 0) throw CompileError("workspace_limit: expected a number of bytes");
  if (!options.inference && !options.training) throw CompileError("neither inference nor training was asked for");
  if (options.threads == 0) options.threads = environment.threads;
  if (options.threads == 0) options.threads = usable_cores();
  if (options.workspace_limit == 0) options.workspace_limit = environment.workspace_limit;
  if (options.workspace_limit == 0) options.workspace_limit = kDefaultWorkspace;
  PassManagerOptions& debugging = options.debugging;
  if (debugging.print_after.empty()) debugging.print_after = split_list(environment.print_after);
  if (debugging.reproducer_folder.empty()) debugging.reproducer_folder = environment.reproducer_folder;
  if (!debugging.print)
    debugging.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); };
  for (const auto& [dim, value] : options.dims) {
    if (std::find(cell.dims.begin(), cell.dims.end(), dim) == cell.dims.end()) {
      throw CompileError(fmt::format("cell `{}` has no open dimension `{}`", cell.name, dim));
    }
    if (value < 1) throw CompileError(fmt::format("dimension {} must be at least 1, got {}", dim, value));
  }
  return options;
}

Target target_for(const CompileOptions& options, const Backend& backend) {
  Target target = backend.target();
  if (!options.target.empty()) {
    const std::optional<Target> found = find_target(options.target);
    if (!found) throw CompileError(fmt::format("there is no target `{}`", options.target));
    target = *found;
  }
  if (target.kind == TargetKind::Cpu) target.threads = options.threads;
  return target;
}

}  // namespace

CellTemplate::CellTemplate(Cell cell) : name(cell.name) {
  for (const auto& [dim, value] : cell.dims) default_dims[dim] = value;
  build = [cell = std::move(cell)](const DimBinding&, const ConstantBinding&) { return cell; };
}

CompileOptions unfused(CompileOptions options) {
  options.fusion = false;
  options.hoisting = false;
  options.gemm_combining = false;
  options.layout = false;
  return options;
}

Executable compile(CellTemplate cell, const CompileOptions& options) {
  if (!cell.build) throw CompileError("compile() was given an empty cell");
  auto impl = std::make_shared<Executable::Impl>();
  impl->options = complete(options, cell);
  impl->backend = &find_backend(options.device);
  impl->target = target_for(impl->options, *impl->backend);
  auto resources = std::make_shared<Resources>();
  resources->threads = std::make_shared<ThreadPool>(impl->options.threads);
  resources->memory = std::make_shared<MemoryPool>();
  resources->workspace_limit = impl->options.workspace_limit;
  impl->resources = std::move(resources);
  impl->source = std::move(cell);
  if (impl->bound()) impl->compile_for(impl->options.dims);
  return Executable(std::move(impl));
}

}  // namespace cellfuse
