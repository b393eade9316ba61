// A program outside the source tree, built against the installed package.
#include "frontend/cells/cells.h"

int main() { return cellfuse::find_builtin_cell("lstm") ? 0 : 1; }
