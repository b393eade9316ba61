#include "examples/char_lm/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace {

constexpr const char* kFormat = "char_lm checkpoint 1";

void write_piece(std::ostream& file, const std::string& name, std::span<const std::byte> bytes) {
  file << name << ' ' << bytes.size() << '\n';
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file << '\n';
}

/// Reads a piece that must have this name.
std::string read_piece(std::istream& file, const std::string& path, const std::string& name) {
  std::string found;
  std::size_t size = 0;
  file >> found >> size;
  file.ignore(1);
  if (!file || found != name || size > std::filesystem::file_size(path)) {
    throw std::runtime_error(path + ": damaged, or made by another model: no " + name);
  }
  std::string bytes(size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  file.ignore(1);
  if (!file) throw std::runtime_error(path + ": cut off in " + name);
  return bytes;
}

void check_settings(const std::string& path, const std::string& saved, const std::string& settings) {
  std::istringstream saved_lines(saved);
  std::istringstream lines(settings);
  std::string was;
  std::string is;
  while (true) {
    const bool more_saved = static_cast<bool>(std::getline(saved_lines, was));
    const bool more = static_cast<bool>(std::getline(lines, is));
    if (!more_saved && !more) return;
    if (was == is && more_saved == more) continue;
    throw std::runtime_error(path + ": made with other settings:\n  then: " + was + "\n  now:  " + is);
  }
}

}  // namespace

void save_checkpoint(const std::string& path, const std::string& settings, const std::vector<Blob>& blobs) {
  const std::string aside = path + ".new";
  {
    std::ofstream file(aside, std::ios::binary);
    file << kFormat << '\n';
    write_piece(file, "settings", std::as_bytes(std::span(settings)));
    for (const Blob& blob : blobs) write_piece(file, blob.name, blob.bytes);
    file.close();
    if (!file) throw std::runtime_error("cannot write " + aside);
  }
  std::filesystem::rename(aside, path);
}

void load_checkpoint(const std::string& path, const std::string& settings, const std::vector<Blob>& blobs) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string format;
  std::getline(file, format);
  if (format != kFormat) throw std::runtime_error(path + ": not a checkpoint of this program");
  check_settings(path, read_piece(file, path, "settings"), settings);
  for (const Blob& blob : blobs) {
    const std::string bytes = read_piece(file, path, blob.name);
    if (bytes.size() != blob.bytes.size()) throw std::runtime_error(path + ": another size of " + blob.name);
    std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size(), blob.bytes.begin());
  }
}
