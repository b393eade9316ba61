#include "examples/char_lm/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

Trainer::Trainer(Model& model, const Text& text, const ModelOptions& model_options, const TrainingOptions& options,
                 std::string settings)
    : model_(model),
      options_(options),
      settings_(std::move(settings)),
      chunk_steps_(model_options.steps),
      train_(text.train, model_options.batch),
      validation_(text.validation, model_options.batch),
      bigram_(bigram_bits(text, validation_)),
      adam_(model.parameters()),
      carried_(model.start()) {
  settings_ += fmt::format("learning rate {}, decay {}, clipped at {}\n", options.rate, options.decay, options.clip);
}

void Trainer::run(const volatile std::sig_atomic_t& stop) {
  while (stop == 0 && share_done() < 1) {
    update();
    if (step_ == train_.steps()) finish_epoch();
    progress_.show(share_done(), epoch_, epoch_bits_ / static_cast<double>(std::max<std::int64_t>(step_, 1)));
  }
  if (step_ > 0) report(fmt::format("after {} updates", adam_.steps));
  save();
}

double Trainer::share_done() const {
  const double in_epoch = static_cast<double>(step_) / static_cast<double>(train_.steps());
  double share = (static_cast<double>(epoch_) + in_epoch) / static_cast<double>(options_.epochs);
  if (options_.updates)
    share = std::max(share, static_cast<double>(adam_.steps) / static_cast<double>(*options_.updates));
  if (options_.minutes) share = std::max(share, progress_.seconds() / 60 / *options_.minutes);
  return share;
}

void Trainer::update() {
  const Chunk chunk{train_, step_, std::min(chunk_steps_, train_.steps() - step_)};
  const double bits = model_.learn(chunk, carried_, static_cast<std::uint64_t>(adam_.steps));
  clip_gradients(adam_.parameters, options_.clip);
  adam_.step(options_.rate * std::pow(options_.decay, static_cast<double>(epoch_)));
  model_.refresh();

  step_ += chunk.steps;
  epoch_bits_ += bits * static_cast<double>(chunk.steps);
  progress_.count(chunk.steps * train_.batch());
}

void Trainer::finish_epoch() {
  report(fmt::format("epoch {}", epoch_ + 1));
  ++epoch_;
  step_ = 0;
  epoch_bits_ = 0;
  carried_ = model_.start();
  save();
}

void Trainer::report(const std::string& when) {
  progress_.line(fmt::format("{}: {:.3f} bits per character, validation {:.3f} (bigram model {:.3f}), {:.0f} tokens/s",
                             when, epoch_bits_ / static_cast<double>(step_), validation_bits(), bigram_,
                             progress_.symbols_per_second()));
}

double Trainer::validation_bits() {
  Carried carried = model_.start();
  double bits = 0;
  for (std::int64_t step = 0; step < validation_.steps(); step += chunk_steps_) {
    const Chunk chunk{validation_, step, std::min(chunk_steps_, validation_.steps() - step)};
    bits += model_.evaluate(chunk, carried) * static_cast<double>(chunk.steps);
  }
  return bits / static_cast<double>(validation_.steps());
}

std::vector<Blob> Trainer::blobs() {
  std::vector<Blob> all{blob("epoch", epoch_), blob("step", step_), blob("bits", epoch_bits_),
                        blob("updates", adam_.steps), blob("carried", carried_.started)};
  for (cellfuse::Tensor& state : carried_.states) {
    const std::size_t bytes = static_cast<std::size_t>(state.count()) * cellfuse::info(state.dtype()).bytes;
    all.push_back(blob("state", std::span(static_cast<std::byte*>(state.data()), bytes)));
  }
  for (std::size_t i = 0; i < adam_.parameters.size(); ++i) {
    Parameter& parameter = *adam_.parameters[i];
    all.push_back(blob(parameter.name, std::span(parameter.value)));
    all.push_back(blob(parameter.name + ".mean", std::span(adam_.means[i])));
    all.push_back(blob(parameter.name + ".square", std::span(adam_.squares[i])));
  }
  return all;
}

void Trainer::save() {
  if (!options_.checkpoint.empty()) save_checkpoint(options_.checkpoint, settings_, blobs());
}

void Trainer::resume() {
  load_checkpoint(options_.checkpoint, settings_, blobs());
  model_.refresh();
}
