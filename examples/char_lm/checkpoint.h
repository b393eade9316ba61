#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

/// A piece of memory that a checkpoint holds, under its name.
struct Blob {
  std::string name;
  std::span<std::byte> bytes;
};

template <typename T>
Blob blob(std::string name, std::span<T> values) {
  return {std::move(name), std::as_writable_bytes(values)};
}
template <typename T>
Blob blob(std::string name, T& value) {
  return blob(std::move(name), std::span<T>(&value, 1));
}

/// Writes `settings` and all blobs to a file aside, which then takes the place of `path`. Throws std::runtime_error.
void save_checkpoint(const std::string& path, const std::string& settings, const std::vector<Blob>& blobs);

/// Fills the blobs from a checkpoint. Throws std::runtime_error when it was made with other settings (telling the first
/// line that differs), or has other blobs.
void load_checkpoint(const std::string& path, const std::string& settings, const std::vector<Blob>& blobs);
