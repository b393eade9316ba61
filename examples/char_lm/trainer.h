#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "examples/char_lm/adam.h"
#include "examples/char_lm/checkpoint.h"
#include "examples/char_lm/model.h"
#include "examples/char_lm/progress.h"
#include "examples/char_lm/text.h"

struct TrainingOptions {
  // What ends the training: whichever comes first.
  std::int64_t epochs = 10;
  std::optional<std::int64_t> updates;
  std::optional<double> minutes;

  double rate = 0.004;
  double decay = 0.9;  ///< of the rate, from epoch to epoch
  double clip = 1;
  std::string checkpoint;  ///< file to write after each epoch and at the end; empty: none
};

/// Trains a model on the streams of a text by truncated back-propagation: chunk after chunk, states carried along,
/// from zero again with each epoch.
class Trainer {
 public:
  /// `settings` tells in lines what makes a training what it is; a checkpoint of another one cannot be resumed.
  Trainer(Model& model, const Text& text, const ModelOptions& model_options, const TrainingOptions& options,
          std::string settings);

  /// Goes on where the checkpoint was written. Throws std::runtime_error.
  void resume();
  /// Runs until the end, or until `stop` is not 0.
  void run(const volatile std::sig_atomic_t& stop);

 private:
  double share_done() const;
  void update();
  void finish_epoch();
  void report(const std::string& when);
  double validation_bits();
  void save();
  std::vector<Blob> blobs();

  Model& model_;
  TrainingOptions options_;
  std::string settings_;
  std::int64_t chunk_steps_;
  Streams train_;
  Streams validation_;
  double bigram_;
  Adam adam_;
  Progress progress_;

  // Where training is.
  std::int64_t epoch_ = 0;
  std::int64_t step_ = 0;  // in the streams
  Carried carried_;
  double epoch_bits_ = 0;  // sum over the steps so far
};
