#include "cplearn/data/spec.h"

#include <algorithm>
#include <cctype>

#include "cplearn/base/error.h"
#include "cplearn/base/file.h"
#include "cplearn/base/options.h"
#include "cplearn/base/text.h"
#include "cplearn/data/alteration.h"
#include "cplearn/data/data_kind.h"

namespace cpl {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.size() <= 12 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const DataKind& kind : data_kinds()) names.push_back(kind.name);
  return names;
}

std::string suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string best = nearest_name(name, candidates);
  return best.empty() ? "" : str("; did you mean '", best, "'?");
}

// Cuts "+NAME" off the end of `rest`. What follows a '+' in the name of a folder is left alone.
void cut_alteration(std::string& rest, DataSpec& spec) {
  const std::size_t plus = rest.rfind('+');
  if (plus == std::string::npos) return;
  const std::string name = rest.substr(plus + 1);
  if (!find_alteration(name)) {
    const std::size_t mark = rest.find_last_of("@#");
    const bool meant = mark != std::string::npos && mark < plus && name.find('/') == name.npos;
    std::vector<std::string> names;
    for (const Alteration& row : alterations()) names.push_back(row.name);
    CPL_CHECK(!meant, "data '", spec.text, "': there is no alteration '", name, "'",
              suggestion(name, names), " (there are ", joined(names), ")");
    return;
  }
  spec.alteration = name;
  rest.resize(plus);
}

// Cuts "+NAME", "#N" and "@split" off the end of `rest`.
void cut_suffixes(std::string& rest, DataSpec& spec) {
  cut_alteration(rest, spec);
  const std::size_t hash = rest.rfind('#');
  if (hash != std::string::npos) {
    const std::string number = rest.substr(hash + 1);
    CPL_CHECK(is_number(number) && std::stoull(number) > 0, "data '", spec.text,
              "': '#' is followed by '", number,
              "', expected a number of images, for instance #1000");
    spec.first = std::stoull(number);
    rest.resize(hash);
  }
  const std::size_t at = rest.rfind('@');
  if (at != std::string::npos && rest.find('/', at) == std::string::npos) {
    spec.split = rest.substr(at + 1);
    rest.resize(at);
  }
}

}  // namespace

DataSpec parse_spec(const std::string& text) {
  CPL_CHECK(!text.empty(), "the data argument is empty; expected one of ", joined(kind_names()),
            ", or a folder of pictures");
  DataSpec spec;
  spec.text = text;
  const DataKind* kind = find_data_kind("folder");
  if (file_exists(text) &&
      !find_data_kind(text)) {  // also lets folder names contain ':', '@' and '#'
    spec.kind = kind->name;
    spec.where = text;
    return spec;
  }
  std::string rest = text;
  cut_suffixes(rest, spec);
  const std::size_t colon = rest.find(':');
  const std::string head = rest.substr(0, colon);
  if (const DataKind* named = find_data_kind(head)) {
    kind = named;
    spec.where = colon == std::string::npos ? "" : rest.substr(colon + 1);
  } else {
    const bool path_like = head.find('/') != std::string::npos || file_exists(rest);
    CPL_CHECK(colon == std::string::npos || path_like, "data '", text, "': there is no kind '",
              head, "'", suggestion(head, kind_names()), " (there are ", joined(kind_names()), ")");
    CPL_CHECK(path_like || nearest_name(head, kind_names()).empty(), "data '", text,
              "': there is no folder of that name", suggestion(head, kind_names()),
              " (kinds: ", joined(kind_names()), ")");
    spec.where = rest;
  }
  spec.kind = kind->name;
  if (spec.kind == "imagenet100" && !file_exists(spec.where)) {
    const std::size_t comma = spec.where.rfind(',');
    if (comma != std::string::npos) {
      spec.list = spec.where.substr(comma + 1);
      spec.where.resize(comma);
    }
  }
  if (spec.kind == "shapes") {
    CPL_CHECK(spec.where.empty() || (is_number(spec.where) && std::stoull(spec.where) > 0),
              "data '", text, "': expected a number of images after 'shapes:', got '", spec.where,
              "'");
  } else {
    CPL_CHECK(!spec.where.empty(), "data '", text, "': ", spec.kind,
              " needs a folder: ", kind->usage);
  }
  const bool known = std::count(kind->splits.begin(), kind->splits.end(), spec.split) > 0;
  CPL_CHECK(spec.split.empty() || known, "data '", text, "': ", spec.kind, " has no split '",
            spec.split, "'", suggestion(spec.split, kind->splits), " (there are ",
            joined(kind->splits), ")");
  return spec;
}

}  // namespace cpl
