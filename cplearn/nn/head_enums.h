#pragma once
// The choices of the head and the names that people write for them.

#include "cplearn/base/options.h"
#include "cplearn/hdc/dictionary.h"
#include "cplearn/simd/head_kernel.h"

namespace cpl {

enum class Activation { kTanh, kL2 };
enum class LogitScale { kDeviation, kTheory, kAuthor };
using simd::PriorForm;
enum class PriorChoice { kAuto, kOthers, kReverse, kForward };

inline const Names<DictionaryKind> kDictionaryNames = {{"hadamard", DictionaryKind::kHadamard},
                                                       {"rademacher", DictionaryKind::kRademacher}};
inline const Names<Activation> kActivationNames = {{"tanh", Activation::kTanh},
                                                   {"l2", Activation::kL2}};
inline const Names<LogitScale> kLogitScaleNames = {{"deviation", LogitScale::kDeviation},
                                                   {"theory", LogitScale::kTheory},
                                                   {"author", LogitScale::kAuthor}};
inline const Names<PriorForm> kPriorFormNames = {{"others", PriorForm::kOthers},
                                                 {"reverse", PriorForm::kReverse},
                                                 {"forward", PriorForm::kForward}};
inline const Names<PriorChoice> kPriorChoiceNames = {{"auto", PriorChoice::kAuto},
                                                     {"others", PriorChoice::kOthers},
                                                     {"reverse", PriorChoice::kReverse},
                                                     {"forward", PriorChoice::kForward}};

}  // namespace cpl
