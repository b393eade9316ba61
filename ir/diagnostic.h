#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "ir/source.h"

namespace cellfuse {

enum class Severity { Note, Warning, Error };

/// A message about the user's text, with the place it is about.
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string message;
  Span span;
  std::string hint;               ///< what to do about it ("did you mean `sigmoid`?"); may be empty
  std::vector<Diagnostic> notes;  ///< where a shape came from, the earlier definition, ...
};

/// Renders like clang: `file:line:column: error: message`, the line, carets under the span, then hint and notes.
std::string render(const Diagnostic& diagnostic, bool color = false);
std::string render(const std::vector<Diagnostic>& diagnostics, bool color = false);

/// The user's mistake. Gathered while a text is read, thrown once at the edge of the API.
class CompileError : public std::runtime_error {
 public:
  explicit CompileError(std::vector<Diagnostic> diagnostics);
  explicit CompileError(std::string message, std::string hint = {});
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// A wrong call of the API at run time: shapes, counts, a record that belongs to another plan.
class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Our own bug. `where` names the pass or function.
class InternalError : public std::logic_error {
 public:
  InternalError(std::string where, const std::string& what);
  const std::string& where() const { return where_; }

 private:
  std::string where_;
};

/// A failed call of a device's or a system's library.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws InternalError unless `condition`.
void check_internal(bool condition, const char* where, const char* what);

}  // namespace cellfuse
