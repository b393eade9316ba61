#include <fmt/format.h>

#include <cctype>

#include "frontend/cli/session.h"
#include "ir/diagnostic.h"

namespace cellfuse::cli {

namespace {

constexpr const char* kTemplate = R"(# {0}: say here what it is, and where it comes from.
#
#   cellfuse check {0}.cell
#   cellfuse explain {0}.cell -D I=128 -D H=256
#   cellfuse gradcheck {0}.cell -D I=3 -D H=4

# One time step of one sample. I and H are dimensions, bound when the cell is compiled; behind a semicolon may stand
# real constants with defaults. The batch, time, direction and dtype are no part of a cell.
cell {0}(I, H; leak = 0.1) {{
  input  x[I]                         # given at each step
  state  h[H] = h0                    # carried from step to step; starts from h0 unless the caller gives a value
  param  W[2*H, I], U[2*H, H], b[2*H] # trained
  param  h0[H]

  # @ is the product with a matrix; all else is elementwise, with broadcasting.
  z, n = split(W @ x + U @ h + b, 2)  # two equal parts
  gate = sigmoid(z)

  # A state with a tick is its value after the step. Every state needs one.
  h' = (1 - leak * gate) * h + leak * gate * tanh(n)

  output h'                           # handed out at each step
}}
)";

bool is_name(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

}  // namespace

void add_new(CLI::App& app, Session& /*session*/) {
  auto* command = app.add_subcommand("new", "A commented template of a cell, to stdout");
  command->footer("Example:\n  cellfuse new my_cell > my_cell.cell");
  auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "Name of the cell")->required();
  command->callback([name] {
    if (!is_name(*name)) {
      throw CompileError(fmt::format("`{}` cannot be the name of a cell", *name),
                         "letters, digits and _, no digit first");
    }
    put(fmt::format(kTemplate, *name));
  });
}

}  // namespace cellfuse::cli
