#pragma once
// Every setting of the head, declared once: name, default, range, help (see base/options.h).

#include <cstdint>

#include "cplearn/base/options.h"
#include "cplearn/hdc/dictionary.h"
#include "cplearn/nn/head_enums.h"

namespace cpl {

struct CodeHeadOptions {
  std::int64_t hidden = 0;
  bool projector = true;
  std::int64_t codes = 1024;
  DictionaryKind dictionary = DictionaryKind::kHadamard;
  Activation activation = Activation::kTanh;
  LogitScale scale = LogitScale::kTheory;
  PriorForm prior = PriorForm::kReverse;
  bool symmetric = true;
  double beta = 0.5;
  std::int64_t batch = 64;
  std::uint64_t seed = 0;

  template <class Visitor>
  void visit(Visitor&& v) {
    v("codes", codes, "number of codes in the dictionary, c", AtLeast{1});
    v("hidden", hidden, "width of the dictionary, d; 0 takes the width of the features",
      AtLeast{0});
    v("projector", projector,
      "linear layer and batch norm before the activation; without them features drift (paper, "
      "Appendix A)");
    v("dictionary", dictionary,
      "hadamard (fast, blocks of orthogonal codes) or rademacher (i.i.d. signs)", kDictionaryNames);
    v("activation", activation, "of the embeddings: tanh (inside a hypercube) or l2 (on a sphere)",
      kActivationNames);
    v("scale", scale,
      "of the logits: theory (the paper's temperature) or author (the released code's, "
      "sqrt(batch) times sharper)",
      kLogitScaleNames);
    v("prior", prior,
      "form of the prior term: reverse KL (finite when codes are unused) or forward (Eq. 2)",
      kPriorFormNames);
    v("symmetric", symmetric,
      "average both directions of the invariance term, and both views' priors");
    v("beta", beta, "weight of the invariance term", AtLeast{0});
  }
};

}  // namespace cpl
