#pragma once
// What is measured of a model without labels, to judge whether it has collapsed (eval/judge.h).

#include <limits>

namespace cpl {

// Of a few hundred images. NaN where it is not known, or where a method does not have it.
struct VitalSigns {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  double images = 0;
  // Representations, which people take: how much they differ, in how many directions, and whether
  // another view of an image is recognised among those of the others (eval/measures.h).
  double deviation = kUnknown;
  double rank = kUnknown;
  double width = kUnknown;
  double found = kUnknown;
  // Embeddings, which the loss sees: a batch norm may make them look fine while representations
  // are not.
  double embedding_deviation = kUnknown;
  double embedding_rank = kUnknown;
  double embedding_width = kUnknown;
  double embedding_found = kUnknown;
  // Codes.
  double codes = kUnknown;
  double used = kUnknown;         // in effect: exp of the entropy of the images' codes
  double information = kUnknown;  // what a code's probabilities tell about the image, nats
  double agreement = kUnknown;    // what they tell about another view of it, nats
  double within = kUnknown;       // variance of representations within codes / their variance
};

// Every measure with its name in files.
template <class Visitor>
void visit(const VitalSigns& s, Visitor&& v) {
  v("images", s.images);
  v("deviation", s.deviation);
  v("rank", s.rank);
  v("width", s.width);
  v("found", s.found);
  v("embedding_deviation", s.embedding_deviation);
  v("embedding_rank", s.embedding_rank);
  v("embedding_width", s.embedding_width);
  v("embedding_found", s.embedding_found);
  v("codes", s.codes);
  v("used", s.used);
  v("information", s.information);
  v("agreement", s.agreement);
  v("within", s.within);
}

}  // namespace cpl
