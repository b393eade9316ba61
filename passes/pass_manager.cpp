#include "passes/pass_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "ir/diagnostic.h"

namespace cellfuse {

namespace {

#ifdef NDEBUG
constexpr bool kVerifyByDefault = false;
#else
constexpr bool kVerifyByDefault = true;
#endif

}  // namespace

std::string print(const Program& program) {
  if (program.plan) return print(*program.plan);
  return program.sequence ? print(*program.sequence) : print(program.cell);
}

void verify(const Program& program) {
  if (program.plan) return verify(*program.plan);
  return program.sequence ? verify(*program.sequence) : verify(program.cell);
}

PassManager::PassManager(PassManagerOptions options) : options_(std::move(options)) {}

bool PassManager::prints_after(std::string_view pass) const {
  return std::any_of(options_.print_after.begin(), options_.print_after.end(),
                     [&](const std::string& name) { return name == "all" || name == pass; });
}

void PassManager::show(std::string_view pass, std::span<const Program> programs,
                       const std::map<std::string, std::string>& before) const {
  const bool asked = prints_after(pass);
  if (!options_.print || (!asked && !options_.print_changed)) return;
  for (const Program& program : programs) {
    const std::string text = print(program);
    auto it = before.find(program.name);
    const bool changed = it == before.end() || it->second != text;
    if (asked || changed) options_.print(fmt::format("# {} after {}\n{}\n", program.name, pass, text));
  }
}

std::string PassManager::keep_input(std::string_view pass, std::span<const Program> programs) const {
  if (options_.reproducer_folder.empty() || programs.empty()) return {};
  const std::filesystem::path folder(options_.reproducer_folder);
  const std::filesystem::path file = folder / fmt::format("{}.{}.txt", programs.front().cell.name, pass);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::ofstream stream(file);
  for (const Program& program : programs) {
    stream << fmt::format("# the program {} before {}\n{}\n", program.name, pass, print(program));
  }
  stream.close();
  return fmt::format("; its input {} {}", stream ? "is in" : "could not be written to", file.string());
}

void PassManager::run(std::string_view pass, const std::function<std::span<Program>()>& programs,
                      const std::function<void()>& action) {
  std::vector<Program> given;
  if (!options_.reproducer_folder.empty()) given.assign(programs().begin(), programs().end());
  std::map<std::string, std::string> before;
  if (options_.print && options_.print_changed) {
    for (const Program& program : programs()) before[program.name] = print(program);
  }
  const std::string name = programs().empty() ? std::string() : programs().back().name;
  try {
    const auto start = std::chrono::steady_clock::now();
    action();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    times_.push_back({name, std::string(pass), taken.count()});
    if (options_.verify.value_or(kVerifyByDefault)) {
      for (const Program& program : programs()) verify(program);
    }
  } catch (const CompileError&) {
    throw;
  } catch (const std::exception& error) {
    throw InternalError(std::string(pass),
                        fmt::format("{} (program {}){}", error.what(), name, keep_input(pass, given)));
  }
  show(pass, programs(), before);
}

}  // namespace cellfuse
