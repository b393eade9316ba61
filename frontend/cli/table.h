#pragma once

#include <string>
#include <vector>

namespace cellfuse::cli {

/// Rows of text in columns as wide as they need to be; the first column leans left, the others right.
class Table {
 public:
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string str(const std::string& indent = "") const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// `1.5 MB`, `640 bytes`
std::string bytes_text(double bytes);
/// `12.3 us`
std::string time_text(double seconds);
/// `1.2 Mflop`
std::string count_text(double count, const std::string& unit);

}  // namespace cellfuse::cli
