#include "runtime/options.h"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "ir/diagnostic.h"

using namespace cellfuse;

namespace {

/// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("variables are read") {
  const Variable threads("CELLFUSE_THREADS", "3");
  const Variable workspace("CELLFUSE_WORKSPACE_MB", "16");
  const Variable print("CELLFUSE_PRINT_AFTER", "fuse,simplify");
  const Environment environment = read_environment();
  CHECK(environment.threads == 3);
  CHECK(environment.workspace_limit == 16 << 20);
  CHECK(environment.print_after == "fuse,simplify");
}

TEST_CASE("a variable that makes no sense is named") {
  for (const char* value : {"0", "-1", "many", "2x", "99999999999999999999"}) {
    const Variable threads("CELLFUSE_THREADS", value);
    const std::string message = std::string("CELLFUSE_THREADS=") + value + ": expected a whole number from 1 to 4096";
    CHECK_THROWS_WITH_AS(read_environment(), message.c_str(), UsageError);
  }
}

TEST_CASE("at least one core") { CHECK(usable_cores() >= 1); }
