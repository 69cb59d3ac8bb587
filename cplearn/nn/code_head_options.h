#pragma once
// Every setting of the head, declared once: name, default, range, help (see base/options.h). The
// defaults are those that cannot collapse (docs/collapse.md); method cplearn_paper has the paper's.

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/hdc/dictionary.h"
#include "cplearn/nn/head_enums.h"

namespace cpl {

struct CodeHeadOptions {
  std::int64_t hidden = 0;
  bool projector = true;
  std::int64_t projector_layers = 1;
  std::int64_t projector_width = 512;
  std::int64_t codes = 4096;
  DictionaryKind dictionary = DictionaryKind::kHadamard;
  bool train_dictionary = false;
  Activation activation = Activation::kL2;
  LogitScale scale = LogitScale::kDeviation;
  double deviation = 0;
  PriorChoice prior = PriorChoice::kAuto;
  bool symmetric = true;
  double beta = 0.4;
  std::int64_t batch = 64;
  std::uint64_t seed = 0;

  template <class Visitor>
  void visit(Visitor&& v) {
    begin_topic(v, "Loss and codes");
    v("codes", codes, "number of codes; of prototypes or classes in methods that have these",
      AtLeast{1});
    v("hidden", hidden,
      "width of the dictionary, or of another method's projector; 0 takes the width of the "
      "features, with scale deviation at most "
      "codes / 4",
      AtLeast{0});
    v("projector", projector,
      "layers and batch norm before the activation; without them features drift (paper, "
      "Appendix A)");
    v("projector-layers", projector_layers,
      "linear layers of the projector, with batch norm and ReLU between them; the paper has 1",
      AtLeast{1});
    v("projector-width", projector_width, "width of the projector's inner layers", AtLeast{1});
    v("dictionary", dictionary,
      "hadamard (fast, blocks of orthogonal codes) or rademacher (i.i.d. signs)", kDictionaryNames);
    v("train-dictionary", train_dictionary, "train the codes too, instead of freezing them");
    v("activation", activation,
      "what bounds the embeddings: tanh (inside a hypercube) or l2 (on a sphere)",
      kActivationNames);
    v("scale", scale,
      "size of the logits: deviation (the same at any width), theory (the paper's temperature) or "
      "author (the released code's, sqrt(batch) times sharper)",
      kLogitScaleNames);
    v("deviation", deviation,
      "scale deviation: standard deviation of an image's logits; 0: the square root of ln codes "
      "with the prior others, 2 with the other forms",
      Between{0, 1000});
    v("prior", prior,
      "form of the prior term: others (each image against the rest of the batch), reverse KL "
      "(the whole batch; finite when codes are unused), forward (Eq. 2), or auto (others from 64 "
      "images on, else reverse)",
      kPriorChoiceNames);
    v("symmetric", symmetric,
      "average both directions of the invariance term, and both views' priors");
    v("beta", beta,
      "weight of the invariance term; up to 0.5 embeddings of length 1 do not collapse to a point",
      AtLeast{0});
  }
};

}  // namespace cpl
